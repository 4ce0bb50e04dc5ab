"""Watching a session: replay from a cursor, then live; any number of watchers; gaps are told."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from client.contract.events import Phase, RunEnded, SkillsReloaded, Watched
from server_stub.config import Limits
from tests.support.local import DEADLINE, Local, opened, until
from tests.support.refusals import kind_of
from tests.support.script import rule, say, wait_for


async def up_to_result(watch: AsyncGenerator[Watched], results: int = 1) -> list[Watched]:
    """What a watch gives up to its first, or a later, result."""
    seen: list[Watched] = []
    async with aclosing(watch), asyncio.timeout(DEADLINE):
        async for one in watch:
            seen.append(one)
            results -= isinstance(one.event, RunEnded)
            if not results:
                return seen
    raise AssertionError(f"the watch ended: {seen}")


async def watching(server: Local, session_id: str, watchers: int) -> None:
    await until(lambda: len(server.inside(session_id).log._followers) == watchers)


async def test_a_replay_is_the_run_as_it_was_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        told = await server.run(a, "hello")
        seen = await up_to_result(server.client.watch(a))
        assert [one.event for one in seen] == told
        assert {one.phase for one in seen} == {Phase.REPLAY}
        assert [int(one.cursor) for one in seen] == list(range(1, len(told) + 1))


async def test_every_cursor_resumes_after_its_event(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        await server.run(a, "hello")
        whole = await up_to_result(server.client.watch(a))
        for at, one in enumerate(whole[:-1], start=1):
            assert await up_to_result(server.client.watch(a, one.cursor)) == whole[at:]


async def test_what_comes_while_it_is_watched_is_live(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with opened(tmp_path, rules=[rule("slow", [say("begun"), wait_for(go), say("ended")])]) as server:
        a = await server.session()
        early = asyncio.create_task(up_to_result(server.client.watch(a)))
        await watching(server, a, 1)
        run = asyncio.create_task(server.run(a, "slow"))
        await until(lambda: "begun" in str(server.inside(a).log._entries))
        late = asyncio.create_task(up_to_result(server.client.watch(a)))
        await watching(server, a, 3)
        go.touch()
        told, seen_early, seen_late = await asyncio.gather(run, early, late)
        assert [one.event for one in seen_early] == [one.event for one in seen_late] == told
        assert {one.phase for one in seen_early} == {Phase.LIVE}
        begun = next(at for at, one in enumerate(told) if getattr(one, "text", "") == "begun")
        assert {one.phase for one in seen_late[: begun + 1]} == {Phase.REPLAY}
        assert {one.phase for one in seen_late[begun + 1 :]} == {Phase.LIVE}


async def test_a_watcher_sees_run_after_run_and_a_reload_once(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"alpha": "V1"}) as server:
        a = await server.session()
        watchers = [asyncio.create_task(up_to_result(server.client.watch(a), results=2)) for _ in range(3)]
        await watching(server, a, 3)
        await server.run(a, "one")
        await server.client.reload_skills(a)
        await server.run(a, "two")
        for seen in await asyncio.gather(*watchers):
            reloads = [one for one in seen if isinstance(one.event, SkillsReloaded)]
            assert [one.event.generation for one in reloads if isinstance(one.event, SkillsReloaded)] == [2]
        replayed = await up_to_result(server.client.watch(a, reloads[0].cursor))
        assert [one.event for one in replayed] == [one.event for one in seen[seen.index(reloads[0]) + 1 :]]


async def test_a_cursor_that_is_too_old_gets_a_gap_first(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(log_entries=3)) as server:
        a = await server.session()
        await server.run(a, "hello")
        end = server.inside(a).log.end
        for cursor in ("", "0", "1", str(end - 4)):
            gap, *rest = await up_to_result(server.client.watch(a, cursor))
            assert (gap.phase, gap.event, int(gap.cursor)) == (Phase.GAP, None, end - 3)
            assert [int(one.cursor) for one in rest] == [end - 2, end - 1, end]
        assert await up_to_result(server.client.watch(a, gap.cursor)) == rest


@pytest.mark.parametrize("beyond", ["1000000", "9223372036854775807", "9999999999999999999"])
async def test_a_cursor_that_was_never_given_gets_a_gap_and_all_there_is(tmp_path: Path, beyond: str) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        told = await server.run(a, "hello")
        gap, *rest = await up_to_result(server.client.watch(a, beyond))
        assert (gap.phase, gap.event) == (Phase.GAP, None)
        assert [one.event for one in rest] == told


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "1e3", "%20", "\u0661", "9" * 20, "0x1", "+1"])
async def test_a_cursor_that_is_no_number_is_refused(tmp_path: Path, cursor: str) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        answer = await server.http.get(f"/v1/sessions/{a}/watch", params={"cursor": cursor})
        assert kind_of(answer) == (400, "invalid_argument")


async def test_a_watch_ends_when_its_session_is_deleted(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        told = await server.run(a, "hello")
        log = server.inside(a).log
        watch = asyncio.create_task(server.http.get(f"/v1/sessions/{a}/watch"))
        await until(lambda: len(log._followers) == 1)
        await server.client.delete(a)
        answer = await watch
        assert answer.status_code == 200
        assert answer.text.count("data: ") == len(told)


async def test_a_watcher_who_goes_away_is_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        watch = asyncio.create_task(up_to_result(server.client.watch(a)))
        await watching(server, a, 1)
        watch.cancel()
        await watching(server, a, 0)
