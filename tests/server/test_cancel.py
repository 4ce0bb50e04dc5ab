"""Cancel: the run has ended when the answer comes, wherever in it the cancel arrives."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from client.contract.events import MessageDelta, PermissionAsked, RunEnded, SessionInit, Stop
from client.contract.sessions import SessionState
from tests.support.local import Local, opened, until
from tests.support.refusals import kind_of
from tests.support.script import ask, pause, rule, say, wait_for

LONG = 3600


async def ended_as_cancelled(server: Local, session_id: str) -> None:
    """The session is at rest, and a new run and a reload are admitted."""
    info = await server.client.session(session_id)
    assert info.state is SessionState.CANCELLED
    assert (await server.client.transcript(session_id)).complete
    assert isinstance((await server.run(session_id, "hello"))[-1], RunEnded)
    assert (await server.client.session(session_id)).state is SessionState.COMPLETED
    assert (await server.client.reload_skills(session_id)).generation == 2


async def test_there_is_nothing_to_cancel_in_an_idle_session(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        before = await server.everything(a)
        assert kind_of(await server.http.post(f"/v1/sessions/{a}/cancel")) == (409, "no_active_run")
        assert await server.everything(a) == before
        await server.run(a, "hello")
        assert kind_of(await server.http.post(f"/v1/sessions/{a}/cancel")) == (409, "no_active_run")
        assert (await server.client.session(a)).state is SessionState.COMPLETED


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([pause(LONG)], SessionInit),
        ([say("begun"), pause(LONG)], MessageDelta),
        ([say("begun"), wait_for(Path("/nowhere"))], MessageDelta),
        ([say("begun"), ask("paint")], PermissionAsked),
    ],
    ids=["before the first word", "in a pause", "in a wait", "in an ask"],
)
async def test_a_run_is_cancelled_wherever_it_is(tmp_path: Path, steps: list[dict[str, object]], kind: type) -> None:
    async with opened(tmp_path, rules=[rule("slow", steps)]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "slow")) as events:
            async for event in events:
                if isinstance(event, kind):
                    break
            answer = await server.http.post(f"/v1/sessions/{a}/cancel")
            assert (answer.status_code, answer.content) == (204, b"")
            assert (await server.client.session(a)).state is SessionState.CANCELLED
            last = [event async for event in events][-1]
        assert isinstance(last, RunEnded)
        assert (last.result.stop, last.result.error) == (Stop.CANCELLED, "")
        await ended_as_cancelled(server, a)


async def test_what_was_said_before_a_cancel_stays_in_the_conversation(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[rule("slow", [say("half a sen"), pause(LONG)])]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "slow")) as events:
            async for event in events:
                if isinstance(event, MessageDelta):
                    break
            await server.client.cancel(a)
        told = [(one.role, one.text) for one in (await server.client.transcript(a)).messages]
        assert told == [("user", "slow"), ("assistant", "half a sen")]


async def test_a_run_that_has_not_taken_its_first_step_is_cancelled_whole(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        # No route can be faster than the loop, so the service is asked within one step of it.
        session, run = await server.service.prompt(a, "local", "hello")
        await server.service.cancel(a, "local")
        assert (session.run, session.state.value, session.turns) == (None, "cancelled", 0)
        assert run.task is not None
        assert run.task.cancelled()
        answer = await server.http.get(f"/v1/sessions/{a}/transcript")
        assert [one["role"] for one in answer.json()["messages"]] == ["user"]
        await ended_as_cancelled(server, a)


async def test_many_cancels_at_once_all_have_an_answer(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[rule("slow", [pause(LONG)])]) as server:
        a = await server.session()
        run = asyncio.create_task(server.run(a, "slow"))
        await until(lambda: server.inside(a).run is not None)
        answers = await asyncio.gather(*(server.http.post(f"/v1/sessions/{a}/cancel") for _ in range(8)))
        assert {answer.status_code for answer in answers} <= {204, 409}
        assert 204 in {answer.status_code for answer in answers}
        assert [isinstance(event, RunEnded) for event in await run].count(True) == 1
        await ended_as_cancelled(server, a)


async def test_a_cancel_in_one_session_leaves_the_others_running(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with opened(tmp_path, rules=[rule("slow", [wait_for(go), say("done")])]) as server:
        a, b = await server.session(), await server.session()
        runs = [asyncio.create_task(server.run(one, "slow")) for one in (a, b)]
        await until(lambda: all(server.inside(one).run for one in (a, b)))
        await server.client.cancel(a)
        assert (await server.client.session(b)).state is SessionState.RUNNING
        go.touch()
        ends = [events[-1] for events in await asyncio.gather(*runs)]
        assert [end.result.stop for end in ends if isinstance(end, RunEnded)] == [Stop.CANCELLED, Stop.END_TURN]
