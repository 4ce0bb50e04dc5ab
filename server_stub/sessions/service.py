"""Every use case of the server but the reload, in the domain's words: no HTTP, no wire types."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from server_stub.engine.engine import Engine
from server_stub.engine.expansion import ExpansionTable
from server_stub.engine.permissions import Mode, Permissions, Verdict
from server_stub.engine.pin import Pin
from server_stub.errors import (
    AskNotPending,
    Draining,
    EngineBuildFailed,
    InvalidArgument,
    NotFound,
    TooManySessions,
)
from server_stub.sessions.admission import admit_inactive, admit_lease
from server_stub.sessions.engines import Engines
from server_stub.sessions.lease import Leases
from server_stub.sessions.log import EventLog, Followed
from server_stub.sessions.run import Run
from server_stub.sessions.runs import Runs
from server_stub.sessions.session import Installed, Session, Title
from server_stub.sessions.store import SessionStore
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.text import clean_line, clip_graphemes

_log = logging.getLogger(__name__)

PROFILES = frozenset({"", "no-fs"})

_TITLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a listing is made of: the skills that names load, and what the model was told of."""

    snapshot: SkillSnapshot
    pin: Pin
    generation: int


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The limits that the service itself keeps."""

    sessions: int
    log_entries: int


class SessionService:
    """Sessions for their owners. Ownership is decided before any lock is taken, in the store alone."""

    def __init__(
        self,
        *,
        store: SessionStore,
        engines: Engines,
        leases: Leases,
        runs: Runs,
        ceilings: Ceilings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._engines = engines
        self._leases = leases
        self._runs = runs
        self._ceilings = ceilings
        self._clock = clock
        self._is_draining = False

    @property
    def model_name(self) -> str:
        """The model that new sessions get."""
        return self._engines.factory.model.name

    def take_work(self) -> None:
        """Let nothing new in once the server is about to stop.

        Raises:
            Draining: it is.
        """
        if self._is_draining:
            raise Draining

    async def create(self, caller: str, *, mode: Mode, profile: str, model: str) -> Session:
        """Begin a session on the start-up snapshot, whatever other sessions have reloaded since.

        Raises:
            InvalidArgument: no such profile, or a model that this server does not offer.
            TooManySessions: the server holds as many as it may.
        """
        if profile not in PROFILES:
            raise InvalidArgument("no such profile; leave it out, or give no-fs")
        if model not in {"", self.model_name}:
            raise InvalidArgument(f"this server offers the model {self.model_name} only; leave the model out")
        self._admit_one_more()
        session = self._new(caller, self._engines.default_pin(), Installed(self._engines.default))
        session.profile = profile
        session.permissions = Permissions(mode)
        self._store.add(session)
        return session

    async def clear(self, session_id: str, caller: str) -> Session:
        """Begin a session on this one's installed snapshot, advertised afresh; this one stays as it is.

        Raises:
            TooManySessions: the server holds as many as it may.
            TooManyEngines: it would need one private engine more than there may be.
            EngineBuildFailed: its engine could not be built.
            Draining: the server began to stop meanwhile.
        """
        parent = self.get(session_id, caller)
        self._admit_one_more()
        snapshot = parent.installed.snapshot
        if snapshot is self._engines.startup:
            session = self._new(caller, self._engines.default_pin(), Installed(self._engines.default))
        else:
            with self._engines.room_for(None) as seat:
                # In a thread: very many skills would hold up every stream of the server.
                pin, engine = await asyncio.to_thread(self._advertised_afresh, snapshot)
                try:
                    self.take_work()
                    self._admit_one_more()
                except (Draining, TooManySessions):
                    await engine.close()
                    raise
                session = self._new(caller, pin, Installed(engine, is_private=True))
                seat.keep()
        session.profile = parent.profile
        session.permissions = Permissions(parent.permissions.mode)
        self._store.add(session)
        return session

    def _admit_one_more(self) -> None:
        if len(self._store) >= self._ceilings.sessions:
            raise TooManySessions("this server holds as many sessions as it may; delete one")

    def _advertised_afresh(self, snapshot: SkillSnapshot) -> tuple[Pin, Engine]:
        try:
            pin = self._engines.factory.pin(snapshot)
            return pin, self._engines.build(pin, snapshot)
        except Exception as failed:  # whatever an assembly step raises, the parent stays as it is
            _log.exception("clear: the engine could not be built")
            raise EngineBuildFailed(
                "the new session's skills could not be put together; this one stays; see the server's log"
            ) from failed

    def _new(self, caller: str, pin: Pin, installed: Installed) -> Session:
        now = self._clock()
        log = EventLog(self._ceilings.log_entries)
        return Session(secrets.token_hex(16), caller, pin, installed, log, created_at=now, modified_at=now)

    def get(self, session_id: str, caller: str) -> Session:
        """The caller's session."""
        return self._store.owned(session_id, caller)

    def sessions(self, caller: str) -> list[Session]:
        """The caller's sessions, latest change first."""
        return self._store.of(caller)

    def rename(self, session_id: str, caller: str, title: str) -> Session:
        """Give a session a title of the user's choice, made harmless and at most 200 characters long.

        Raises:
            InvalidArgument: nothing of it can be seen.
        """
        session = self.get(session_id, caller)
        text = clip_graphemes(clean_line(title), _TITLE_CHARACTERS)
        if not any(character.isprintable() and not character.isspace() for character in text):
            raise InvalidArgument("a title needs at least one visible character")
        session.title = Title(text, "user")
        return session

    def set_mode(self, session_id: str, caller: str, mode: Mode) -> Session:
        """Change what the agent may do unasked; the tools array stays, plan mode refuses at the call."""
        session = self.get(session_id, caller)
        session.permissions.mode = mode
        return session

    async def delete(self, session_id: str, caller: str) -> None:
        """End the session's run, if it has one, and forget the session."""
        session = self.get(session_id, caller)
        self._store.remove(session)
        async with session.lock:
            if session.run is not None:
                await self._runs.cancel(session)
            await self._engines.release(session)
        session.log.close()

    async def prompt(self, session_id: str, caller: str, text: str) -> tuple[Session, Run]:
        """Begin a run.

        Raises:
            InvalidArgument: there is no text.
            FailedPrecondition: a run is active already.
            SessionLeasedElsewhere: another process holds the session.
            Draining: the server began to stop meanwhile.
        """
        self.get(session_id, caller)
        if not text.strip():
            raise InvalidArgument("the prompt is empty; write something")
        session = self.get(session_id, caller)
        async with session.lock:
            self.get(session_id, caller)
            admit_inactive(session, "then send")
            await admit_lease(session, self._leases)
            # In a thread, since the files bundled with a skill are looked up on disk.
            expansion = await asyncio.to_thread(session.installed.engine.expansions.expand, text)
            self.take_work()
            return session, self._runs.start(session, expansion.text if expansion else text, text)

    def follow(self, session_id: str, caller: str, cursor: int) -> AsyncGenerator[list[Followed]]:
        """The session's events from a cursor on, replayed and then live."""
        return self.get(session_id, caller).log.follow(cursor)

    async def cancel(self, session_id: str, caller: str) -> None:
        """End the session's live run.

        Raises:
            NoActiveRun: there is none.
        """
        await self._runs.cancel(self.get(session_id, caller))

    def approve(self, session_id: str, caller: str, ask_id: str, verdict: Verdict) -> None:
        """Answer an open ask.

        Raises:
            AskNotPending: it is not open in this session.
        """
        run = self.get(session_id, caller).run
        if run is None:
            raise AskNotPending
        run.answer(ask_id, verdict)

    def inventory(self, caller: str, session_id: str = "") -> Inventory:
        """What to list: a session's skills, or without one the start-up snapshot."""
        if not session_id:
            return Inventory(self._engines.startup, self._engines.default_pin(), 1)
        session = self.get(session_id, caller)
        return Inventory(session.installed.snapshot, session.pin, session.installed.generation)

    def expansions(self, caller: str, session_id: str = "") -> ExpansionTable:
        """The names that a session resolves, or without one those of the start."""
        if not session_id:
            return self._engines.default.expansions
        return self.get(session_id, caller).installed.engine.expansions

    def skill(self, session_id: str, caller: str, name: str, *, previous: bool) -> Skill:
        """One skill of a session, from its current inventory or the one before the last reload.

        Raises:
            NotFound: no skill of this name is in it.
        """
        installed = self.get(session_id, caller).installed
        snapshot = installed.previous if previous else installed.snapshot
        skill = snapshot.find(name) if snapshot is not None else None
        if skill is None:
            raise NotFound("no skill of this name is in this session's inventory; list the skills")
        return skill

    async def drain(self) -> None:
        """Take no more work, end what runs, and let go of everything."""
        self._is_draining = True
        for session in self._store.everyone():
            if session.run is not None:
                await self._runs.cancel(session)
            session.log.close()
            await self._engines.release(session)
