"""What the app asks of a client, as small Protocols in the words of the wire."""

from collections.abc import AsyncGenerator
from typing import Protocol

from client.contract.approvals import Verdict
from client.contract.commands import ExpansionTable, Palette
from client.contract.events import Event, Watched
from client.contract.model_view import ModelView
from client.contract.sessions import Compatibility, CreateSession, SessionCreated, SessionInfo
from client.contract.skills import SkillListing, SkillsReload


class OpensSessions(Protocol):
    """Begins conversations."""

    async def compatibility(self) -> Compatibility:
        """What the server can do."""
        ...

    async def create_session(self, wish: CreateSession | None = None) -> SessionCreated:
        """Begin a conversation."""
        ...

    async def session(self, session_id: str) -> SessionInfo:
        """One session in full."""
        ...

    async def clear(self, session_id: str) -> SessionCreated:
        """Begin a new conversation from this one's skills."""
        ...


class RunsPrompts(Protocol):
    """Starts, follows and stops runs."""

    def prompt(self, session_id: str, text: str) -> AsyncGenerator[Event, None]:
        """Start a run and give its events."""
        ...

    def watch(self, session_id: str, cursor: str = "") -> AsyncGenerator[Watched, None]:
        """The session's events, from the first that is kept."""
        ...

    async def approve(self, session_id: str, ask_id: str, verdict: Verdict) -> None:
        """Answer what a run asks."""
        ...

    async def cancel(self, session_id: str) -> None:
        """Stop the session's run."""
        ...


class ListsSkills(Protocol):
    """Tells what a session offers, and reloads it."""

    async def reload_skills(self, session_id: str) -> SkillsReload:
        """Read the skills of one inactive session anew."""
        ...

    async def commands(self, session_id: str) -> Palette:
        """What a person may pick from after a slash."""
        ...

    async def expansions(self, session_id: str) -> ExpansionTable:
        """The names that `/name` resolves."""
        ...

    async def skills(self, session_id: str | None = None) -> SkillListing:
        """The session's skills."""
        ...

    async def model_view(self, session_id: str) -> ModelView:
        """What the model is told."""
        ...


class Collaborator(OpensSessions, RunsPrompts, ListsSkills, Protocol):
    """A whole client."""

    async def aclose(self) -> None:
        """Close all connections."""
        ...
