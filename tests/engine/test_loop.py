"""The run loop: however a run ends, its conversation is whole and its session can go on."""

import asyncio
import json
import logging
from collections.abc import Mapping

import pytest

from server_stub.engine.conversation import AssistantMessage, ToolMessage, ToolRequest, UserMessage
from server_stub.engine.events import Stop, TextStreamed, ToolCalled, ToolReturned, TurnEnded, TurnStarted
from server_stub.engine.models.model import ModelFailed, ReasoningPart, TextPart
from server_stub.engine.models.recorder import body_of
from server_stub.engine.permissions import Mode, Permissions, Verdict
from tests.engine.parts import Doing, Play, Playing, Talk

NEVER = asyncio.Event


def call(number: int = 1, name: str = "Do", **args: object) -> ToolRequest:
    return ToolRequest(f"call_{number}", name, args)


def told(talk: Talk) -> tuple[list[str], list[str]]:
    """Ids of the calls and of the results that were told."""
    calls = [event.request.call_id for event in talk.events if isinstance(event, ToolCalled)]
    return calls, [event.call_id for event in talk.events if isinstance(event, ToolReturned)]


async def cancelled(talk: Talk, when: asyncio.Event) -> None:
    run = talk.run()
    await asyncio.wait_for(when.wait(), 5)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


async def test_run_goes_on_until_nothing_is_asked_for() -> None:
    talk = Talk(Playing([TextPart("a"), call()], [ReasoningPart("hm"), TextPart("b"), TextPart("c")]), Doing())
    assert await talk.run() == (Stop.END_TURN, "bc")
    assert talk.messages[1:] == [
        AssistantMessage("a", "", (call(),)),
        ToolMessage("call_1", "done"),
        AssistantMessage("bc", "hm"),
    ]
    kinds = [type(event).__name__ for event in talk.events]
    assert kinds == [
        "TurnStarted", "TextStreamed", "TurnEnded", "ToolCalled", "ToolReturned",
        "TurnStarted", "ReasoningStreamed", "TextStreamed", "TextStreamed", "TurnEnded",
    ]  # fmt: skip
    assert [one.request.turn for one in talk.sent] == [1, 2]


async def test_run_ends_at_its_limit_with_all_calls_answered() -> None:
    talk = Talk(model := Playing([call()]), Doing(), turns=3)
    assert await talk.run() == (Stop.MAX_TURNS, "")
    assert len(model.requests) == 3
    talk.assert_paired()
    assert len(talk.results) == 3


async def test_calls_of_one_turn_are_made_in_order() -> None:
    made: list[object] = []
    talk = Talk(Playing([call(number, at=number) for number in range(5)], []), Doing(made.append))
    await talk.run()
    assert made == [{"at": number} for number in range(5)]
    assert told(talk) == ([f"call_{number}" for number in range(5)],) * 2


async def test_tool_that_fails_is_told_to_the_model_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: Mapping[str, object]) -> None:
        raise RuntimeError("/home/me/secret")

    talk = Talk(model := Playing([call(1), call(2, name="Absent")], [TextPart("sorry")]), Doing(fails))
    with caplog.at_level(logging.ERROR):
        assert await talk.run() == (Stop.END_TURN, "sorry")
    assert [(result.content, result.is_error) for result in talk.results] == [
        ("the tool failed; the server's log says why", True),
        ("there is no tool of this name in this session", True),
    ]
    assert "/home/me/secret" in caplog.text
    assert "/home/me/secret" not in body_of(model.requests[-1]).decode()


@pytest.mark.parametrize(
    ("streamed", "kept"),
    [
        ([], []),
        ([TextPart("a"), TextPart("b")], [AssistantMessage("ab")]),
        ([ReasoningPart("hm")], [AssistantMessage("", "hm")]),
        ([call()], []),
        ([TextPart("a"), call()], [AssistantMessage("a")]),
    ],
)
@pytest.mark.parametrize("ending", ["cancelled", "failed"])
async def test_turn_that_does_not_end_leaves_what_was_seen_and_no_call(
    streamed: list[Play], kept: list[AssistantMessage], ending: str
) -> None:
    reached = asyncio.Event()
    last: Play = NEVER() if ending == "cancelled" else ModelFailed("no answer")
    talk = Talk(Playing([*streamed, reached.set, last]), Doing())
    if ending == "cancelled":
        await cancelled(talk, reached)
    else:
        with pytest.raises(ModelFailed, match="no answer"):
            await talk.run()
    assert talk.messages[1:] == kept
    assert told(talk) == ([], [])
    assert talk.sent == []


async def test_cancel_in_a_call_answers_it_and_those_that_were_not_begun() -> None:
    tool = Doing(waits=NEVER())
    talk = Talk(Playing([call(1, name="Absent"), call(2), call(3), call(4)]), tool)
    await cancelled(talk, tool.began)
    talk.assert_paired()
    assert [result.content for result in talk.results[1:]] == [
        "interrupted before it ended",
        "not begun: the run ended before",
        "not begun: the run ended before",
    ]
    assert all(result.is_error for result in talk.results)
    assert told(talk) == (["call_1", "call_2"],) * 2


async def test_call_ids_that_a_model_uses_again_are_answered_each_time() -> None:
    tool = Doing()
    talk = Talk(Playing([call(1), call(1)], [call(1), call(1)]), tool)
    second = asyncio.Event()

    def does(_: object) -> str:
        if len(talk.results) == 2:
            tool.waits, tool.began = NEVER(), asyncio.Event()
            second.set()
        return "done"

    tool.does = does
    run = talk.run()
    await asyncio.wait_for(second.wait(), 5)
    await asyncio.wait_for(tool.began.wait(), 5)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    talk.assert_paired()
    assert [result.content for result in talk.results] == ["done", "done", "done", "interrupted before it ended"]


async def test_conversation_goes_on_after_a_cancel() -> None:
    tool = Doing(waits=NEVER())
    talk = Talk(model := Playing([call(1), call(2)], [TextPart("again")]), tool)
    await cancelled(talk, tool.began)
    talk.messages.append(UserMessage("more", "more"))
    assert await talk.run() == (Stop.END_TURN, "again")
    roles = [message["role"] for message in json.loads(body_of(model.requests[-1]))["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]


@pytest.mark.parametrize(
    ("mode", "remembered", "is_write", "result"),
    [
        (Mode.DEFAULT, False, False, "done"),
        (Mode.DEFAULT, False, True, "ask"),
        (Mode.DEFAULT, True, True, "done"),
        (Mode.ACCEPT_EDITS, False, True, "ask"),
        (Mode.PLAN, False, False, "done"),
        (Mode.PLAN, False, True, "refuse"),
        (Mode.PLAN, True, True, "refuse"),
    ],
)
async def test_permissions_are_asked_before_each_call(
    *, mode: Mode, remembered: bool, is_write: bool, result: str
) -> None:
    permissions = Permissions(mode)
    if remembered:
        assert permissions.learn("Do", Verdict.ALLOW_ALWAYS)
    talk = Talk(Playing([call()], []), Doing(is_write=is_write), permissions=permissions)
    await talk.run()
    assert talk.results[0].content == result


def test_only_what_is_allowed_for_good_is_remembered() -> None:
    permissions = Permissions()
    assert not permissions.learn("Do", Verdict.DENY)
    assert permissions.learn("Do", Verdict.ALLOW_ONCE)
    assert permissions.remembered == set()


HALF = "\ud83d"


async def test_halves_of_characters_are_replaced_before_anything_keeps_them() -> None:
    asked = ToolRequest(f"call{HALF}", f"Do{HALF}", {f"k{HALF}": [{"x": f"{HALF}\ude00"}, 1, None]})
    talk = Talk(
        model := Playing([TextPart(f"a{HALF}"), ReasoningPart(HALF), asked, call()], []), Doing(lambda _: f"out{HALF}")
    )
    await talk.run()
    assert talk.messages[1] == AssistantMessage(
        "a\ufffd", "\ufffd", (ToolRequest("call\ufffd", "Do\ufffd", {"k\ufffd": [{"x": "😀"}, 1, None]}), call())
    )
    assert [result.content for result in talk.results[1:]] == ["out\ufffd"]
    assert [event.text for event in talk.events if isinstance(event, TextStreamed)] == ["a\ufffd"]
    assert json.loads(body_of(model.requests[1]))["messages"][1]["content"] == "a\ufffd"


async def test_other_odd_characters_stay_as_they_are() -> None:
    odd = "\x00\x1b[31m\x7f\x85\u2028\u202e\ufeff\uffff\U000e0041👩‍👩‍👧"
    talk = Talk(Playing([TextPart(odd)]))
    assert await talk.run() == (Stop.END_TURN, odd)


async def test_each_turn_is_timed_and_counted() -> None:
    talk = Talk(Playing([call()], []), Doing())
    await talk.run()
    assert sum(isinstance(event, TurnStarted) for event in talk.events) == 2
    ends = [event for event in talk.events if isinstance(event, TurnEnded)]
    assert [(end.usage.input_tokens, end.duration_ms >= 0) for end in ends] == [(3, True)] * 2
