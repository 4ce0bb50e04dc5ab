"""The reload of one inactive session's skills: check, resolve, build, check again, swap.

Everything before the swap may fail and leaves the session exactly as it was; nothing after it can fail. The work
is done outside the session's lock and off the event loop, so a prompt that arrives meanwhile is never held up:
it wins, and the second check refuses the reload.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from server_stub.engine.engine import Engine
from server_stub.engine.events import SkillsInstalled
from server_stub.errors import EngineBuildFailed, FailedPrecondition, Reason, SourceUnavailable
from server_stub.sessions.admission import admit_lease, admit_one_reload, admit_reload
from server_stub.sessions.engines import Engines
from server_stub.sessions.lease import Leases
from server_stub.sessions.session import Installed, Session
from server_stub.sessions.store import SessionStore
from server_stub.skills.difference import difference
from server_stub.skills.resolve import Resolution
from server_stub.skills.snapshot import SkillSnapshot

_log = logging.getLogger(__name__)

_GRACE_SECONDS = 2.0
"""How much longer than its own deadline a resolution may take before it is given up as hung."""


class ReloadStatus(StrEnum):
    """What a reload found."""

    RELOADED = "reloaded"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class ReloadReport:
    """The answer of a reload: a status and counts, whatever the inventory holds."""

    status: ReloadStatus
    generation: int
    skills: int
    added: int
    changed: int
    removed: int
    skipped: int
    shadowed: int


class SkillReload:
    """Carries reloads out.

    `resolve` is the composition's own resolution, the same that start-up used; `take_work` raises `Draining` once
    the server is about to stop.
    """

    def __init__(
        self,
        *,
        store: SessionStore,
        engines: Engines,
        leases: Leases,
        resolve: Callable[[], Resolution],
        workers: Executor,
        deadline_seconds: float,
        take_work: Callable[[], None],
    ) -> None:
        self._store = store
        self._engines = engines
        self._leases = leases
        self._resolve = resolve
        self._workers = workers
        self._deadline = deadline_seconds + _GRACE_SECONDS
        self._take_work = take_work

    async def reload_session_skills(self, session_id: str, caller: str) -> ReloadReport:
        """Reload the skills of the caller's session.

        Raises:
            SessionNotFound: absent, or not the caller's.
            FailedPrecondition: running, awaiting, already reloading, or not a main session.
            SessionLeasedElsewhere: another process holds it.
            TooManyEngines: it would need one private engine more than there may be.
            SourceUnavailable: a configured source could not be read in time.
            EngineBuildFailed: the next engine could not be built.
            Draining: the server began to stop meanwhile.
        """
        session = self._store.owned(session_id, caller)
        admit_reload(session)
        with _in_flight(session):
            return await self._reload(session, caller)

    async def _reload(self, session: Session, caller: str) -> ReloadReport:
        await admit_lease(session, self._leases)
        with self._engines.room_for(session) as seat:
            began_from = session.installed.engine
            snapshot = await self._resolved()
            engine = await self._built(session, snapshot)
            async with session.lock:
                try:
                    self._store.owned(session.session_id, caller)
                    admit_reload(session)
                    await admit_lease(session, self._leases)
                    _admit_same_engine(session, began_from)
                    self._take_work()
                except BaseException:
                    await engine.close()
                    raise
                replaced, session.installed = session.installed, _next(session.installed, engine)
                seat.keep()
        session.log.tell(SkillsInstalled(session.installed.generation))
        if replaced.is_private:
            await replaced.engine.close()
        return _report(replaced, session.installed)

    async def _resolved(self) -> SkillSnapshot:
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._workers, self._resolve)
        try:
            resolution = await asyncio.wait_for(work, self._deadline)
        except TimeoutError as late:
            _log.warning("reload: the resolution did not end within %.0f s", self._deadline)
            raise SourceUnavailable(
                "the skill folders could not be read in time; the skills loaded before still work; try again"
            ) from late
        if resolution.faults:
            for fault in resolution.faults:
                _log.warning("reload: %s skills: %s (%s)", fault.origin, fault.reason, fault.label)
            tiers = " and ".join(sorted({str(fault.origin) for fault in resolution.faults}))
            raise SourceUnavailable(
                f"the {tiers} skills could not be read; the skills loaded before still work; "
                "make the folder readable, or wait until it is back, then reload"
            )
        return resolution.snapshot

    async def _built(self, session: Session, snapshot: SkillSnapshot) -> Engine:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._workers, self._engines.build, session.pin, snapshot)
        except Exception as failed:  # whatever an assembly step raises, the installed engine stays
            _log.exception("reload: the engine could not be built")
            raise EngineBuildFailed(
                "the new skills could not be put together; the skills loaded before still work; see the server's log"
            ) from failed


@contextmanager
def _in_flight(session: Session) -> Iterator[None]:
    admit_one_reload(session)
    session.reload_in_flight = True
    try:
        yield
    finally:
        session.reload_in_flight = False


def _admit_same_engine(session: Session, began_from: Engine) -> None:
    if session.installed.engine is not began_from:
        raise FailedPrecondition(
            "the session's engine was replaced meanwhile; reload again", reason=Reason.RELOAD_IN_FLIGHT
        )


def _next(current: Installed, engine: Engine) -> Installed:
    return Installed(engine, current.generation + 1, is_private=True, previous=current.snapshot)


def _report(before: Installed, after: Installed) -> ReloadReport:
    counts = difference(before.snapshot, after.snapshot)
    is_same = not (counts.added or counts.changed or counts.removed)
    return ReloadReport(
        status=ReloadStatus.UNCHANGED if is_same else ReloadStatus.RELOADED,
        generation=after.generation,
        skills=len(after.snapshot.skills),
        added=counts.added,
        changed=counts.changed,
        removed=counts.removed,
        skipped=len(after.snapshot.skipped),
        shadowed=len(after.snapshot.shadowed),
    )
