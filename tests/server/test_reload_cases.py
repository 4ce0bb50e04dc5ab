"""Reloads while others look, reload too, or write: every answer is whole, and at rest it is what is on disk."""

import asyncio
import os
import re
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count, cycle
from pathlib import Path

import httpx

from client.contract.errors import RefusalReason
from client.contract.skills import SkillListing, SkillsReload
from client.errors import ServerRefused
from server_stub.build import build, skill_options
from server_stub.config import SkillSettings
from server_stub.skills.resolve import resolve
from tests.support.local import DEADLINE, Local, config_of, listening, opened
from tests.support.session import plain_http
from tests.support.skills import write_raw_skill, write_skill


def listed(listing: SkillListing) -> list[str]:
    return [row.name for row in listing.skills if row.in_inventory]


def on_disk(server: Local) -> dict[str, str]:
    """Names and digests of what a resolution of its own finds."""
    return {skill.name: skill.body_sha256 for skill in resolve(skill_options(server.config)).snapshot.skills}


@contextmanager
def meanwhile(*steps: Callable[[], object]) -> Iterator[None]:
    """Do the steps over and over in a thread; what fails because another step undid it does not matter."""
    is_over = threading.Event()

    def work() -> None:
        for step in cycle(steps):
            if is_over.is_set():
                return
            with suppress(OSError):
                step()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


async def test_list_asked_for_during_a_reload_is_the_whole_old_or_the_whole_new_one(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={f"old-{number:03}": "BODY" for number in range(200)}) as server:
        a = await server.session()
        for number in range(20):
            server.write(f"new-{number:02}", "BODY")
        reload = asyncio.create_task(server.client.reload_skills(a))
        sizes = []
        while not reload.done():
            sizes.append(len(listed(await server.client.skills(a))))
            sizes.append(len((await server.client.commands(a)).commands))
            sizes.append(len((await server.client.expansions(a)).expansions))
        assert set(sizes) <= {200, 220}
        assert sizes == sorted(sizes)
        assert sizes[0] == 200
        assert len(listed(await server.client.skills(a))) == 220


async def test_first_lists_and_reloads_all_at_once_are_whole_and_report_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={f"par-{number:02}": "BODY" for number in range(50)}) as server:
        sessions = [await server.session() for _ in range(5)]
        lists = [server.client.skills(sessions[number % 5]) for number in range(20)]
        answers = await asyncio.gather(*lists, *(server.client.reload_skills(session) for session in sessions))
        for answer in answers:
            if isinstance(answer, SkillListing):
                assert (len(answer.skills), answer.skipped, answer.shadowed, answer.near_misses) == (50, (), (), ())
                assert [row.warnings for row in answer.skills if row.warnings] == []
            else:
                assert (answer.skills, answer.skipped, answer.shadowed) == (50, 0, 0)


async def test_many_reloads_at_once_succeed_or_are_refused_and_end_with_what_is_on_disk(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"race-a": "BODY", "race-b": "BODY"}) as server:
        a, b = await server.session(), await server.session()
        come = lambda: server.write("race-c", "BODY")  # noqa: E731
        go = lambda: shutil.rmtree(server.skills / "race-c")  # noqa: E731
        with meanwhile(come, go):
            rounds = [
                await asyncio.gather(*(server.client.reload_skills(a) for _ in range(5)), return_exceptions=True)
                for _ in range(4)
            ]
        outcomes = [outcome for one in rounds for outcome in one]
        done = [outcome for outcome in outcomes if isinstance(outcome, SkillsReload)]
        refused = [outcome for outcome in outcomes if isinstance(outcome, ServerRefused)]
        assert len(done) + len(refused) == 20
        assert {refusal.reason for refusal in refused} == {RefusalReason.RELOAD_IN_FLIGHT}
        assert sorted(report.generation for report in done) == list(range(2, 2 + len(done)))
        assert {report.skills for report in done} <= {2, 3}
        last = await server.client.reload_skills(a)
        assert listed(await server.client.skills(a)) == sorted(on_disk(server))
        assert last.skills == len(on_disk(server))
        assert (await server.client.skills(b)).generation == 1


async def test_no_half_of_a_file_is_served_while_folders_are_written_and_nothing_of_it_stays(tmp_path: Path) -> None:
    whole = re.compile(r"(?P<which>[a-z]+)(?: (?P=which)){400}\Z")
    names = [f"bulk-{number:02}" for number in range(30)]
    texts = {which: " ".join([which] * 401) for which in ("old", "new")}
    async with opened(tmp_path, skills=dict.fromkeys(names, texts["old"])) as server:
        a = await server.session()
        paths = cycle(server.skills / name for name in names)

        def half() -> None:
            """As an editor leaves it for a moment: the frontmatter does not end."""
            (next(paths) / "SKILL.md").write_text("---\nname: half\ndescrip")

        def swap() -> None:
            folder = next(paths)
            write_skill(server.skills, folder.name, body=texts["new"])

        def go() -> None:
            shutil.rmtree(next(paths))

        def rename() -> None:
            folder = next(paths)
            folder.rename(folder.with_name(f"{folder.name}-away"))
            folder.with_name(f"{folder.name}-away").rename(folder)

        with meanwhile(half, swap, go, swap, rename, swap):
            for _ in range(12):
                await server.client.reload_skills(a)
                for name in listed(await server.client.skills(a))[::5]:
                    assert whole.match((await server.client.skill(a, name)).body)
        await server.client.reload_skills(a)
        listing = await server.client.skills(a)
        found = {row.name: row.body_sha256 for row in listing.skills if row.in_inventory}
        assert found == on_disk(server)


async def test_file_replaced_in_one_step_is_the_old_or_the_new_one_whole(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"story": "old " * 3000}) as server:
        a = await server.session()
        old = (server.skills / "story" / "SKILL.md").read_bytes()
        new = old.replace(b"old", b"newer")
        bodies = {content.decode().rstrip().partition("\n\n")[2] for content in (old, new)}
        folder = server.skills / "story"
        seen: set[str] = set()
        with meanwhile(lambda: write_raw_skill(folder, new), lambda: write_raw_skill(folder, old)):
            async with asyncio.timeout(DEADLINE):
                for rounds in count():
                    report = await server.client.reload_skills(a)
                    codes = [row.code for row in (await server.client.skills(a)).skipped]
                    # Where it was replaced at each of several attempts to read it, it says so instead.
                    assert codes in ([], ["changed_while_read"])
                    assert report.skills + len(codes) == 1
                    if not codes:
                        seen.add((await server.client.skill(a, "story")).body.rstrip())
                    if rounds > 40 and len(seen) > 1:
                        break
        assert seen == bodies


async def test_skill_renamed_to_the_name_of_another_does_not_take_it(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"aa": "AA BODY", "zz": "ZZ BODY"}) as server:
        session = await server.recorded()
        write_raw_skill(server.skills / "zz", "---\nname: aa\ndescription: x\n---\nZZ BODY")
        report = await session.reload()
        assert (report.skills, report.removed, report.changed, report.shadowed) == (1, 1, 0, 1)
        assert await session.typed("/aa") == "AA BODY"
        assert (await session.palette()).keys() == {"aa"}
        (server.skills / "aa").rename(server.root / "away")
        await session.reload()
        assert await session.typed("/aa") == "ZZ BODY"


async def test_nothing_that_a_caller_sends_along_steers_a_reload(tmp_path: Path) -> None:
    write_skill(tmp_path / "elsewhere" / "skills", "planted")
    write_skill(tmp_path / "project" / ".agents" / "skills", "theirs")
    async with opened(tmp_path, skills={"alpha": "BODY"}) as server:
        a = await server.session()
        wish = {
            "directory": str(tmp_path / "elsewhere/skills"),
            "workspace": str(tmp_path / "elsewhere"),
            "trust": "true",
        }
        path = f"/v1/sessions/{a}/skills-reload"
        assert (await server.http.post(path, json=wish)).status_code == 400
        assert (await server.http.post(path, params=wish)).json()["status"] == "unchanged"
        head = {f"x-{name}": value for name, value in wish.items()}
        assert (await server.http.post(path, headers=head)).json()["skills"] == 1
        assert listed(await server.client.skills(a)) == ["alpha"]


async def test_two_projects_are_two_servers_and_see_the_person_s_skills_and_their_own(tmp_path: Path) -> None:
    write_skill(tmp_path / "home" / ".agents" / "skills", "shared")
    for name in ("a", "b"):
        write_skill(tmp_path / f"project-{name}" / ".agents" / "skills", f"{name}-only")
    async with project(tmp_path, "project-a") as a, project(tmp_path, "project-b") as b:
        for _ in range(2):
            for server, wanted in ((a, ["a-only", "shared"]), (b, ["b-only", "shared"]), (a, ["a-only", "shared"])):
                session = (await server.post("/v1/sessions", json={})).json()["session_id"]
                for _ in range(2):
                    rows = (await server.get(f"/v1/commands?session_id={session}")).json()["commands"]
                    assert [row["name"] for row in rows] == wanted
                    await server.post(f"/v1/sessions/{session}/skills-reload")


@asynccontextmanager
async def project(root: Path, name: str) -> AsyncIterator[httpx.AsyncClient]:
    """A server of this project, over HTTP."""
    skills = SkillSettings(trust_project=True)
    built = build(config_of(root, workspace=root / name, skills=skills))
    async with listening(built.app, root / name / "s") as address, plain_http(address) as http:
        yield http
        await built.service.drain()


async def test_edit_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"story": "BODY ONE"}) as server:
        session = await server.recorded()
        file = server.skills / "story" / "SKILL.md"
        long_ago = 1_000_000_000 * 10**9
        os.utime(file, ns=(long_ago, long_ago))
        await session.reload()
        for text in ("BODY TWO", "BODY SIX"):
            file.write_bytes(file.read_bytes()[:-9] + f"{text}\n".encode())
            os.utime(file, ns=(long_ago, long_ago))
            assert (await session.reload()).changed == 1
            assert await session.typed("/story") == text


async def test_link_that_leads_to_another_folder_now_is_followed_there(tmp_path: Path) -> None:
    for version in ("one", "two"):
        write_skill(tmp_path / "store" / version, "kit", body=f"BODY {version}")
    async with opened(tmp_path) as server:
        session = await server.recorded()
        for version in ("one", "two", "one"):
            (tmp_path / "next").symlink_to(tmp_path / "store" / version / "kit")
            (tmp_path / "next").replace(server.skills / "kit")
            await session.reload()
            assert await session.typed("/kit") == f"BODY {version}"


async def test_name_that_changes_its_case_only_is_another_name(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"story": "BODY"}) as server:
        session = await server.recorded()
        (server.skills / "story").rename(server.skills / "Story")
        write_raw_skill(server.skills / "Story", "---\ndescription: x\n---\nBODY")
        report = await session.reload()
        assert (report.added, report.removed) == (1, 1)
        assert (await session.palette()).keys() == {"Story"}
        assert [await session.typed(text) for text in ("/Story", "/story")] == ["BODY", "BODY"]


async def test_folder_that_was_not_there_at_the_start_is_found_when_it_comes(tmp_path: Path) -> None:
    async with project(tmp_path, "project") as server:
        session = (await server.post("/v1/sessions", json={})).json()["session_id"]
        for folder in ("project/.mecatl/skills", "home/.config/mecatl/skills", "home/.claude/skills"):
            write_skill(tmp_path / folder / "group", folder.split("/")[1].strip("."))
        report = (await server.post(f"/v1/sessions/{session}/skills-reload")).json()
        assert (report["added"], report["skills"]) == (3, 3)
        rows = (await server.get(f"/v1/commands?session_id={session}")).json()["commands"]
        assert [row["name"] for row in rows] == ["claude", "config", "mecatl"]
