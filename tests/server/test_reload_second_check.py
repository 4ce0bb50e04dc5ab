"""The check under the session's lock: what came between a reload's start and its end refuses it, and all stays."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from client.contract.events import RunEnded, Stop
from server_stub.config import Limits
from server_stub.engine.models.script import Script
from tests.support.local import Local, opened, until
from tests.support.parts import LeaseDesk, Workshop
from tests.support.refusals import refusal_of
from tests.support.script import rule, say, wait_for, write_script


@dataclass
class Midway:
    """A server with one session, whose reload waits in its build, and what may happen meanwhile."""

    server: Local
    workshop: Workshop
    leases: LeaseDesk
    session_id: str
    reload: "asyncio.Task[httpx.Response]"

    @property
    def private_engines(self) -> int:
        return self.server.service._engines._private

    async def end(self) -> httpx.Response:
        self.workshop.go.set()
        return await self.reload


@asynccontextmanager
async def midway(root: Path, *, reloaded_before: bool = False) -> AsyncIterator[Midway]:
    script = Script.read(write_script(root / "script.json", rule("slow", [wait_for(root / "go"), say("ended")])))
    workshop, leases = Workshop.of(script), LeaseDesk()
    limits = Limits(private_engines=1)
    async with opened(root, factory=workshop, leases=leases, limits=limits, skills={"alpha": "V1"}) as server:
        session_id = await server.session()
        if reloaded_before:
            await server.client.reload_skills(session_id)
        server.write("alpha", "V2")
        workshop.holds.set()
        path = f"/v1/sessions/{session_id}/skills-reload"
        reload = asyncio.create_task(server.http.post(path))
        await workshop.until_held()
        try:
            yield Midway(server, workshop, leases, session_id, reload)
        finally:
            workshop.go.set()
            await asyncio.wait([reload])


async def prompted(at: Midway) -> None:
    events = at.server.client.prompt(at.session_id, "slow")
    await anext(events)
    await events.aclose()


async def no_longer_main(at: Midway) -> None:
    at.server.inside(at.session_id).is_main = False


async def leased_elsewhere(at: Midway) -> None:
    at.leases.is_ours = False


async def given_away(at: Midway) -> None:
    at.server.inside(at.session_id).owner = "somebody else"


@pytest.mark.parametrize("reloaded_before", [False, True], ids=["shared", "private"])
@pytest.mark.parametrize(
    ("meanwhile", "answer"),
    [
        (prompted, (412, "failed_precondition", "session_running")),
        (no_longer_main, (412, "failed_precondition", "not_main_session")),
        (leased_elsewhere, (409, "session_leased_elsewhere", "")),
        (given_away, (404, "session_not_found", "")),
    ],
)
async def test_what_came_between_refuses_the_reload(
    tmp_path: Path,
    meanwhile: Callable[[Midway], Awaitable[None]],
    answer: tuple[int, str, str],
    reloaded_before: bool,
) -> None:
    async with midway(tmp_path, reloaded_before=reloaded_before) as at:
        installed = at.server.inside(at.session_id).installed
        await meanwhile(at)
        refusal = refusal_of(await at.end())
        assert (refusal.status, refusal.code, refusal.reason) == answer
        session = at.server.inside(at.session_id)
        assert session.installed is installed
        assert not session.reload_in_flight
        # The engine that was built is the one that is closed, and its place is free again.
        assert at.workshop.closed == [at.workshop.built[-1]]
        assert at.workshop.closed != [installed.engine]
        assert at.private_engines == int(reloaded_before)


async def test_a_prompt_that_comes_meanwhile_runs_on_the_old_skills_and_is_not_held_up(tmp_path: Path) -> None:
    async with midway(tmp_path) as at:
        (tmp_path / "go").touch()
        events = await at.server.run(at.session_id, "/alpha")
        assert isinstance(events[-1], RunEnded)
        assert not at.reload.done()
        assert (await at.end()).status_code == 200
        assert (await at.server.client.expand(at.session_id, "/alpha")).text == "V2"


@pytest.mark.parametrize("reloaded_before", [False, True], ids=["shared", "private"])
async def test_a_session_deleted_meanwhile_takes_the_reload_with_it(tmp_path: Path, reloaded_before: bool) -> None:
    async with midway(tmp_path, reloaded_before=reloaded_before) as at:
        await at.server.client.delete(at.session_id)
        refusal = refusal_of(await at.end())
        assert (refusal.status, refusal.code) == (404, "session_not_found")
        assert at.workshop.built[-1] in at.workshop.closed
        assert len(at.workshop.closed) == 1 + reloaded_before
        assert at.private_engines == 0
        other = await at.server.session()
        assert (await at.server.client.reload_skills(other)).generation == 2


async def test_a_delete_while_the_lease_is_asked_for_closes_what_the_reload_installed(tmp_path: Path) -> None:
    async with midway(tmp_path) as at:
        at.leases.waits = asyncio.Event()
        asked = len(at.leases.asked)
        at.workshop.go.set()
        await until(lambda: len(at.leases.asked) > asked)
        gone = asyncio.create_task(at.server.client.delete(at.session_id))
        await until(lambda: len(at.server.service._store) == 0)
        at.leases.waits.set()
        await gone
        await at.reload
        assert at.workshop.built[-1] in at.workshop.closed
        assert at.private_engines == 0


async def test_a_run_that_begins_and_ends_meanwhile_is_no_obstacle(tmp_path: Path) -> None:
    async with midway(tmp_path) as at:
        (tmp_path / "go").touch()
        last = (await at.server.run(at.session_id, "slow"))[-1]
        assert isinstance(last, RunEnded)
        assert last.result.stop is Stop.END_TURN
        assert (await at.end()).json()["generation"] == 2


async def test_a_caller_who_goes_away_leaves_the_reload_to_its_end(tmp_path: Path) -> None:
    async with midway(tmp_path) as at:
        at.reload.cancel()
        await asyncio.wait([at.reload])
        at.workshop.go.set()
        session = at.server.inside(at.session_id)
        await until(lambda: not session.reload_in_flight)
        assert session.installed.generation == 2
