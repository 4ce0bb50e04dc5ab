"""A session: one conversation, one owner, one pin, and the engine installed for it."""

import asyncio
import hashlib
from dataclasses import dataclass, field

from server_stub.engine.conversation import Message
from server_stub.engine.engine import Engine
from server_stub.engine.events import RunEvent
from server_stub.engine.loop import Sent
from server_stub.engine.models.model import TokenUsage
from server_stub.engine.permissions import Permissions
from server_stub.engine.pin import Pin
from server_stub.sessions.log import Entry, EventLog
from server_stub.sessions.run import Run
from server_stub.sessions.state import STEPS, SessionState
from server_stub.skills.snapshot import SkillSnapshot

_REQUESTS_KEPT = 200


@dataclass(frozen=True, slots=True)
class Title:
    """A session's title, and who gave it: `prompt` (its first one) or `user`."""

    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """One model request as the proof of the pin keeps it; the digest is of the bytes that left."""

    turn: int
    tools_sha256: str
    generation: int
    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class Installed:
    """What a session runs on. A reload makes the next one whole and installs it with one assignment."""

    engine: Engine
    generation: int = 1
    """The skills generation: 1 at the start, one more with each reload."""
    is_private: bool = False
    """Promoted: the engine is this session's own, not the shared default one."""
    previous: SkillSnapshot | None = None
    """The activation inventory that the last reload replaced."""

    @property
    def snapshot(self) -> SkillSnapshot:
        """The activation inventory."""
        return self.engine.snapshot


@dataclass(slots=True, eq=False)
class Session:
    """The mutable record of one session. It changes only on the event loop, and only through the service."""

    session_id: str
    owner: str
    pin: Pin
    installed: Installed
    log: EventLog
    created_at: float
    modified_at: float
    profile: str = ""
    is_main: bool = True
    """False for a child, scheduled or debug session: those cannot be reloaded."""
    permissions: Permissions = field(default_factory=Permissions)
    messages: list[Message] = field(default_factory=list)
    state: SessionState = SessionState.IDLE
    title: Title = field(default_factory=Title)
    usage: TokenUsage = field(default_factory=TokenUsage)
    turns: int = 0
    tool_calls: int = 0
    requests: list[RequestFacts] = field(default_factory=list)
    run: Run | None = None
    reload_in_flight: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held for the short steps that must not interleave: start a run, install an engine, delete."""
    is_released: bool = False
    """Its private engine is closed: the session is deleted, or the server stops."""

    def step(self, state: SessionState) -> None:
        """Move to another state; only the steps of the state machine are possible."""
        if state not in STEPS[self.state]:
            raise AssertionError(f"no step leads from {self.state} to {state}")
        self.state = state

    def emit(self, run: Run, event: RunEvent) -> None:
        """Log an event of a run, stamped with its place in it."""
        run.seq += 1
        self.log.append(Entry(event, run.seq, run.turn, run.run_id))

    def sent(self, sent: Sent) -> None:
        """Keep the facts of a model request that left."""
        self.usage += sent.usage
        digest = hashlib.sha256(sent.request.tools).hexdigest()
        self.requests.append(RequestFacts(sent.request.turn, digest, self.installed.generation, sent.usage))
        del self.requests[:-_REQUESTS_KEPT]
