"""The seam between the run loop and whatever answers: one method, one request, a closed union of events."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from server_stub.engine.conversation import Message, ToolRequest


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one turn, or of many added up."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """All that a model is shown in one turn. `tools` are the bytes of the tools member as they will leave."""

    session_id: str
    turn: int
    tools: bytes
    system: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class TextPart:
    """More of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """More of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The turn is over; always the last event."""

    usage: TokenUsage


ModelEvent = TextPart | ReasoningPart | ToolRequest | TurnDone
"""What a model streams: a closed union."""


class ModelFailed(Exception):
    """The model could not answer; the text says why and what can be done, and is fit for a person."""


class Model(Protocol):
    """Something that answers a conversation."""

    @property
    def name(self) -> str:
        """What sessions show as their model, such as `offline`."""
        ...

    @property
    def dialect(self) -> str:
        """The wire dialect that fixes how tools are serialised."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Answer one request.

        Raises:
            ModelFailed: no answer, or none that is whole.
        """
        ...
