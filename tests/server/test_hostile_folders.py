"""Folders that do harm, met by the real server at its start and at a reload: each is left out with a reason, or fails
the reload without a change; nothing hangs, grows, leaks or goes missing in silence."""

import os
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from client.contract.errors import ErrorCode
from client.contract.skills import SkillListing
from client.errors import ServerRefused
from tests.support.local import opened
from tests.support.server import ServerProcess, client_for
from tests.support.session import Session
from tests.support.skills import write_raw_skill, write_skill

MEGABYTE = 1 << 20

HEAD = b"---\ndescription: An odd one.\n---\n"


@pytest.fixture
def ground(open_ground: Path) -> Iterator[Path]:
    """A folder that `nobody` can reach, with permissions opened again at the end."""
    yield open_ground
    for folder, _, _ in os.walk(open_ground):
        Path(folder).chmod(0o755)


@asynccontextmanager
async def session_of_nobody(root: Path, *flags: str) -> AsyncIterator[Session]:
    with ServerProcess.start(root, "--trust-project", *flags, as_nobody=True) as server:
        async with client_for(server) as client:
            yield await Session.begin(client, root / "record.jsonl")
        assert "Traceback" not in server.log


def reasons(listing: SkillListing) -> dict[str, tuple[str, str]]:
    return {row.name: (row.code, row.reason) for row in listing.skipped}


TIERS = {
    "explicit": "skills",
    "project": "project/.agents/skills",
    "user": "home/.agents/skills",
}


@pytest.mark.parametrize("tier", TIERS)
async def test_tier_that_becomes_unreadable_fails_the_reload_and_is_named(ground: Path, tier: str) -> None:
    for name, folder in TIERS.items():
        write_skill(ground / folder, f"of-{name}", body=f"BODY of {name}")
    async with session_of_nobody(ground, "--skills-dir", str(ground / "skills")) as session:
        await session.send("good morning")
        before = await session.everything()
        write_skill(ground / TIERS[tier], "added")
        (ground / TIERS[tier]).chmod(0)
        with pytest.raises(ServerRefused) as failed:
            await session.reload()
        assert (failed.value.status, failed.value.code) == (503, ErrorCode.SKILL_SOURCE_UNAVAILABLE)
        message = failed.value.error
        assert message.startswith(f"the {tier} skills could not be read; the skills loaded before still work; ")
        assert "make the folder readable" in message
        assert not [part for part in ("/", str(ground.name), "errno", "skills.py", "Permission") if part in message]
        assert await session.everything() == before
        assert await session.typed(f"/of-{tier}") == f"BODY of {tier}"
        (ground / TIERS[tier]).chmod(0o755)
        assert (await session.reload()).added == 1


async def test_one_skill_that_becomes_unreadable_is_left_out_and_comes_back(ground: Path) -> None:
    folder = ground / "home/.agents/skills"
    for name in ("closed", "listed-only", "steady"):
        write_skill(folder, name, body=f"BODY of {name}", files={"guide.md": "GUIDE"})
    async with session_of_nobody(ground) as session:
        (folder / "closed").chmod(0)
        (folder / "listed-only").chmod(0o444)
        report = await session.reload()
        assert (report.skills, report.removed, report.skipped) == (1, 2, 2)
        listing = await session.client.skills(session.session_id)
        denied = ("unreadable", "it cannot be read: permission denied")
        assert reasons(listing) == {"closed": denied, "listed-only": denied}
        assert await session.typed("/closed") == "/closed"
        assert (await session.load("closed")).error["error_type"] == "skill_not_found"
        assert "BODY of steady" in await session.typed("/steady")
        for name in ("closed", "listed-only"):
            (folder / name).chmod(0o755)
        assert (await session.reload()).added == 2


async def test_skill_whose_bundled_files_become_unreadable_still_works(ground: Path) -> None:
    folder = ground / "home/.agents/skills"
    write_skill(folder, "kit", body="BODY", files={"open.md": "OPEN", "closed/inner.md": "INNER"})
    async with session_of_nobody(ground) as session:
        (folder / "kit" / "closed").chmod(0)
        (folder / "kit" / "open.md").chmod(0)
        assert (await session.reload()).skills == 1
        assert (await session.typed("/kit")).startswith("BODY")
        assert (await session.load("kit")).is_error is False


def fifo(folder: Path, _: Path) -> None:
    os.mkfifo(folder / "SKILL.md")


def listener(folder: Path, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "SKILL.md"))


def device(folder: Path, _: Path) -> None:
    try:
        os.mknod(folder / "SKILL.md", 0o666 | 0o020000, os.makedev(1, 5))  # of this kind is /dev/zero
    except OSError:
        pytest.skip("only root can make a device, and not everywhere")


def directory(folder: Path, _: Path) -> None:
    (folder / "SKILL.md").mkdir()


def of_fifty_megabytes(folder: Path, _: Path) -> None:
    with (folder / "SKILL.md").open("wb") as file:
        file.write(HEAD + b"x" * 4096)
        file.truncate(50 * MEGABYTE)


def latin(folder: Path, _: Path) -> None:
    write_raw_skill(folder, HEAD + "Größe".encode("latin-1"))


def dangling(folder: Path, _: Path) -> None:
    (folder / "SKILL.md").symlink_to("gone.md")


def looping(folder: Path, _: Path) -> None:
    (folder / "SKILL.md").symlink_to("SKILL.md")


def leading_out(folder: Path, root: Path) -> None:
    (root / "secret.md").write_bytes(HEAD + b"OUTSIDE-SECRET")
    (folder / "SKILL.md").symlink_to(root / "secret.md")


def to_a_device(folder: Path, _: Path) -> None:
    (folder / "SKILL.md").symlink_to("/dev/zero")


def dangling_folder(folder: Path, root: Path) -> None:
    folder.rmdir()
    folder.symlink_to(root / "gone")


def looping_folder(folder: Path, _: Path) -> None:
    folder.rmdir()
    folder.symlink_to(folder)


def folder_that_holds_it(folder: Path, _: Path) -> None:
    folder.rmdir()
    folder.symlink_to(folder.parent)


HOSTILE: list[tuple[Callable[[Path, Path], None], str]] = [
    (fifo, "not_a_file"),
    (listener, "not_a_file"),
    (device, "not_a_file"),
    (directory, "not_a_file"),
    (of_fifty_megabytes, "too_large"),
    (latin, "not_utf8"),
    (dangling, "broken_link"),
    (looping, "broken_link"),
    (leading_out, "outside"),
    (to_a_device, "outside"),
    (dangling_folder, "broken_link"),
    (looping_folder, "broken_link"),
    (folder_that_holds_it, "loop"),
]


@pytest.mark.parametrize(("make", "code"), HOSTILE)
@pytest.mark.parametrize("when", ["at the start", "before a reload"])
async def test_hostile_skill_is_left_out_with_its_reason(
    open_ground: Path, make: Callable[[Path, Path], None], code: str, when: str
) -> None:
    folder = open_ground / "skills" / "hostile"
    write_skill(folder.parent, "steady", body="STEADY BODY")

    def harm() -> None:
        folder.mkdir()
        make(folder, open_ground)

    if when == "at the start":
        harm()
    async with opened(open_ground) as server:
        session = await server.recorded()
        if when == "before a reload":
            harm()
        report = await session.reload()
        assert (report.skills, report.skipped) == (1, 1)
        listing = await server.client.skills(session.session_id)
        (row,) = listing.skipped
        assert (row.name, row.code, row.origin) == ("hostile", code, "explicit")
        assert row.reason.isprintable()
        assert str(open_ground) not in listing.to_json().decode()
        assert await session.typed("/steady") == "STEADY BODY"
        assert await session.typed("/hostile") == "/hostile"
        told = await session.load("hostile")
        assert told.error["error_type"] == "skill_not_found"
        assert "OUTSIDE-SECRET" not in (open_ground / "record.jsonl").read_text()


async def test_project_skill_that_is_a_link_out_of_the_workspace_is_left_out(open_ground: Path) -> None:
    write_skill(open_ground / "elsewhere", "planted", body="OUTSIDE-SECRET")
    skills = open_ground / "project/.agents/skills"
    write_skill(skills, "steady", body="STEADY BODY")
    (skills / "planted").symlink_to(open_ground / "elsewhere" / "planted")
    with ServerProcess.start(open_ground, "--trust-project") as server:
        async with client_for(server) as client:
            session = await Session.begin(client, open_ground / "record.jsonl")
            assert (await session.palette()).keys() == {"steady"}
            await session.reload()
            listing = await client.skills(session.session_id)
            assert reasons(listing)["planted"] == ("outside", "it is a link that leads out of the workspace")
            (skills / "planted").unlink()
            skills.rename(skills.with_name("kept"))
            skills.symlink_to(open_ground / "elsewhere")
            assert (await session.reload()).skills == 0
            notices = (await client.skills(session.session_id)).notices
            assert notices == ("the project's .agents/skills leads out of the workspace and is not followed",)


async def test_fifty_megabytes_are_not_taken_in(open_ground: Path) -> None:
    skills = open_ground / "home/.agents/skills"
    write_skill(skills, "steady")
    with ServerProcess.start(open_ground) as server:
        async with client_for(server) as client:
            session = await Session.begin(client, open_ground / "record.jsonl")
            await session.reload()
            before = peak(server.process.pid)
            for number in range(4):
                (skills / f"huge-{number}").mkdir()
                of_fifty_megabytes(skills / f"huge-{number}", open_ground)
            for _ in range(3):
                assert (await session.reload()).skipped == 4
            assert peak(server.process.pid) - before < 20 * MEGABYTE


def peak(pid: int) -> int:
    """The most memory that a process ever held, in bytes."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("only Linux tells of a process's peak")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024


ODD_NAMES = ("two\nlines", "bell\x07and\x1b]52;c;AAAA\x07", "\x1b[31mred", "back\u202ewards")


async def test_names_with_line_breaks_and_escape_codes_are_harmless_wherever_they_show(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    for odd in ODD_NAMES:
        write_raw_skill(skills / odd, b"---\ndescription: An odd one.\n---\nBODY")
        (skills / f"{odd}-broken").mkdir()
        (skills / f"{odd}-broken" / "SKILL.md").write_text("---\nname: [\n---\n")
        (skills / f"{odd}.md").write_text("flat")
    write_skill(skills, "kit", body="BODY", files=dict.fromkeys(ODD_NAMES, "x"))
    async with opened(tmp_path) as server:
        session = await server.recorded()
        await session.reload()
        listing = await server.client.skills(session.session_id)
        commands = await server.client.commands(session.session_id)
        assert len(commands.commands) == len(ODD_NAMES) + 1
        assert (len(listing.skipped), len(listing.near_misses)) == (len(ODD_NAMES), len(ODD_NAMES))
        for row in (*listing.skills, *listing.skipped, *listing.near_misses):
            assert row.name.isprintable()
            assert "\u202e" not in row.name
        for row in commands.commands:
            assert (await session.typed(f"/{row.name} x")).startswith("BODY")
        shown = await session.typed("/kit")
        assert not [c for c in shown.replace("\n", "") if not c.isprintable()]
        assert shown.count("\n- ") == len(ODD_NAMES)


async def test_nul_bytes_in_a_file_are_removed_or_the_file_is_left_out(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"steady": "BODY"}) as server:
        write_raw_skill(server.skills / "nul-body", HEAD + b"BE\0FORE")
        write_raw_skill(server.skills / "nul-head", b"---\nname: nul\0head\ndescription: x\0y\n---\nBODY")
        write_raw_skill(server.skills / "only-nul", b"\0" * 5000)
        session = await server.recorded()
        report = await session.reload()
        listing = await server.client.skills(session.session_id)
        assert b"\\u0000" not in listing.to_json()
        assert report.skills + report.skipped + len(listing.near_misses) == 4
        assert await session.typed("/nul-body") == "BEFORE"
