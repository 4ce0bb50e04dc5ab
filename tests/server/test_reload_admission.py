"""The admission table of a reload: the answer of each row, the order of the rows, and that a refusal moves nothing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.contract.events import PermissionAsked, SessionInit
from server_stub.config import Limits
from server_stub.engine.models.script import Script
from tests.support.local import Local, opened
from tests.support.parts import SECRET, LeaseDesk, Workshop
from tests.support.refusals import Refusal, refusal_of
from tests.support.script import ask, rule, say, wait_for, write_script

TOKEN = "token"


@dataclass
class Scene:
    """A session in a server whose every obstacle to a reload can be put up, alone or with others."""

    server: Local
    workshop: Workshop
    leases: LeaseDesk
    session_id: str
    stack: AsyncExitStack
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    run_id: str = ""
    ask_id: str = ""

    @property
    def path(self) -> str:
        return f"/v1/sessions/{self.session_id}/skills-reload"

    async def reload(self) -> httpx.Response:
        return await self.server.http.post(self.path, content=self.content, headers=self.headers)

    async def refused(self) -> Refusal:
        """A reload's refusal, after which everything is as it was."""
        before = self.held(), await self.server.everything(self.session_id)
        refusal = refusal_of(await self.reload())
        assert (self.held(), await self.server.everything(self.session_id)) == before
        return refusal

    def held(self) -> tuple[Any, ...]:
        """What the server itself holds of the session and of its engines."""
        session = self.server.inside(self.session_id)
        return (
            session.installed,
            session.pin.tools.canonical,
            session.state,
            session.modified_at,
            session.log.end,
            session.reload_in_flight,
            self.server.service._engines._private,
        )

    async def begin(self, text: str, kind: type) -> Any:
        """Begin a run and read its events up to one of a kind."""
        events = await self.stack.enter_async_context(aclosing(self.server.client.prompt(self.session_id, text)))
        async for event in events:
            if isinstance(event, SessionInit):
                self.run_id = event.run_id
            if isinstance(event, kind):
                return event
        raise AssertionError(f"no {kind.__name__} came")


@asynccontextmanager
async def scene(root: Path, *, private_engines: int = 2) -> AsyncIterator[Scene]:
    rules = [rule("slow", [say("begun"), wait_for(root / "never")]), rule("careful", [ask("paint")], [say("painted")])]
    workshop = Workshop.of(Script.read(write_script(root / "script.json", *rules)))
    leases = LeaseDesk()
    limits = Limits(private_engines=private_engines)
    parts = {"factory": workshop, "leases": leases, "limits": limits, "token": TOKEN, "skills": {"alpha": "V1"}}
    async with opened(root, **parts) as server, AsyncExitStack() as stack:
        stack.callback(workshop.go.set)
        made = Scene(server, workshop, leases, await server.session(), stack)
        server.write("alpha", "V2")
        yield made


async def draining(at: Scene) -> None:
    at.server.service._is_draining = True


async def unauthenticated(at: Scene) -> None:
    at.headers = {"authorization": "Bearer wrong"}


async def foreign(at: Scene) -> None:
    at.server.inside(at.session_id).owner = "somebody else"


async def with_a_body(at: Scene) -> None:
    at.content = b'{"skills_dir":"/etc"}'


async def not_main(at: Scene) -> None:
    at.server.inside(at.session_id).is_main = False


async def running(at: Scene) -> None:
    await at.begin("slow", SessionInit)


async def awaiting(at: Scene) -> None:
    at.ask_id = (await at.begin("careful", PermissionAsked)).ask.ask_id


async def in_flight(at: Scene) -> None:
    at.workshop.holds.set()
    first = asyncio.create_task(at.reload())
    at.stack.push_async_callback(lambda: first)
    at.stack.callback(at.workshop.go.set)
    await at.workshop.until_held()


async def leased_elsewhere(at: Scene) -> None:
    at.leases.is_ours = False


async def no_room(at: Scene) -> None:
    """Other sessions take every place that is left."""
    while True:
        other = await at.server.session()
        answer = await at.server.http.post(f"/v1/sessions/{other}/skills-reload")
        if answer.status_code != 200:
            assert refusal_of(answer).code == "too_many_session_engines"
            return


async def source_gone(at: Scene) -> None:
    at.server.skills.rename(at.server.root / "kept")
    at.server.skills.symlink_to(at.server.skills)


async def build_fails(at: Scene) -> None:
    at.workshop.breaks.set()


Obstacle = Callable[[Scene], Awaitable[None]]

ROWS: list[tuple[Obstacle, int, str, str]] = [
    (draining, 503, "draining", ""),
    (unauthenticated, 401, "unauthenticated", ""),
    (foreign, 404, "session_not_found", ""),
    (with_a_body, 400, "invalid_argument", ""),
    (not_main, 412, "failed_precondition", "not_main_session"),
    (running, 412, "failed_precondition", "session_running"),
    (in_flight, 412, "failed_precondition", "reload_in_flight"),
    (leased_elsewhere, 409, "session_leased_elsewhere", ""),
    (no_room, 429, "too_many_session_engines", ""),
    (source_gone, 503, "skill_source_unavailable", ""),
    (build_fails, 500, "engine_build_failed", ""),
]
"""The table, from its first row to its last, without the second check under the session's lock."""

SET_UP = [in_flight, running, no_room, source_gone, build_fails, not_main, foreign, with_a_body, leased_elsewhere,
          unauthenticated, draining]  # fmt: skip
"""In this order one obstacle does not keep the next from being put up."""


def expected(at: int) -> Refusal:
    _, status, code, reason = ROWS[at]
    return Refusal(status, code, "", reason)


def bare(refusal: Refusal) -> Refusal:
    return Refusal(refusal.status, refusal.code, "", refusal.reason)


@pytest.mark.parametrize("row", range(len(ROWS)), ids=[row[0].__name__ for row in ROWS])
async def test_each_obstacle_alone_has_its_answer_and_nothing_moves(tmp_path: Path, row: int) -> None:
    async with scene(tmp_path) as at:
        await ROWS[row][0](at)
        assert bare(await at.refused()) == expected(row)


@pytest.mark.parametrize("row", range(len(ROWS)), ids=[row[0].__name__ for row in ROWS])
async def test_of_many_obstacles_the_first_row_answers(tmp_path: Path, row: int) -> None:
    async with scene(tmp_path) as at:
        here = {obstacle for obstacle, *_ in ROWS[row:]}
        for obstacle in SET_UP:
            if obstacle in here:
                await obstacle(at)
        assert bare(await at.refused()) == expected(row)


async def test_an_awaiting_session_names_its_run_and_its_ask(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await awaiting(at)
        refusal = await at.refused()
        assert (refusal.status, refusal.code, refusal.reason) == (412, "failed_precondition", "session_awaiting")
        assert (refusal.run_id, refusal.ask_id) == (at.run_id, at.ask_id)


async def test_a_running_session_names_its_run_alone(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await running(at)
        refusal = await at.refused()
        assert (refusal.run_id, refusal.ask_id) == (at.run_id, "")


@pytest.mark.parametrize("body", [b"{}", b" ", b"null", b"\x00", b'{"trust_project":true}'])
async def test_any_body_is_refused(tmp_path: Path, body: bytes) -> None:
    async with scene(tmp_path) as at:
        at.content = body
        assert bare(await at.refused()) == expected(3)


async def test_an_empty_body_is_none(tmp_path: Path) -> None:
    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    async with scene(tmp_path) as at:
        for content in (b"", nothing()):
            assert (await at.server.http.post(at.path, content=content)).status_code == 200


async def test_no_lease_is_taken_by_a_reload_that_is_refused_before(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await running(at)
        at.leases.asked.clear()
        await at.refused()
        await unauthenticated(at)
        await at.reload()
        assert at.leases.asked == []


async def test_no_lease_is_taken_for_the_second_of_two_reloads(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await in_flight(at)
        assert at.leases.asked == [at.session_id]
        await at.refused()
        assert at.leases.asked == [at.session_id]


async def test_a_build_that_fails_tells_its_reason_to_the_log_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with scene(tmp_path) as at:
        await build_fails(at)
        assert SECRET not in (await at.refused()).error
        assert SECRET in caplog.text
        at.workshop.breaks.clear()
        assert (await at.server.client.reload_skills(at.session_id)).generation == 2


async def test_after_a_refusal_of_any_kind_the_next_reload_is_free(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await build_fails(at)
        await at.refused()
        at.workshop.breaks.clear()
        await leased_elsewhere(at)
        await at.refused()
        at.leases.is_ours = True
        at.content = b"{}"
        await at.refused()
        at.content = b""
        report = await at.server.client.reload_skills(at.session_id)
        assert (report.generation, report.changed) == (2, 1)
        assert (await at.server.client.expand(at.session_id, "/alpha")).text == "V2"
