"""The run loop: model call, tool calls, model call, until the model has nothing more to ask for."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from server_stub.engine.conversation import AssistantMessage, Message, ToolMessage, ToolRequest
from server_stub.engine.engine import Engine
from server_stub.engine.events import (
    ReasoningStreamed,
    RunEvent,
    Stop,
    TextStreamed,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from server_stub.engine.models.model import ModelRequest, ReasoningPart, TextPart, TokenUsage, TurnDone
from server_stub.engine.pin import Pin
from server_stub.engine.sound import sound_request, sound_text
from server_stub.engine.tools.tool import Tool, ToolOutput

_log = logging.getLogger(__name__)

_INTERRUPTED = ToolOutput("interrupted before it ended", is_error=True)
_NOT_BEGUN = "not begun: the run ended before"


class Gate(Protocol):
    """Decides, with a person where needed, whether a call may run."""

    async def admit(self, tool: Tool, request: ToolRequest) -> ToolOutput | None:
        """None when the call may run, otherwise the refusal that the model is shown."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """One model request that left, with the tools bytes that it carried."""

    request: ModelRequest
    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run needs of its session. The loop writes only through these."""

    session_id: str
    engine: Engine
    pin: Pin
    messages: list[Message]
    gate: Gate
    emit: Callable[[RunEvent], None]
    next_turn: Callable[[], int]
    """Numbers the session's model calls, from 1."""
    sent: Callable[[Sent], None]
    turns: int
    """Model calls that this run may make."""


@dataclass(slots=True)
class _Answer:
    """What has been streamed of one turn."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    requests: list[ToolRequest] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)

    def message(self) -> AssistantMessage:
        return AssistantMessage("".join(self.text), "".join(self.reasoning), tuple(self.requests))

    @property
    def partial(self) -> AssistantMessage | None:
        """What a person has seen of a turn that did not end; its requests were never called."""
        if not self.text and not self.reasoning:
            return None
        return AssistantMessage("".join(self.text), "".join(self.reasoning))


async def run_turns(context: RunContext) -> tuple[Stop, str]:
    """Run until the model ends its turn or the limit is reached; gives the reason and the last text.

    The conversation is whole at every await: a message that was begun is added even when the run is cancelled
    under it, and each tool request in it gets a result.

    Raises:
        ModelFailed: the model did not answer.
        PinViolated: the tools bytes moved; nothing was sent.
    """
    for _ in range(context.turns):
        answer = await _turn(context)
        if not answer.tool_requests:
            return Stop.END_TURN, answer.text
        with _all_answered(context, answer):
            for request in answer.tool_requests:
                await _call(context, request)
    return Stop.MAX_TURNS, ""


async def _turn(context: RunContext) -> AssistantMessage:
    request = context.engine.request(context.session_id, context.next_turn(), context.messages)
    context.pin.check(context.engine.model.dialect, context.engine.tools, request.tools)
    context.emit(TurnStarted())
    began = time.perf_counter()
    answer = _Answer()
    try:
        async with aclosing(context.engine.model.stream(request)) as events:
            async for event in events:
                match event:
                    case TextPart(text=text):
                        answer.text.append(sound_text(text))
                        context.emit(TextStreamed(answer.text[-1]))
                    case ReasoningPart(text=text):
                        answer.reasoning.append(sound_text(text))
                        context.emit(ReasoningStreamed(answer.reasoning[-1]))
                    case ToolRequest():
                        answer.requests.append(sound_request(event))
                    case TurnDone(usage=usage):
                        answer.usage = usage
                    case _:
                        assert_never(event)
    except BaseException:
        if answer.partial:
            context.messages.append(answer.partial)
        raise
    message = answer.message()
    context.messages.append(message)
    context.sent(Sent(request, answer.usage))
    context.emit(TurnEnded(answer.usage, (time.perf_counter() - began) * 1000))
    return message


@contextmanager
def _all_answered(context: RunContext, answer: AssistantMessage) -> Iterator[None]:
    """On the way out, give each request that has no result one that says so.

    Results stand in the order of the requests, so their number tells which are missing; call ids need not be unique.
    """
    start = len(context.messages)
    try:
        yield
    finally:
        for request in answer.tool_requests[len(context.messages) - start :]:
            context.messages.append(ToolMessage(request.call_id, _NOT_BEGUN, is_error=True))


async def _call(context: RunContext, request: ToolRequest) -> None:
    """Make one call. Whatever ends it, a call that was told has a result that is told."""
    context.emit(ToolCalled(request))
    output = _INTERRUPTED
    try:
        output = await _output(context, request)
    finally:
        content = sound_text(output.content)
        context.messages.append(ToolMessage(request.call_id, content, output.is_error))
        context.emit(ToolReturned(request.call_id, content, output.is_error))


async def _output(context: RunContext, request: ToolRequest) -> ToolOutput:
    tool = context.engine.catalog.get(request.name)
    if tool is None:
        return ToolOutput("there is no tool of this name in this session", is_error=True)
    refusal = await context.gate.admit(tool, request)
    if refusal is not None:
        return refusal
    try:
        return await tool.run(request.args)
    except Exception:  # noqa: BLE001 - a fault of one tool is no reason to end the run
        _log.exception("the tool %s failed", request.name)
        return ToolOutput("the tool failed; the server's log says why", is_error=True)
