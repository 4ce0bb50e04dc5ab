"""A conversation: the messages that a model is shown, in order, never rewritten."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person sent. `typed` is what stood in the prompt, `text` what it expanded to."""

    text: str
    typed: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A model's wish to run a tool."""

    call_id: str
    name: str
    args: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What a model answered in one turn."""

    text: str
    reasoning: str = ""
    tool_requests: tuple[ToolRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """What a tool gave back, as the model is shown it."""

    call_id: str
    content: str
    is_error: bool = False


Message = UserMessage | AssistantMessage | ToolMessage
"""One entry of a conversation: a closed union."""
