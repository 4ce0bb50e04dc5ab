"""Where sessions are kept."""

from collections.abc import Iterable
from typing import Protocol

from server_stub.errors import SessionNotFound
from server_stub.sessions.session import Session


class SessionStore(Protocol):
    """Finds sessions for their owners. Absent and foreign are one answer, given in one place."""

    def add(self, session: Session) -> None:
        """Keep a new session."""
        ...

    def owned(self, session_id: str, caller: str) -> Session:
        """The caller's session of this id.

        Raises:
            SessionNotFound: there is none, or it is somebody else's.
        """
        ...

    def of(self, caller: str) -> list[Session]:
        """The caller's sessions, latest change first."""
        ...

    def remove(self, session: Session) -> None:
        """Forget a session."""
        ...

    def everyone(self) -> Iterable[Session]:
        """All sessions, for shutting down."""
        ...

    def __len__(self) -> int: ...


class MemoryStore:
    """Keeps sessions as long as the process lives."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def add(self, session: Session) -> None:
        """Keep a new session."""
        self._sessions[session.session_id] = session

    def owned(self, session_id: str, caller: str) -> Session:
        """The caller's session of this id; the one place that decides on ownership."""
        session = self._sessions.get(session_id)
        if session is None or session.owner != caller:
            raise SessionNotFound
        return session

    def of(self, caller: str) -> list[Session]:
        """The caller's sessions, latest change first."""
        owned = (session for session in self._sessions.values() if session.owner == caller)
        return sorted(owned, key=lambda session: (-session.modified_at, session.session_id))

    def remove(self, session: Session) -> None:
        """Forget a session."""
        self._sessions.pop(session.session_id, None)

    def everyone(self) -> Iterable[Session]:
        """All sessions."""
        return tuple(self._sessions.values())

    def __len__(self) -> int:
        return len(self._sessions)
