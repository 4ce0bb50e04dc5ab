"""Sessions on the wire: begin, list, look, rename, change the mode, clear, delete."""

import asyncio
import re
from contextlib import aclosing
from pathlib import Path

import pytest

from client.contract.events import PermissionAsked, RunEnded, SessionInit, Stop
from client.contract.sessions import CreateSession, PermissionMode, SessionState
from server_stub.engine.permissions import Mode
from tests.support.local import opened, until
from tests.support.parts import Workshop
from tests.support.refusals import kind_of
from tests.support.script import ask, call, rule, say, think, wait_for

GONE = (404, "session_not_found")


async def test_a_new_session(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"alpha": "V1"}) as server:
        answer = await server.http.post("/v1/sessions")
        assert answer.status_code == 201
        made = answer.json()
        assert re.fullmatch("[0-9a-f]{32}", made["session_id"])
        assert made == {"session_id": made["session_id"], "resolved_model": "offline", "placement": "local"}
        info = (await server.http.get(f"/v1/sessions/{made['session_id']}")).json()
        assert info["created_at_unix"] == info["modified_at_unix"] > 0
        assert {key: value for key, value in info.items() if not key.endswith("_unix")} == {
            "session_id": made["session_id"],
            "skills_generation": 1,
            "state": "idle",
            "mode": 1,
            "resolved_model": "offline",
            "placement": "local",
        }
        transcript = (await server.http.get(f"/v1/sessions/{made['session_id']}/transcript")).json()
        assert transcript == {"session_id": made["session_id"], "complete": True}


@pytest.mark.parametrize("mode", [PermissionMode.DEFAULT, PermissionMode.PLAN, PermissionMode.ACCEPT_EDITS])
async def test_a_session_has_the_mode_that_was_asked_for(tmp_path: Path, mode: PermissionMode) -> None:
    async with opened(tmp_path) as server:
        wish = CreateSession(mode=mode, model_id="offline", profile="no-fs")
        made = await server.client.create_session(wish)
        assert (await server.client.session(made.session_id)).mode is mode


async def test_an_empty_list(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        assert (await server.http.get("/v1/sessions")).json() == {}


async def test_the_list_has_the_latest_change_first_in_pages(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        made = [await server.session() for _ in range(5)]
        await server.run(made[1], "hello")
        whole = await server.client.sessions()
        order = [row.session_id for row in whole.sessions]
        assert order[0] == made[1]
        assert sorted(order) == sorted(made)
        assert (whole.total_count, whole.next_cursor) == (5, "")
        pages, cursor = [], ""
        for _ in range(3):
            page = await server.client.sessions(page_size=2, cursor=cursor)
            assert page.total_count == 5
            pages.append([row.session_id for row in page.sessions])
            cursor = page.next_cursor
        assert (pages, cursor) == ([order[:2], order[2:4], order[4:]], "")
        first = whole.sessions[0]
        assert (first.state, first.turns, first.model_id) == (SessionState.COMPLETED, 1, "offline")
        assert first.title_metadata.title == "hello"
        assert first.token_usage.output_tokens > 0


@pytest.mark.parametrize(("query", "rows"), [("page_size=0", 3), ("page_size=", 3), ("page_size=999999", 3),
    ("cursor=3", 0), ("cursor=9999999999999999999", 0), ("cursor=2&page_size=1", 1)])  # fmt: skip
async def test_pages_at_the_edges(tmp_path: Path, query: str, rows: int) -> None:
    async with opened(tmp_path) as server:
        for _ in range(3):
            await server.session()
        page = (await server.http.get(f"/v1/sessions?{query}")).json()
        assert (len(page.get("sessions", [])), page["total_count"]) == (rows, 3)
        assert "next_cursor" not in page


@pytest.mark.parametrize("query", ["page_size=x", "page_size=-1", "cursor=-1", "cursor=1.0", "cursor=" + "9" * 5000])
async def test_a_page_that_is_no_number_is_refused(tmp_path: Path, query: str) -> None:
    async with opened(tmp_path) as server:
        assert kind_of(await server.http.get(f"/v1/sessions?{query}")) == (400, "invalid_argument")


async def test_no_page_is_longer_than_five_hundred(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        for _ in range(501):
            await server.service.create("local", mode=Mode.DEFAULT, profile="", model="")
        page = await server.client.sessions(page_size=9999)
        assert (len(page.sessions), page.next_cursor, page.total_count) == (500, "500", 501)
        assert len((await server.client.sessions(page_size=9999, cursor=page.next_cursor)).sessions) == 1
        assert len((await server.client.sessions()).sessions) == 50


async def test_a_transcript_is_what_was_typed_and_what_came_of_it(tmp_path: Path) -> None:
    steps = [think("hm"), say("reading"), call("Skill", name="alpha")]
    async with opened(tmp_path, rules=[rule("V1 body", steps, [say("read")])], skills={"alpha": "V1 body"}) as server:
        a = await server.session()
        await server.run(a, "/alpha now")
        user, first, tool, last = (await server.client.transcript(a)).messages
        assert (user.role, user.text) == ("user", "/alpha now")
        assert (first.role, first.text, first.reasoning) == ("assistant", "reading", "hm")
        assert [(one.name, one.args) for one in first.tool_calls] == [("Skill", {"name": "alpha"})]
        assert tool.role == "tool"
        assert tool.tool_result is not None
        assert tool.tool_result.call_id == first.tool_calls[0].id
        assert "V1 body" in tool.tool_result.content
        assert (last.role, last.text) == ("assistant", "read")
        info = await server.client.session(a)
        assert (info.turns, info.tool_calls, info.state) == (2, 1, SessionState.COMPLETED)


async def test_a_transcript_is_incomplete_while_a_run_writes_to_it(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with opened(tmp_path, rules=[rule("slow", [wait_for(go), say("done")])]) as server:
        a = await server.session()
        run = asyncio.create_task(server.run(a, "slow"))
        await until(lambda: server.inside(a).run is not None)
        assert not (await server.client.transcript(a)).complete
        go.touch()
        await run
        assert (await server.client.transcript(a)).complete


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("  two\n\twords ", "two words"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\u202eb\u2066c\u2028d\x00e\x9b", "abc de"),
        ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 198 + "👩‍👩‍👧‍👦", "x" * 198 + "…"),
    ],
)
async def test_a_title_is_made_harmless_and_kept_short(tmp_path: Path, title: str, kept: str) -> None:
    async with opened(tmp_path) as server:
        a, b = await server.session(), await server.session()
        renamed = await server.client.rename(a, title)
        assert (renamed.title_metadata.title, renamed.title_metadata.source) == (kept, "user")
        assert await server.client.session(a) == renamed
        await server.run(b, title)
        prompted = (await server.client.session(b)).title_metadata
        assert prompted.source == "prompt"
        assert prompted.title.isprintable() or "\u200d" in kept
        assert len(prompted.title) <= 80


@pytest.mark.parametrize("title", ["", "  \n", "\x1b\x00", "\u200b", "\u202e \u2066", "\ufeff"])
async def test_a_title_that_nobody_can_see_is_refused(tmp_path: Path, title: str) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        await server.client.rename(a, "seen")
        before = await server.everything(a)
        answer = await server.http.post(f"/v1/sessions/{a}/rename", json={"title": title})
        assert kind_of(answer) == (400, "invalid_argument")
        assert await server.everything(a) == before


async def test_a_title_of_the_user_outlives_prompts_and_can_be_given_during_a_run(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with opened(tmp_path, rules=[rule("slow", [wait_for(go), say("done")])]) as server:
        a = await server.session()
        run = asyncio.create_task(server.run(a, "slow"))
        await until(lambda: server.inside(a).run is not None)
        await server.client.rename(a, "mine")
        go.touch()
        await run
        await server.run(a, "hello")
        assert (await server.client.session(a)).title_metadata.title == "mine"


async def test_a_mode_of_one_session_is_no_other_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a, b = await server.session(), await server.session()
        assert (await server.client.set_mode(a, PermissionMode.PLAN)).mode is PermissionMode.PLAN
        assert (await server.client.session(b)).mode is PermissionMode.DEFAULT
        answer = await server.http.post(f"/v1/sessions/{a}/mode", json={"mode": 0})
        assert kind_of(answer) == (400, "invalid_argument")


async def test_clear_begins_anew_and_leaves_its_parent_as_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"alpha": "V1"}) as server:
        a = await server.session()
        await server.run(a, "hello")
        await server.client.set_mode(a, PermissionMode.PLAN)
        before = await server.everything(a)
        answer = await server.http.post(f"/v1/sessions/{a}/clear")
        assert answer.status_code == 201
        b = answer.json()["session_id"]
        assert b != a
        assert await server.everything(a) == before
        made = await server.client.session(b)
        assert (made.state, made.turns, made.skills_generation) == (SessionState.IDLE, 0, 1)
        assert (made.mode, made.title_metadata.title) == (PermissionMode.PLAN, "")
        assert (await server.client.transcript(b)).messages == ()


async def test_clear_takes_the_skills_of_its_parent_and_create_those_of_the_start(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"alpha": "V1"}) as server:
        a = await server.session()
        server.write("alpha", "V2")
        server.write("beta", "V1")
        await server.client.reload_skills(a)
        server.write("alpha", "V3")
        cleared, fresh = (await server.client.clear(a)).session_id, await server.session()
        texts = [(await server.client.expand(one, "/alpha")).text for one in (a, cleared, fresh)]
        assert texts == ["V2", "V2", "V1"]
        told = [
            {row.name for row in (await server.client.skills(one)).skills if row.advertised}
            for one in (a, cleared, fresh)
        ]
        assert told == [{"alpha"}, {"alpha", "beta"}, {"alpha"}]
        await server.client.reload_skills(cleared)
        assert (await server.client.expand(a, "/alpha")).text == "V2"


@pytest.mark.parametrize("way", ["DELETE", "POST"])
async def test_a_deleted_session_is_gone_and_no_other(tmp_path: Path, way: str) -> None:
    async with opened(tmp_path) as server:
        a, b = await server.session(), await server.session()
        await server.run(a, "hello")
        path = f"/v1/sessions/{a}" + ("/delete" if way == "POST" else "")
        answer = await server.http.request(way, path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert kind_of(await server.http.request(way, path)) == GONE
        assert kind_of(await server.http.get(f"/v1/sessions/{a}/transcript")) == GONE
        assert [row.session_id for row in (await server.client.sessions()).sessions] == [b]


@pytest.mark.parametrize("steps", [[wait_for(Path("/nowhere"))], [ask("paint")]], ids=["running", "awaiting"])
async def test_a_delete_ends_the_run_and_its_reader_is_told(tmp_path: Path, steps: list[dict[str, object]]) -> None:
    async with opened(tmp_path, rules=[rule("slow", steps)]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "slow")) as events:
            async for event in events:
                if isinstance(event, (SessionInit, PermissionAsked)):
                    break
            await server.client.delete(a)
            last = [event async for event in events][-1]
        assert isinstance(last, RunEnded)
        assert last.result.stop is Stop.CANCELLED
        assert kind_of(await server.http.post(f"/v1/sessions/{a}/cancel")) == GONE


async def test_of_many_deletes_at_once_one_is_done(tmp_path: Path) -> None:
    workshop = Workshop.of()
    async with opened(tmp_path, factory=workshop, skills={"alpha": "V1"}) as server:
        a = await server.session()
        await server.client.reload_skills(a)
        answers = await asyncio.gather(*(server.http.delete(f"/v1/sessions/{a}") for _ in range(6)))
        assert sorted(answer.status_code for answer in answers) == [204] + [404] * 5
        assert len(workshop.closed) == 1
        assert server.service._engines._private == 0


async def test_a_prompt_that_waits_behind_a_delete_begins_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        session = server.inside(a)
        await session.lock.acquire()
        prompt = asyncio.create_task(server.http.post(f"/v1/sessions/{a}/prompt", json={"text": "hello"}))
        await until(lambda: bool(session.lock._waiters))
        delete = asyncio.create_task(server.http.delete(f"/v1/sessions/{a}"))
        await until(lambda: len(session.lock._waiters or ()) == 2)
        session.lock.release()
        assert kind_of(await prompt) == GONE
        assert (await delete).status_code == 204
        assert (session.messages, session.run) == ([], None)
