"""What a run tells, event by event: one `data:` line of JSON each."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Discriminator, Field, JsonValue, Tag, TypeAdapter

from client.contract.base import Response, WireStrEnum


class Usage(Response):
    """Tokens of one turn, or of many added up."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class ToolCall(Response):
    """A model's wish to run a tool; `args` is what the model sent, decoded."""

    id: str = ""
    name: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict)


class ToolResult(Response):
    """What a tool gave back, as the model sees it."""

    call_id: str = ""
    content: str = ""
    is_error: bool = False


class Ask(Response):
    """A run waits for a person to allow one tool call."""

    ask_id: str = ""
    tool: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict)
    reason: str = ""


class Stop(WireStrEnum):
    """Why a run ended."""

    UNKNOWN = ""
    END_TURN = "end_turn"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_CONSECUTIVE_FAILURES = "max_consecutive_failures"
    BUDGET = "budget"
    NO_PROGRESS = "no_progress"
    CANCELLED = "cancelled"
    ERROR = "error"


class RunResult(Response):
    """How a run ended."""

    stop: Stop = Stop.UNKNOWN
    text: str = ""
    usage: Usage = Usage()
    error: str = ""


class _Event(Response):
    type: str = ""
    seq: int = 0
    """Monotonic within a run, from 1."""
    turn: int = 0

    def to_json(self) -> bytes:
        """The wire form. `type` is always there, although each class has one value for it."""
        rest = super().to_json()
        head = b'{"type":"%s"' % self.type.encode()
        return head + rest[1:] if rest == b"{}" else head + b"," + rest[1:]


class SessionInit(_Event):
    """A run began."""

    type: Literal["session.init"] = "session.init"
    session_id: str = ""
    run_id: str = ""


class TurnStart(_Event):
    """A model call began."""

    type: Literal["turn.start"] = "turn.start"


class TurnEnd(_Event):
    """A model call ended."""

    type: Literal["turn.end"] = "turn.end"
    usage: Usage = Usage()
    duration_ms: float = 0.0


class MessageDelta(_Event):
    """More of the model's text."""

    type: Literal["message.delta"] = "message.delta"
    text: str = ""


class ReasoningDelta(_Event):
    """More of the model's reasoning."""

    type: Literal["reasoning.delta"] = "reasoning.delta"
    text: str = ""


class ToolCalled(_Event):
    """The model asked for a tool."""

    type: Literal["tool.call"] = "tool.call"
    tool_call: ToolCall = ToolCall()


class ToolReturned(_Event):
    """A tool call has its result."""

    type: Literal["tool.result"] = "tool.result"
    tool_result: ToolResult = ToolResult()


class PermissionAsked(_Event):
    """The run is *awaiting* a person's answer."""

    type: Literal["permission.ask"] = "permission.ask"
    ask: Ask = Ask()


class PermissionRetracted(_Event):
    """An ask is no longer open: answered, or its run was cancelled."""

    type: Literal["permission.retract"] = "permission.retract"
    ask_id: str = ""


class RunEnded(_Event):
    """The last event of a run."""

    type: Literal["result"] = "result"
    result: RunResult = RunResult()


class TitleChanged(_Event):
    """The session has another title."""

    type: Literal["session.title"] = "session.title"
    title: str = ""


class SkillsReloaded(_Event):
    """A reload installed new skills. Transient: in no log and no replay."""

    type: Literal["session.skills"] = "session.skills"
    generation: int = 0


class UnknownEvent(_Event):
    """An event type of a newer server; read and passed over."""

    type: str = ""


KnownEvent = (
    SessionInit
    | TurnStart
    | TurnEnd
    | MessageDelta
    | ReasoningDelta
    | ToolCalled
    | ToolReturned
    | PermissionAsked
    | PermissionRetracted
    | RunEnded
    | TitleChanged
    | SkillsReloaded
)
"""The events of this version: a closed union, matched with `assert_never`."""

Event = KnownEvent | UnknownEvent
"""What a reader of a stream may meet."""

_KNOWN_TYPES = frozenset(kind.model_fields["type"].default for kind in get_args(KnownEvent))


def _tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", "")
    return kind if isinstance(kind, str) and kind in _KNOWN_TYPES else "?"


_AnyEvent = Annotated[
    Annotated[SessionInit, Tag("session.init")]
    | Annotated[TurnStart, Tag("turn.start")]
    | Annotated[TurnEnd, Tag("turn.end")]
    | Annotated[MessageDelta, Tag("message.delta")]
    | Annotated[ReasoningDelta, Tag("reasoning.delta")]
    | Annotated[ToolCalled, Tag("tool.call")]
    | Annotated[ToolReturned, Tag("tool.result")]
    | Annotated[PermissionAsked, Tag("permission.ask")]
    | Annotated[PermissionRetracted, Tag("permission.retract")]
    | Annotated[RunEnded, Tag("result")]
    | Annotated[TitleChanged, Tag("session.title")]
    | Annotated[SkillsReloaded, Tag("session.skills")]
    | Annotated[UnknownEvent, Tag("?")],
    Discriminator(_tag),
]

_EVENTS: TypeAdapter[Event] = TypeAdapter(_AnyEvent)


def event_from_json(data: bytes | str) -> Event:
    """Read one event.

    Raises:
        pydantic.ValidationError: not a JSON object, or a known field of a known type is wrong.
    """
    return _EVENTS.validate_json(data)


class StreamFault(Response):
    """The body of an `event: error`: the stream itself failed, not the run."""

    code: str = ""
    error: str = ""


class Phase(WireStrEnum):
    """Where a watched event comes from."""

    UNKNOWN = ""
    REPLAY = "replay"
    LIVE = "live"
    GAP = "gap"


class Watched(Response):
    """One event of `GET …/watch`, with the cursor to resume after it.

    A `gap` has no event: what lies before `cursor` is no longer kept.
    """

    event: _AnyEvent | None = None
    cursor: str = ""
    phase: Phase = Phase.UNKNOWN

    def to_json(self) -> bytes:
        """The wire form, the event within it as it would stand alone."""
        rest = self.model_copy(update={"event": None}).model_dump_json(exclude_defaults=True).encode()
        if self.event is None:
            return rest
        head = b'{"event":' + self.event.to_json()
        return head + rest[1:] if rest == b"{}" else head + b"," + rest[1:]
