"""What can happen in a run: the part of the session's events that a prompt sets off."""

from typing import NamedTuple


class Usage(NamedTuple):
    """Tokens of one turn, or of several added up. `input_tokens` counts what no cache held."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
        )


class Ask(NamedTuple):
    """A run waits for a person to allow one tool call; `arguments` is indented JSON."""

    ask_id: str
    tool: str
    arguments: str = ""
    reason: str = ""


class PromptSent(NamedTuple):
    """A run was asked for."""

    session_id: str
    text: str


class PromptFailed(NamedTuple):
    """The run did not begin."""

    session_id: str
    text: str
    reason: str


class RunStarted(NamedTuple):
    """The server took the prompt."""

    session_id: str
    run_id: str


class TextAdded(NamedTuple):
    """More of the model's text."""

    session_id: str
    delta: str


class ReasoningAdded(NamedTuple):
    """More of the model's reasoning."""

    session_id: str
    delta: str


class ToolStarted(NamedTuple):
    """The model asked for a tool; `arguments` is indented JSON, `target` the one argument worth a title."""

    session_id: str
    call_id: str
    tool: str
    target: str = ""
    arguments: str = ""


class ToolFinished(NamedTuple):
    """A tool call has its result."""

    session_id: str
    call_id: str
    ok: bool
    content: str


class Asked(NamedTuple):
    """The run awaits an answer."""

    session_id: str
    ask: Ask


class AskClosed(NamedTuple):
    """An ask is no longer open: answered, or its run was cancelled."""

    session_id: str
    ask_id: str


class TurnEnded(NamedTuple):
    """A model call ended."""

    session_id: str
    usage: Usage


class RunEnded(NamedTuple):
    """The run is over; `stop` is the wire's word for why, `error` a sentence when it failed."""

    session_id: str
    stop: str
    error: str = ""


class RunLost(NamedTuple):
    """The stream of a run broke and its rest could not be had."""

    session_id: str
    reason: str


RunEvent = (
    PromptSent
    | PromptFailed
    | RunStarted
    | TextAdded
    | ReasoningAdded
    | ToolStarted
    | ToolFinished
    | Asked
    | AskClosed
    | TurnEnded
    | RunEnded
    | RunLost
)
"""The steps of a run."""
