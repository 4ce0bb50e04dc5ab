"""When a session may be reloaded: the admission table, in its order."""

from server_stub.errors import FailedPrecondition, Reason, SessionLeasedElsewhere
from server_stub.sessions.lease import Leases
from server_stub.sessions.session import Session
from server_stub.sessions.state import SessionState


def admit_reload(session: Session) -> None:
    """Let a reload of this session pass, or say what of the session itself is in the way.

    Asked before the sources are resolved and again, under the session's lock, before the new engine is installed.

    Raises:
        FailedPrecondition: not a main session, a run is live, or it waits for an approval.
    """
    if not session.is_main:
        raise FailedPrecondition("only a main session can reload its skills", reason=Reason.NOT_MAIN_SESSION)
    admit_inactive(session, "then reload")


def admit_one_reload(session: Session) -> None:
    """Let no second reload of a session begin before the first has ended.

    Raises:
        FailedPrecondition: one is in flight.
    """
    if session.reload_in_flight:
        raise FailedPrecondition(
            "a reload of this session is already on its way; wait for its result", reason=Reason.RELOAD_IN_FLIGHT
        )


async def admit_lease(session: Session, leases: Leases) -> None:
    """Take the session's lease, or see that it is held. Asked last: whatever else refuses has then taken nothing.

    Raises:
        SessionLeasedElsewhere: another process holds it.
    """
    if not await leases.hold(session.session_id):
        raise SessionLeasedElsewhere


def admit_inactive(session: Session, what_then: str) -> None:
    """Let nothing pass while a run is live.

    Raises:
        FailedPrecondition: a run is live or waits for an approval; the error carries its id.
    """
    run = session.run
    run_id = run.run_id if run else ""
    if session.state is SessionState.AWAITING:
        raise FailedPrecondition(
            f"the session waits for an approval; answer it or cancel the run, {what_then}",
            reason=Reason.SESSION_AWAITING,
            run_id=run_id,
            ask_id=next(iter(run.asks), "") if run else "",
        )
    if run is not None or session.state.is_active:
        raise FailedPrecondition(
            f"a run is active in this session; wait for it or cancel it, {what_then}",
            reason=Reason.SESSION_RUNNING,
            run_id=run_id,
        )
