"""Places where a reload stands still until a test lets it go on, or lets it go wrong there."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from server_stub.engine.engine import Engine
from server_stub.engine.pin import Pin
from server_stub.skills.diagnostic import SourceFault
from server_stub.skills.resolve import Resolution
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.tier import Tier
from tests.support.parts import Workshop

_LONGEST_STOP = 60.0
"""Seconds; a test that forgets a stop ends all the same."""

_FAULT = SourceFault(Tier.EXPLICIT, "a folder", "cannot be read")


class Place(Enum):
    """Where a reload can stand, in the order in which it comes by."""

    LEASE = "before it asks for room, with nothing read"
    SOURCES = "with the folders read and nothing built"
    BUILD = "in the build of its engine"
    LOCK = "under the session's lock, before its swap"

    @property
    def has_read(self) -> bool:
        return self is not Place.LEASE


@dataclass
class Stop:
    """One stand-still. Once `go` is set the reload goes on; where it `fails`, with an error of that place."""

    place: Place
    fails: bool = False
    is_reached: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    passes: int = field(init=False)
    """How often the place is still passed by: the lease is asked for twice, the second time under the lock."""

    def __post_init__(self) -> None:
        self.passes = int(self.place is Place.LOCK)

    def let_go(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.go.set()


@dataclass
class Stops:
    """The parts of a server that a reload comes by. At most one stop is set; who reaches it first stands there."""

    stop: Stop | None = None

    def set(self, stop: Stop) -> None:
        assert self.stop is None, "the last stop was never reached"
        self.stop = stop

    def sources(self, resolve: Callable[[], Resolution]) -> Callable[[], Resolution]:
        """A resolution that stands still, or fails, after it has read the folders."""

        def resolved() -> Resolution:
            resolution = resolve()
            return replace(resolution, faults=(_FAULT,)) if self.fails_at(Place.SOURCES) else resolution

        return resolved

    async def hold(self, session_id: str) -> bool:
        """The leases: given, unless the stop fails."""
        del session_id
        if self.stop is None or self.stop.place not in {Place.LEASE, Place.LOCK}:
            return True
        return not await asyncio.to_thread(self.fails_at, self.stop.place)

    def fails_at(self, place: Place) -> bool:
        """Stand still where the stop is; then say whether to fail."""
        stop = self.stop
        if stop is None or stop.place is not place:
            return False
        if stop.passes:
            stop.passes -= 1
            return False
        self.stop = None
        stop.is_reached.set()
        assert stop.go.wait(_LONGEST_STOP)
        return stop.fails


@dataclass(frozen=True)
class StoppingWorkshop(Workshop):
    """A factory with a stop in each build."""

    stops: Stops = field(default_factory=Stops)

    def build(self, pin: Pin, snapshot: SkillSnapshot) -> Engine:
        if self.stops.fails_at(Place.BUILD):
            raise RuntimeError("the engine cannot be put together")
        return super().build(pin, snapshot)
