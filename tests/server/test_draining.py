"""A server that is about to stop: nothing new is let in, what runs is ended and told so, and streams end."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from client.contract.events import RunEnded, SessionInit, Stop
from server_stub.api.door import LOCAL_CALLER
from server_stub.engine.models.script import Script
from tests.support.local import opened, until
from tests.support.parts import LeaseDesk, Workshop
from tests.support.refusals import kind_of, refusal_of
from tests.support.script import ask, pause, rule, write_script

DRAINING = (503, "draining")
SLOW = rule("slow", [pause(3600)])
CAREFUL = rule("careful", [ask("paint")])


async def test_every_route_refuses_and_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path, token="t", on_port=True) as server:
        a = await server.session()
        await server.service.drain()
        for method, path in [
            ("POST", "/v1/sessions"),
            ("GET", "/v1/sessions"),
            ("GET", "/v1/info"),
            ("GET", "/nowhere"),
            ("POST", f"/v1/sessions/{a}/prompt"),
            ("POST", f"/v1/sessions/{a}/skills-reload"),
            ("GET", f"/v1/sessions/{a}/watch"),
        ]:
            refusal = refusal_of(await server.http.request(method, path))
            assert (refusal.status, refusal.code) == DRAINING
            assert "connect again" in refusal.error
        async with httpx.AsyncClient(base_url=server.address, verify=False) as stranger:
            assert kind_of(await stranger.get("/v1/info")) == DRAINING


async def test_runs_end_as_cancelled_and_their_readers_are_told(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[SLOW, CAREFUL]) as server:
        a, b = await server.session(), await server.session()
        runs = [asyncio.create_task(server.run(a, "slow")), asyncio.create_task(server.run(b, "careful"))]
        watch = asyncio.create_task(server.http.get(f"/v1/sessions/{a}/watch"))
        sessions = [server.inside(one) for one in (a, b)]
        await until(lambda: [str(one.state) for one in sessions] == ["running", "awaiting"])
        await until(lambda: len(sessions[0].log._followers) == 2)
        await server.service.drain()
        for events in await asyncio.gather(*runs):
            last = events[-1]
            assert isinstance(last, RunEnded)
            assert last.result.stop is Stop.CANCELLED
        assert '"stop":"cancelled"' in (await watch).text
        assert [str(one.state) for one in sessions] == ["cancelled", "cancelled"]


async def test_a_prompt_that_waits_for_its_turn_is_not_begun(tmp_path: Path) -> None:
    leases = LeaseDesk()
    async with opened(tmp_path, factory=Workshop.of(), leases=leases) as server:
        a = await server.session()
        leases.waits = asyncio.Event()
        prompt = asyncio.create_task(server.http.post(f"/v1/sessions/{a}/prompt", json={"text": "hello"}))
        await until(lambda: leases.asked == [a])
        await server.service.drain()
        leases.waits.set()
        assert kind_of(await prompt) == DRAINING
        session = server.inside(a)
        assert (session.run, session.messages, session.log.end) == (None, [], 0)


async def test_a_body_that_arrives_too_late_is_not_taken(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        begun, go = asyncio.Event(), asyncio.Event()

        async def slow_body() -> AsyncIterator[bytes]:
            yield b"{"
            begun.set()
            await go.wait()
            yield b"}"

        create = asyncio.create_task(server.http.post("/v1/sessions", content=slow_body()))
        await begun.wait()
        await until(_is_being_read)
        await server.service.drain()
        go.set()
        assert kind_of(await create) == DRAINING
        assert len(server.service._store) == 0


def _is_being_read() -> bool:
    """Whether a request has begun to be answered and now waits, which can only be for the rest of its body."""
    requests = [task.get_coro() for task in asyncio.all_tasks()]
    return any("run_asgi" in repr(request) and getattr(request, "cr_await", None) for request in requests)


async def test_private_engines_are_closed_and_the_shared_one_is_not(tmp_path: Path) -> None:
    workshop = Workshop.of()
    async with opened(tmp_path, factory=workshop, skills={"alpha": "V1"}) as server:
        a, _ = await server.session(), await server.session()
        await server.client.reload_skills(a)
        await server.service.drain()
        assert workshop.closed == [server.inside(a).installed.engine]


@pytest.mark.parametrize("reloaded_before", [False, True], ids=["shared", "private"])
async def test_a_reload_under_way_installs_nothing_any_more(tmp_path: Path, reloaded_before: bool) -> None:
    workshop = Workshop.of()
    async with opened(tmp_path, factory=workshop, skills={"alpha": "V1"}) as server:
        a = await server.session()
        if reloaded_before:
            await server.client.reload_skills(a)
        workshop.holds.set()
        reload = asyncio.create_task(server.http.post(f"/v1/sessions/{a}/skills-reload"))
        await workshop.until_held()
        await server.service.drain()
        workshop.go.set()
        assert kind_of(await reload) == DRAINING
        _shared, *private = map(id, workshop.built)
        assert sorted(map(id, workshop.closed)) == sorted(private)
        assert server.service._engines._private == 0


async def test_a_clear_under_way_begins_no_session(tmp_path: Path) -> None:
    workshop = Workshop.of()
    async with opened(tmp_path, factory=workshop, skills={"alpha": "V1"}) as server:
        a = await server.session()
        await server.client.reload_skills(a)
        workshop.holds.set()
        clear = asyncio.create_task(server.http.post(f"/v1/sessions/{a}/clear"))
        await workshop.until_held()
        await server.service.drain()
        workshop.go.set()
        assert kind_of(await clear) == DRAINING
        assert len(server.service._store) == 1
        _shared, *private = map(id, workshop.built)
        assert sorted(map(id, workshop.closed)) == sorted(private)
        assert server.service._engines._private == 0


async def test_a_session_deleted_meanwhile_is_let_go_once(tmp_path: Path) -> None:
    workshop = Workshop.of(Script.read(write_script(tmp_path / "script.json", SLOW)))
    async with opened(tmp_path, factory=workshop, skills={"alpha": "V1"}) as server:
        a, b = await server.session(), await server.session()
        await server.client.reload_skills(b)
        run = asyncio.create_task(server.run(a, "slow"))
        await until(lambda: server.inside(a).run is not None)
        await asyncio.gather(server.service.drain(), server.service.delete(b, LOCAL_CALLER))
        await run
        assert len(workshop.closed) == 1
        assert server.service._engines._private == 0


async def test_a_reader_is_told_of_the_run_before_the_end(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[SLOW]) as server:
        a = await server.session()
        run = asyncio.create_task(server.run(a, "slow"))
        await until(lambda: server.inside(a).run is not None)
        await server.service.drain()
        events = await run
        assert isinstance(events[0], SessionInit)
        assert isinstance(events[-1], RunEnded)
