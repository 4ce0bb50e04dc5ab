"""What a run tells: in order, whole, the same when it is told again."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise
from pathlib import Path

from client.contract import events
from client.contract.approvals import Verdict
from client.contract.events import Event, Watched
from client.http_client import HttpClient
from tests.acceptance.stage import Stage, staged
from tests.support.script import Rule, ask, call, fail, rule, say, think, wait_for
from tests.support.session import plain_http

ODD = (
    "nul \x00 esc \x1b[31m del \x7f nel \x85 sep \u2028\u2029 bidi \u202e bom \ufeff non \uffff tag \U000e0041 "
    '👩\u200d👩\u200d👧 \r\n\t"\\'
)
"""Every kind of character that is hard to carry on a line of JSON in a stream of lines."""

RULES: list[Rule] = [
    rule("odd", [think(ODD), say(ODD), call(ODD, **{ODD: [ODD]})], [say("end")]),
    rule("calls", [think("hm"), say("a b c", chunk=2), call("Skill", name="alpha"), call("Absent")], [say("end")]),
    rule("asks", [ask("rm")], [say("after")]),
    rule("fails", [say("begun"), fail("no quota left")]),
    rule("endless", [call("Absent")], *([call("Absent")] for _ in range(80))),
]


@asynccontextmanager
async def stage(root: Path, *more: Rule) -> AsyncIterator[Stage]:
    async with staged(root, rules=[*more, *RULES], alpha="A1") as made:
        yield made


async def replayed(client: HttpClient, session_id: str, count: int, cursor: str = "") -> list[Watched]:
    async with aclosing(client.watch(session_id, cursor)) as watched:
        return [await anext(watched) for _ in range(count)]


def kinds(told: list[Event]) -> list[str]:
    return [event.type for event in told]


async def paired(client: HttpClient, session_id: str) -> list[tuple[str, str]]:
    """The transcript's roles and texts, after a check that each call has its result right behind it."""
    messages = list((await client.transcript(session_id)).messages)
    expected: list[str] = []
    for message in messages:
        if expected:
            assert (message.role, message.tool_result and message.tool_result.call_id) == ("tool", expected.pop(0))
        else:
            assert message.role != "tool"
            expected = [call.id for call in message.tool_calls]
    assert not expected
    return [
        (one.role, one.tool_result.content if one.role == "tool" and one.tool_result else one.text) for one in messages
    ]


async def test_run_tells_each_step_in_order_and_again_to_who_watches(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        session_id = await on.session()
        told = await on.run(session_id, "calls")
        assert kinds(told) == [
            "session.init", "session.title",
            "turn.start", "reasoning.delta", "message.delta", "message.delta", "message.delta", "turn.end",
            "tool.call", "tool.result", "tool.call", "tool.result",
            "turn.start", "message.delta", "turn.end",
            "result",
        ]  # fmt: skip
        assert [event.seq for event in told] == list(range(1, len(told) + 1))
        assert [event.turn for event in told] == [0, 0, *[1] * 10, *[2] * 4]
        again = await replayed(on.client, session_id, len(told))
        assert [one.event for one in again] == told
        assert {one.phase for one in again} == {"replay"}
        assert all(int(one.cursor) < int(other.cursor) for one, other in pairwise(again))
        rest = await replayed(on.client, session_id, 3, again[-4].cursor)
        assert [one.event for one in rest] == told[-3:]


async def test_who_watches_live_sees_what_the_one_who_prompts_sees(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        session_id = await on.session()

        async def watch() -> list[Watched]:
            seen: list[Watched] = []
            async with aclosing(on.client.watch(session_id)) as watched:
                async for one in watched:
                    seen.append(one)
                    if isinstance(one.event, events.RunEnded) and one.event.result.text == "end":
                        break
            return seen

        first = await on.run(session_id, "hello")
        watching = asyncio.create_task(watch())
        second = await on.run(session_id, "calls")
        seen = await asyncio.wait_for(watching, 20)
        assert [one.event for one in seen] == [*first, *second]
        assert [event.seq for event in second] == list(range(1, len(second) + 1))


async def test_odd_characters_arrive_as_they_were_sent(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        session_id = await on.session()
        told = await on.run(session_id, f"odd {ODD}")
        by_type = {event.type: event for event in told}
        assert by_type["reasoning.delta"].text == ODD
        assert next(event.text for event in told if event.type == "message.delta") == ODD
        called = by_type["tool.call"].tool_call
        assert (called.name, called.args) == (ODD, {ODD: [ODD]})
        assert [one.event for one in await replayed(on.client, session_id, len(told))] == told
        messages = (await on.client.transcript(session_id)).messages
        assert messages[0].text == f"odd {ODD}"
        assert messages[1].text == ODD
        shown = json.loads(on.shown(session_id)[-1]["body"])["messages"]
        assert (shown[0]["content"], shown[1]["content"]) == (f"odd {ODD}", ODD)


async def test_half_a_character_in_a_prompt_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        session_id = await on.session()
        async with plain_http(on.server.address) as http:
            answer = await http.post(f"/v1/sessions/{session_id}/prompt", content=b'{"text": "x\\ud83d"}')
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_argument")
        assert (await on.client.transcript(session_id)).messages == ()


async def test_provider_that_fails_is_told_and_what_it_said_is_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        session_id = await on.session()
        told = await on.run(session_id, "fails")
        assert kinds(told)[-2:] == ["message.delta", "result"]
        assert (told[-1].result.stop, told[-1].result.error) == ("error", "no quota left")
        assert await paired(on.client, session_id) == [("user", "fails"), ("assistant", "begun")]
        assert (await on.run(session_id, "hello"))[-1].result.stop == "end_turn"


async def test_run_that_never_ends_its_turn_is_ended(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        session_id = await on.session()
        told = await on.run(session_id, "endless")
        assert told[-1].result.stop == "max_turns"
        assert kinds(told).count("turn.start") == kinds(told).count("tool.result") == 50
        assert len(await paired(on.client, session_id)) == 101
        assert (await on.run(session_id, "hello"))[-1].result.stop == "end_turn"


async def test_cancel_at_each_stage_leaves_a_whole_conversation(tmp_path: Path) -> None:
    never = wait_for(tmp_path / "never")
    more = [
        rule("turn.start", [never]),
        rule("message.delta", [say("begun"), call("Absent"), never]),
        rule("permission.ask", [call("Absent"), ask("one"), ask("two")]),
    ]
    left = {
        "turn.start": [],
        "message.delta": [("assistant", "begun")],
        "permission.ask": [
            ("assistant", ""),
            ("tool", "there is no tool of this name in this session"),
            ("tool", "interrupted before it ended"),
            ("tool", "not begun: the run ended before"),
        ],
    }
    async with stage(tmp_path, *more) as on:
        for until, messages in left.items():
            session_id = await on.session()
            told = await cancelled(on, session_id, until)
            assert await paired(on.client, session_id) == [("user", until), *messages]
            assert [one.event for one in await replayed(on.client, session_id, len(told))] == told
            assert (await on.run(session_id, "hello"))[-1].result.stop == "end_turn"
            assert (await paired(on.client, session_id))[-2] == ("user", "hello")


async def cancelled(on: Stage, session_id: str, until: str) -> list[Event]:
    """What a run tells that is cancelled at the first event of a type; each call that was told has its result."""
    told: list[Event] = []
    async with aclosing(on.client.prompt(session_id, until)) as stream:
        async for event in stream:
            told.append(event)
            if event.type == until:
                await on.client.cancel(session_id)
    assert told[-1].result.stop == "cancelled"
    calls = [event.tool_call.id for event in told if isinstance(event, events.ToolCalled)]
    assert [event.tool_result.call_id for event in told if isinstance(event, events.ToolReturned)] == calls
    return told


async def test_answer_to_an_ask_decides_this_call_and_perhaps_the_next(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for verdict, result, asks_again in (
            (Verdict.DENY, "permission_denied: the user refused this call", True),
            (Verdict.ALLOW_ONCE, "done: rm", True),
            (Verdict.ALLOW_ALWAYS, "done: rm", False),
        ):
            session_id = await on.session()
            told = await answered(on, session_id, verdict)
            at = kinds(told).index("tool.call")
            assert kinds(told)[at : at + 4] == ["tool.call", "permission.ask", "permission.retract", "tool.result"]
            assert (await paired(on.client, session_id))[2] == ("tool", result)
            assert ("permission.ask" in kinds(await answered(on, session_id, verdict))) is asks_again


async def answered(on: Stage, session_id: str, verdict: Verdict) -> list[Event]:
    """What a run tells whose asks are all answered so."""
    told: list[Event] = []
    async with aclosing(on.client.prompt(session_id, "asks")) as stream:
        async for event in stream:
            told.append(event)
            if isinstance(event, events.PermissionAsked):
                assert (event.ask.tool, event.ask.args) == ("OfflineAction", {"label": "rm"})
                await on.client.approve(session_id, event.ask.ask_id, verdict)
    return told
