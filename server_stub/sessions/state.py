"""Where a session stands, and which steps lead from where to where."""

from enum import StrEnum


class SessionState(StrEnum):
    """A session's state. All but *running* and *awaiting* are inactive."""

    IDLE = "idle"
    RUNNING = "running"
    AWAITING = "awaiting"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_active(self) -> bool:
        """A run holds the session."""
        return self in {SessionState.RUNNING, SessionState.AWAITING}


_ENDED = frozenset({SessionState.COMPLETED, SessionState.CANCELLED, SessionState.FAILED})

STEPS: dict[SessionState, frozenset[SessionState]] = {
    SessionState.IDLE: frozenset({SessionState.RUNNING}),
    SessionState.RUNNING: _ENDED | {SessionState.AWAITING},
    SessionState.AWAITING: _ENDED | {SessionState.RUNNING},
    SessionState.COMPLETED: frozenset({SessionState.RUNNING}),
    SessionState.CANCELLED: frozenset({SessionState.RUNNING}),
    SessionState.FAILED: frozenset({SessionState.RUNNING}),
}
"""The state machine, whole. A reload is no step: it leaves the state as it is."""
