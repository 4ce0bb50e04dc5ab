"""Private engines: how many there may be, who keeps a place, and when one is given back."""

import asyncio
from pathlib import Path

import pytest

from server_stub.config import Limits
from tests.support.local import Local, opened
from tests.support.parts import LeaseDesk, Workshop
from tests.support.refusals import kind_of, refusal_of

FULL = (429, "too_many_session_engines")


async def reload(server: Local, session_id: str) -> tuple[int, str]:
    answer = await server.http.post(f"/v1/sessions/{session_id}/skills-reload")
    return (200, "") if answer.status_code == 200 else kind_of(answer)


async def test_a_session_keeps_its_place_and_a_deleted_one_gives_it_back(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(private_engines=1), skills={"alpha": "V1"}) as server:
        a, b = await server.session(), await server.session()
        assert await reload(server, a) == (200, "")
        assert await reload(server, b) == FULL
        assert await reload(server, a) == (200, "")
        await server.client.delete(a)
        assert await reload(server, b) == (200, "")


async def test_a_refusal_for_want_of_room_says_what_helps_and_leaves_the_session_usable(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(private_engines=0), skills={"alpha": "V1"}) as server:
        a = await server.session()
        server.write("alpha", "V2")
        before = await server.everything(a)
        refusal = refusal_of(await server.http.post(f"/v1/sessions/{a}/skills-reload"))
        assert (refusal.status, refusal.code) == FULL
        assert "delete one" in refusal.error
        assert await server.everything(a) == before
        assert (await server.client.expand(a, "/alpha")).text == "V1"


@pytest.mark.parametrize("fault", ["build", "source"])
async def test_a_reload_that_fails_gives_its_place_back(tmp_path: Path, fault: str) -> None:
    workshop = Workshop.of()
    limits = Limits(private_engines=1)
    async with opened(tmp_path, factory=workshop, limits=limits, skills={"alpha": "V1"}) as server:
        a, b = await server.session(), await server.session()
        if fault == "build":
            workshop.breaks.set()
            assert await reload(server, a) == (500, "engine_build_failed")
            workshop.breaks.clear()
        else:
            kept = server.skills.rename(tmp_path / "kept")
            server.skills.symlink_to(server.skills)
            assert await reload(server, a) == (503, "skill_source_unavailable")
            server.skills.unlink()
            kept.rename(server.skills)
        assert await reload(server, b) == (200, "")


async def test_a_cleared_session_takes_a_place_only_where_its_parent_was_reloaded(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(private_engines=1), skills={"alpha": "V1"}) as server:
        a = await server.session()
        for _ in range(3):
            await server.client.clear(a)
        assert await reload(server, a) == (200, "")
        count = (await server.client.sessions()).total_count
        assert kind_of(await server.http.post(f"/v1/sessions/{a}/clear")) == FULL
        assert (await server.client.sessions()).total_count == count


async def test_a_clear_that_cannot_build_leaves_no_session_and_no_place_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    workshop = Workshop.of()
    limits = Limits(private_engines=2)
    async with opened(tmp_path, factory=workshop, limits=limits, skills={"alpha": "V1"}) as server:
        a = await server.session()
        await server.client.reload_skills(a)
        before = await server.everything(a)
        workshop.breaks.set()
        refusal = refusal_of(await server.http.post(f"/v1/sessions/{a}/clear"))
        assert (refusal.status, refusal.code) == (500, "engine_build_failed")
        assert "RuntimeError" in caplog.text
        workshop.breaks.clear()
        assert await server.everything(a) == before
        assert (await server.client.sessions()).total_count == 1
        await server.client.clear(a)


async def test_the_engine_that_is_replaced_is_closed_and_the_shared_one_is_not(tmp_path: Path) -> None:
    workshop = Workshop.of()
    async with opened(tmp_path, factory=workshop, leases=LeaseDesk(), skills={"alpha": "V1"}) as server:
        a, b = await server.session(), await server.session()
        await server.client.reload_skills(a)
        assert workshop.closed == []
        first = server.inside(a).installed.engine
        await server.client.reload_skills(a)
        assert workshop.closed == [first]
        second = server.inside(a).installed.engine
        await server.client.delete(a)
        assert workshop.closed == [first, second]
        await server.client.delete(b)
        assert workshop.closed == [first, second]


async def test_a_server_that_is_full_of_sessions_takes_no_more(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(sessions=2), skills={"alpha": "V1"}) as server:
        a = await server.session()
        await server.client.reload_skills(a)
        await server.session()
        for path in ("/v1/sessions", f"/v1/sessions/{a}/clear"):
            refusal = refusal_of(await server.http.post(path))
            assert (refusal.status, refusal.code) == (429, "resource_exhausted")
        assert server.service._engines._private == 1
        await server.client.delete(a)
        await server.session()


async def test_a_clear_holds_nobody_up_and_closes_its_engine_where_there_is_no_room_any_more(tmp_path: Path) -> None:
    workshop = Workshop.of()
    limits = Limits(sessions=2)
    async with opened(tmp_path, factory=workshop, limits=limits, skills={"alpha": "V1"}) as server:
        a = await server.session()
        assert await reload(server, a) == (200, "")
        workshop.holds.set()
        clear = asyncio.create_task(server.http.post(f"/v1/sessions/{a}/clear"))
        await workshop.until_held()
        await server.session()
        workshop.go.set()
        assert kind_of(await clear)[0] == 429
        assert [engine is workshop.built[-1] for engine in workshop.closed] == [True]
        assert server.service._engines._private == 1
