"""Approvals: an ask is answered once, by its own id, and closes with its run."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.contract.events import Event, PermissionAsked, PermissionRetracted, RunEnded, Stop, ToolReturned
from client.contract.sessions import PermissionMode, SessionState
from tests.support.local import Local, opened
from tests.support.refusals import kind_of
from tests.support.script import ask, rule, say

CAREFUL = rule("careful", [ask("paint")], [say("done")])
TWICE = rule("twice", [ask("paint"), ask("dry")], [say("done")])

NOT_PENDING = (409, "ask_not_pending")


async def approve(server: Local, session_id: str, ask_id: str, verdict: Any) -> httpx.Response:
    body = {"ask_id": ask_id, "verdict": verdict}
    return await server.http.post(f"/v1/sessions/{session_id}/approve", json=body)


async def asked(events: AsyncGenerator[Event]) -> str:
    """The id of the next ask."""
    async for event in events:
        if isinstance(event, PermissionAsked):
            return event.ask.ask_id
    raise AssertionError("nothing was asked")


async def rest(events: AsyncGenerator[Event]) -> tuple[list[bool], Stop]:
    """Whether each tool result to come is an error, and how the run ends."""
    errors, stop = [], Stop.UNKNOWN
    async for event in events:
        if isinstance(event, ToolReturned):
            errors.append(event.tool_result.is_error)
        if isinstance(event, RunEnded):
            stop = event.result.stop
    return errors, stop


@pytest.mark.parametrize(
    ("verdict", "is_refused"),
    [(1, True), (2, False), (3, False), ("deny", True), ("allow_once", False), ("allow_always", False)],
)
async def test_each_verdict_as_a_number_and_as_a_word(tmp_path: Path, verdict: Any, is_refused: bool) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "careful")) as events:
            ask_id = await asked(events)
            answer = await approve(server, a, ask_id, verdict)
            assert (answer.status_code, answer.content) == (204, b"")
            assert await rest(events) == ([is_refused], Stop.END_TURN)
        assert kind_of(await approve(server, a, ask_id, verdict)) == NOT_PENDING


@pytest.mark.parametrize("verdict", [0, 4, -1, 2.5, "allow", "ALLOW_ONCE", "", None, [], {}])
async def test_what_is_no_verdict_is_refused_and_the_ask_stays_open(tmp_path: Path, verdict: Any) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "careful")) as events:
            ask_id = await asked(events)
            assert kind_of(await approve(server, a, ask_id, verdict)) == (400, "invalid_argument")
            assert (await server.client.session(a)).state is SessionState.AWAITING
            await approve(server, a, ask_id, 2)
            assert await rest(events) == ([False], Stop.END_TURN)


async def test_only_the_open_ask_of_this_session_can_be_answered(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a, b, idle = await server.session(), await server.session(), await server.session()
        async with (
            aclosing(server.client.prompt(a, "careful")) as at_a,
            aclosing(server.client.prompt(b, "careful")) as at_b,
        ):
            of_a, of_b = await asked(at_a), await asked(at_b)
            for session_id, ask_id in ((a, of_b), (b, of_a), (idle, of_a), (a, ""), (a, "x" * 9999), (a, of_a[:-1])):
                assert kind_of(await approve(server, session_id, ask_id, 2)) == NOT_PENDING
            for session_id in (a, b):
                assert (await server.client.session(session_id)).state is SessionState.AWAITING
                await server.client.cancel(session_id)


async def test_asks_of_one_run_are_asked_one_after_the_other(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[TWICE]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "twice")) as events:
            first = await asked(events)
            assert (await approve(server, a, first, "deny")).status_code == 204
            second = await asked(events)
            assert second != first
            assert kind_of(await approve(server, a, first, 2)) == NOT_PENDING
            await approve(server, a, second, 2)
            assert await rest(events) == ([False], Stop.END_TURN)


async def test_of_many_answers_at_once_the_first_counts(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "careful")) as events:
            ask_id = await asked(events)
            answers = await asyncio.gather(*(approve(server, a, ask_id, "deny") for _ in range(8)))
            assert sorted(answer.status_code for answer in answers) == [204] + [409] * 7
            assert {kind_of(answer) for answer in answers if answer.status_code != 204} == {NOT_PENDING}
            assert await rest(events) == ([True], Stop.END_TURN)


async def test_a_cancel_closes_the_ask_and_tells_so(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "careful")) as events:
            ask_id = await asked(events)
            await server.client.cancel(a)
            assert kind_of(await approve(server, a, ask_id, 2)) == NOT_PENDING
            left = [event async for event in events]
        assert [event.ask_id for event in left if isinstance(event, PermissionRetracted)] == [ask_id]
        assert isinstance(left[-1], RunEnded)
        assert left[-1].result.stop is Stop.CANCELLED


async def test_what_is_allowed_for_good_is_not_asked_again_in_this_session_only(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "careful")) as events:
            await approve(server, a, await asked(events), "allow_always")
            await rest(events)
        assert not [event for event in await server.run(a, "careful") if isinstance(event, PermissionAsked)]
        await server.client.reload_skills(a)
        assert not [event for event in await server.run(a, "careful") if isinstance(event, PermissionAsked)]
        b = (await server.client.clear(a)).session_id
        async with aclosing(server.client.prompt(b, "careful")) as events:
            await asked(events)
            await server.client.cancel(b)


async def test_plan_mode_refuses_at_the_call_and_asks_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[CAREFUL]) as server:
        a = await server.session()
        tools = (await server.client.model_view(a)).tools_sha256
        await server.client.set_mode(a, PermissionMode.PLAN)
        events = await server.run(a, "careful")
        assert not [event for event in events if isinstance(event, PermissionAsked)]
        (told,) = [event.tool_result for event in events if isinstance(event, ToolReturned)]
        assert (told.is_error, "plan mode" in told.content) == (True, True)
        assert (await server.client.model_view(a)).tools_sha256 == tools
