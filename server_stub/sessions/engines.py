"""The engines of one process: the shared default one, and a bounded number of private ones."""

from collections.abc import Iterator
from contextlib import contextmanager

from server_stub.engine.engine import Engine
from server_stub.engine.factory import EngineFactory
from server_stub.engine.pin import Pin
from server_stub.errors import TooManyEngines
from server_stub.sessions.session import Session
from server_stub.skills.snapshot import SkillSnapshot


class Engines:
    """Hands out the default engine, counts the private ones, and makes new ones."""

    def __init__(self, factory: EngineFactory, startup: SkillSnapshot, limit: int) -> None:
        self.factory = factory
        self.startup = startup
        self._default_pin = factory.pin(startup)
        self.default = factory.build(self._default_pin, startup)
        self._limit = limit
        self._private = 0

    def default_pin(self) -> Pin:
        """The start-up snapshot, advertised: a pin of its own for each session, over the same bytes."""
        return Pin(self._default_pin.tools, self._default_pin.advertised, self._default_pin.notices)

    def build(self, pin: Pin, snapshot: SkillSnapshot) -> Engine:
        """Assemble an engine; slow enough for a worker thread."""
        return self.factory.build(pin, snapshot)

    @contextmanager
    def room_for(self, session: Session | None) -> Iterator["Seat"]:
        """A place for the private engine that `session` (or a new one, when None) is about to have.

        A session that has a private engine keeps its place. The place is given back unless it was kept.

        Raises:
            TooManyEngines: the limit is reached.
        """
        seat = Seat(is_new=session is None or not session.installed.is_private)
        if seat.is_new:
            if self._private >= self._limit:
                raise TooManyEngines(
                    "this server holds as many reloaded sessions as it may; delete one, or restart the server"
                )
            self._private += 1
        try:
            yield seat
        finally:
            if seat.is_new and not seat.is_kept:
                self._private -= 1

    async def release(self, session: Session) -> None:
        """Close the engine of a session that is going, when it is its own; once, whoever else lets it go too."""
        if session.installed.is_private and not session.is_released:
            session.is_released = True
            self._private -= 1
            await session.installed.engine.close()


class Seat:
    """The place of one private engine."""

    def __init__(self, *, is_new: bool) -> None:
        self.is_new = is_new
        self.is_kept = False

    def keep(self) -> None:
        """The engine is installed: its place is taken for good."""
        self.is_kept = True
