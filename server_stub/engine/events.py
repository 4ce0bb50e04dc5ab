"""What a run tells of itself while it goes on; the session stamps each event with its place."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from server_stub.engine.conversation import ToolRequest
from server_stub.engine.models.model import TokenUsage


class Stop(StrEnum):
    """Why a run ended."""

    END_TURN = "end_turn"
    MAX_TURNS = "max_turns"
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A prompt was accepted."""

    run_id: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A model call began."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A model call ended."""

    usage: TokenUsage
    duration_ms: float


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningStreamed:
    """More of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asked for a tool."""

    request: ToolRequest


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool call has its result."""

    call_id: str
    content: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The run waits for a person."""

    ask_id: str
    tool: str
    args: Mapping[str, object]
    reason: str


@dataclass(frozen=True, slots=True)
class Retracted:
    """An ask is closed: answered, or its run was cancelled."""

    ask_id: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event of a run."""

    stop: Stop
    text: str
    usage: TokenUsage
    error: str = ""


@dataclass(frozen=True, slots=True)
class TitleGiven:
    """The session has another title."""

    title: str


@dataclass(frozen=True, slots=True)
class SkillsInstalled:
    """A reload installed a new generation. Told to watchers, kept in no log."""

    generation: int


RunEvent = (
    RunStarted
    | TurnStarted
    | TurnEnded
    | TextStreamed
    | ReasoningStreamed
    | ToolCalled
    | ToolReturned
    | Asked
    | Retracted
    | RunFinished
    | TitleGiven
    | SkillsInstalled
)
"""The events of a session: a closed union."""
