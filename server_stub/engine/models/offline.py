"""The offline model: no key, no network, the same answer every time.

It says which skill texts it was given, plays scripts, and counts a prompt cache as a provider would: the tokens
of the longest prefix that it has already seen in the same session.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import assert_never

from server_stub.engine.conversation import Message, ToolMessage, ToolRequest, UserMessage
from server_stub.engine.models import script
from server_stub.engine.models.model import (
    ModelEvent,
    ModelFailed,
    ModelRequest,
    ReasoningPart,
    TextPart,
    TokenUsage,
    TurnDone,
)
from server_stub.engine.models.recorder import Recorder, body_of
from server_stub.engine.models.report import describe
from server_stub.engine.tools.offline_action import TOOL_NAME as OFFLINE_ACTION

_BYTES_A_TOKEN = 4
_CALL_BYTES = 40
_CHUNK = 24
_LOOK_AGAIN_SECONDS = 0.01
_SESSIONS_REMEMBERED = 256
_BY_NAME = re.compile(r"\b(?:use|load|run|call) (?:the )?skill [`\"']?([^\s`\"',;]+)", re.IGNORECASE)


class OfflineModel:
    """A `Model` that answers from a script, or else by saying what it was given."""

    name = "offline"
    dialect = "offline"

    def __init__(self, plays: script.Script | None = None, recorder: Recorder | None = None) -> None:
        self._script = plays or script.Script()
        self._recorder = recorder
        self._seen: dict[str, bytes] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Answer one request."""
        body = body_of(request)
        if self._recorder is not None:
            self._recorder.record(request, body)
        read, new = self._count(request.session_id, body)
        written = 0
        async with aclosing(self._answer(request)) as events:
            async for event in events:
                written += _weight(event)
                yield event
        yield TurnDone(TokenUsage(new, max(1, written // _BYTES_A_TOKEN), read, new))

    def _count(self, session_id: str, body: bytes) -> tuple[int, int]:
        """Tokens of this body that a prompt cache would have held, and those that are new to it."""
        before = self._seen.pop(session_id, b"")
        self._seen[session_id] = body
        while len(self._seen) > _SESSIONS_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        shared = _common_prefix(before, body)
        return shared // _BYTES_A_TOKEN, (len(body) - shared) // _BYTES_A_TOKEN

    async def _answer(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        asked, turn = _position(request.messages)
        steps = self._script.steps(asked.text if asked else "", turn)
        if steps is None:
            for said in _by_itself(request, asked, turn):
                yield said
            return
        for index, step in enumerate(steps):
            async with aclosing(_play(step, f"call_{len(request.messages)}_{index}")) as events:
                async for event in events:
                    yield event


def _weight(event: ModelEvent) -> int:
    """How many bytes of output an event counts for."""
    match event:
        case TextPart(text=text) | ReasoningPart(text=text):
            return len(text.encode())
        case ToolRequest():
            return _CALL_BYTES
        case TurnDone():
            return 0
        case _:
            assert_never(event)


def _common_prefix(one: bytes, other: bytes) -> int:
    """Length of the longest common prefix, by halving: each comparison is one memcmp."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _position(messages: tuple[Message, ...]) -> tuple[UserMessage | None, int]:
    """The last user message, and how many model turns have answered it already."""
    turns = 0
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return message, turns
        if not isinstance(message, ToolMessage):
            turns += 1
    return None, turns


def _by_itself(request: ModelRequest, asked: UserMessage | None, turn: int) -> Iterator[ModelEvent]:
    named = _BY_NAME.search(asked.typed) if asked and turn == 0 else None
    if named:
        yield TextPart(f"Loading the skill `{named[1]}`.\n")
        yield ToolRequest(f"call_{len(request.messages)}", "Skill", {"name": named[1]})
        return
    answer = describe(request.messages)
    for start in range(0, len(answer), _CHUNK):
        yield TextPart(answer[start : start + _CHUNK])


async def _play(step: script.Step, call_id: str) -> AsyncGenerator[ModelEvent]:
    match step:
        case script.Text(text=text, chunk=chunk):
            for start in range(0, len(text), chunk or len(text) or 1):
                yield TextPart(text[start : start + (chunk or len(text))])
                await asyncio.sleep(0)
        case script.Reasoning(reasoning=text):
            yield ReasoningPart(text)
        case script.Call(tool=tool, args=args):
            yield ToolRequest(call_id, tool, args)
        case script.AskFor(ask=label):
            yield ToolRequest(call_id, OFFLINE_ACTION, {"label": label})
        case script.Pause(pause=seconds):
            await asyncio.sleep(seconds)
        case script.WaitFor(wait_for=path):
            while not path.exists():  # noqa: ASYNC110 - nothing tells of a new file
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        case script.Fail(fail=message):
            raise ModelFailed(message)
        case _:
            assert_never(step)
