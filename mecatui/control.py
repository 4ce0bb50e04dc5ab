"""What the screen asks of whatever stands between it and a server, and of what makes that."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

from mecatui.session_events import SessionEvent

Emit = Callable[[SessionEvent], None]
"""Where events go; may be called from any thread."""


class Answer(StrEnum):
    """A person's answer to an ask."""

    ONCE = "allow_once"
    ALWAYS = "allow_always"
    DENY = "deny"


class ToolLine(NamedTuple):
    """One tool as the model is told of it."""

    name: str
    description: str


class RequestLine(NamedTuple):
    """One model request: its digest is of the bytes that left."""

    turn: int
    tools_sha256: str
    generation: int
    input_tokens: int
    cache_read_tokens: int


class ModelPage(NamedTuple):
    """What the model is told, and the proof that it did not move."""

    tools_sha256: str
    tools_bytes: int
    system_sha256: str
    tools: tuple[ToolLine, ...]
    requests: tuple[RequestLine, ...]


class AskedInVain(Exception):
    """The server could not answer; the text is a sentence for a person."""


class Control(Protocol):
    """One caller of one server. Each call ends in events; none raises, but those that return something."""

    async def open(self) -> None:
        """Begin a session and fetch what it offers."""
        ...

    async def fetch_inventory(self, session_id: str) -> None:
        """Fetch what a session offers for the first time."""
        ...

    async def prompt(self, session_id: str, text: str) -> None:
        """Run a prompt and tell of it until it ends."""
        ...

    async def approve(self, session_id: str, ask_id: str, answer: Answer) -> None:
        """Answer an ask."""
        ...

    async def cancel(self, session_id: str) -> None:
        """Stop the run."""
        ...

    async def reload(self, session_id: str, token: int) -> None:
        """Reload the skills, then fetch what the session offers."""
        ...

    async def refetch(self, session_id: str, token: int) -> None:
        """Fetch what the session offers once more."""
        ...

    async def clear(self, session_id: str) -> None:
        """Begin a new conversation and fetch what it offers."""
        ...

    async def model_page(self, session_id: str) -> ModelPage:
        """What the model is told.

        Raises:
            AskedInVain: no answer, or a refusal.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class Backend(Protocol):
    """A server to speak to. Its methods block and are called in a thread."""

    def connect(self, emit: Emit) -> Control:
        """Wait for the server and load the client.

        Raises:
            BackendUnavailable: there is no server to speak to.
        """
        ...

    def restart(self) -> None:
        """Start the server again, if it is ours and has ended.

        Raises:
            BackendUnavailable: it cannot be started.
        """
        ...

    def close(self) -> None:
        """End what was started; may be called again."""
        ...


class BackendUnavailable(Exception):
    """There is no server to speak to; the text says why and may hold the server's last words."""
