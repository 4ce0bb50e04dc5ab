"""What a fault of our own puts an end to."""

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.session_view import Activity, ReloadStep, SessionView


def after_fault(view: SessionView, fault: str) -> list[ev.SessionEvent]:
    """The events that let the session go on: nothing waits for an answer that will not come."""
    reason = f"internal fault {fault}"
    ends: list[ev.SessionEvent] = []
    if view.activity is not Activity.IDLE:
        ends.append(runs.RunLost(view.session_id, reason))
    if view.reload is ReloadStep.SENT:
        ends.append(ev.ReloadFailed(view.session_id, view.reload_token, reason, uncertain=True))
    if view.reload is ReloadStep.REFETCHING:
        ends.append(ev.RefetchFailed(view.session_id, view.reload_token, reason))
    if view.clearing:
        ends.append(ev.ClearFailed(view.session_id, reason))
    return ends
