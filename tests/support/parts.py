"""Parts of a server that a test can hold, break and look at; everything else about it is real."""

import asyncio
import threading
from dataclasses import dataclass, field, fields

from server_stub.engine.conversation import Message
from server_stub.engine.engine import Engine
from server_stub.engine.factory import EngineFactory
from server_stub.engine.models.model import ModelRequest
from server_stub.engine.models.offline import OfflineModel
from server_stub.engine.models.recorder import Recorder
from server_stub.engine.models.script import Script
from server_stub.engine.pin import Pin
from server_stub.engine.tools.offline_action import OfflineAction
from server_stub.skills.snapshot import SkillSnapshot
from tests.support.local import DEADLINE

SECRET = "/secret/place/engine.py"


@dataclass(frozen=True)
class NotedEngine(Engine):
    """An engine that notes when it is closed, and serves no run afterwards."""

    closed: list[Engine] = field(default_factory=list, repr=False, compare=False)

    def request(self, session_id: str, turn: int, messages: list[Message]) -> ModelRequest:
        assert not any(one is self for one in self.closed), "a run uses an engine that was closed"
        return super().request(session_id, turn, messages)

    async def close(self) -> None:
        self.closed.append(self)


@dataclass(frozen=True)
class Workshop(EngineFactory):
    """A factory whose builds can be made to fail, or one of them to wait."""

    breaks: threading.Event = field(default_factory=threading.Event)
    """While set, a build raises."""
    holds: threading.Event = field(default_factory=threading.Event)
    """Once set, the next build waits for `go`, and says that it does by `is_held`."""
    is_held: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    built: list[NotedEngine] = field(default_factory=list)
    closed: list[Engine] = field(default_factory=list)

    @classmethod
    def of(cls, script: Script | None = None, recorder: Recorder | None = None) -> "Workshop":
        return cls(
            model=OfflineModel(script, recorder), base_tools=(OfflineAction(),), command_files=(), system="Be brief."
        )

    def build(self, pin: Pin, snapshot: SkillSnapshot) -> Engine:
        if self.breaks.is_set():
            raise RuntimeError(f"no tool of this name in {SECRET}")
        if self.holds.is_set():
            self.holds.clear()
            self.is_held.set()
            assert self.go.wait(DEADLINE)
        plain = super().build(pin, snapshot)
        engine = NotedEngine(**{one.name: getattr(plain, one.name) for one in fields(Engine)}, closed=self.closed)
        self.built.append(engine)
        return engine

    async def until_held(self) -> None:
        """Wait until a build waits."""
        assert await asyncio.to_thread(self.is_held.wait, DEADLINE)


@dataclass
class LeaseDesk:
    """Leases that are given as long as the test says so."""

    is_ours: bool = True
    asked: list[str] = field(default_factory=list)
    waits: asyncio.Event | None = None
    """Where set, an answer waits for it."""

    async def hold(self, session_id: str) -> bool:
        self.asked.append(session_id)
        if self.waits is not None:
            await self.waits.wait()
        return self.is_ours
