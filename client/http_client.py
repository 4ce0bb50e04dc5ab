"""The client: one method per use case of a server."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, Self, TypeVar

from client.address import check_plaintext, check_token, parse_address, path_of
from client.answers import decoded
from client.contract import paths
from client.contract.approvals import Approve, Verdict
from client.contract.base import Request, Response
from client.contract.commands import Expand, Expanded, ExpansionTable, Palette
from client.contract.events import Event, Watched
from client.contract.model_view import ModelView
from client.contract.sessions import (
    Compatibility,
    CreateSession,
    Info,
    PermissionMode,
    Prompt,
    RenameSession,
    SessionCreated,
    SessionInfo,
    SessionList,
    SetMode,
    Transcript,
)
from client.contract.skills import SkillDetail, SkillListing, SkillsReload
from client.events import run_events, watched_events
from client.transport import Timeouts, Transport

R = TypeVar("R", bound=Response)


class HttpClient:
    """Speaks to one server. Made by `connect`; closed by `aclose` or by leaving `async with`.

    Every method may raise `ServerUnreachable`, `ServerRefused` and `ProtocolError`. Iterate `prompt` and
    `watch` within `contextlib.aclosing` to end them early.
    """

    def __init__(self, transport: Transport, *, address: str, timeouts: Timeouts) -> None:
        self._transport = transport
        self._timeouts = timeouts
        self.address = address
        """Where the server is, as a person may be shown it."""

    @classmethod
    def connect(
        cls,
        address: str,
        *,
        token: str | None = None,
        timeouts: Timeouts | None = None,
        allow_plaintext: bool = False,
    ) -> Self:
        """A client for `http://host:port`, `https://host[:port]` or `unix:/path`. Nothing is sent yet.

        Raises:
            AddressRefused: the address or token is malformed, or would be sent in clear text off loopback
                without `allow_plaintext`.
        """
        place = parse_address(address)
        check_plaintext(place, allowed=allow_plaintext)
        credential = None if token is None else check_token(token)
        waits = timeouts or Timeouts()
        return cls(Transport(place, token=credential, timeouts=waits), address=str(place), timeouts=waits)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def compatibility(self) -> Compatibility:
        """What the server can do."""
        return await self._get(Compatibility, paths.COMPATIBILITY)

    async def info(self) -> Info:
        """Which server this is."""
        return await self._get(Info, paths.INFO)

    async def create_session(self, wish: CreateSession | None = None) -> SessionCreated:
        """Begin a conversation."""
        return await self._post(SessionCreated, paths.SESSIONS, wish or CreateSession())

    async def sessions(self, page_size: int = 50, cursor: str = "") -> SessionList:
        """A page of the caller's sessions, latest change first; `cursor` is the page before's `next_cursor`."""
        return await self._get(SessionList, paths.SESSIONS, page_size=str(page_size), cursor=cursor)

    async def session(self, session_id: str) -> SessionInfo:
        """One session in full."""
        return await self._get(SessionInfo, path_of(paths.SESSION, session_id))

    async def transcript(self, session_id: str) -> Transcript:
        """The conversation so far."""
        return await self._get(Transcript, path_of(paths.TRANSCRIPT, session_id))

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        """Give the session a title."""
        return await self._post(SessionInfo, path_of(paths.RENAME, session_id), RenameSession(title=_sendable(title)))

    async def clear(self, session_id: str) -> SessionCreated:
        """Begin a new conversation from this one's skills; the answer names the new session."""
        return await self._post(SessionCreated, path_of(paths.CLEAR, session_id))

    async def delete(self, session_id: str) -> None:
        """Remove the session and its conversation for good."""
        await self._transport.call("POST", path_of(paths.DELETE, session_id))

    async def close_session(self, session_id: str) -> None:
        """Let the server release what the session holds; the conversation stays."""
        await self._transport.call("DELETE", path_of(paths.SESSION, session_id))

    async def set_mode(self, session_id: str, mode: PermissionMode) -> SessionInfo:
        """Change what the agent may do without asking."""
        return await self._post(SessionInfo, path_of(paths.MODE, session_id), SetMode(mode=mode))

    async def prompt(self, session_id: str, text: str) -> AsyncGenerator[Event, None]:
        """Start a run and give its events, `result` last. To stop reading does not stop the run.

        Raises:
            StreamBroken: the stream failed, or ended before `result`; `watch` gives the rest.
        """
        path = path_of(paths.PROMPT, session_id)
        body = Prompt(text=_sendable(text)).to_json()
        async with (
            self._transport.stream("POST", path, body=body) as messages,
            aclosing(run_events(messages)) as events,
        ):
            async for event in events:
                yield event

    async def watch(self, session_id: str, cursor: str = "") -> AsyncGenerator[Watched, None]:
        """The session's events after `cursor`, then live ones, until the server ends the stream.

        Raises:
            StreamBroken: the stream failed.
        """
        path = path_of(paths.WATCH, session_id)
        async with (
            self._transport.stream("GET", path, query={"cursor": cursor}) as messages,
            aclosing(watched_events(messages)) as events,
        ):
            async for event in events:
                yield event

    async def approve(self, session_id: str, ask_id: str, verdict: Verdict) -> None:
        """Answer what a run asks."""
        body = Approve(ask_id=ask_id, verdict=verdict).to_json()
        await self._transport.call("POST", path_of(paths.APPROVE, session_id), body=body)

    async def cancel(self, session_id: str) -> None:
        """Stop the session's run."""
        await self._transport.call("POST", path_of(paths.CANCEL, session_id))

    async def reload_skills(self, session_id: str) -> SkillsReload:
        """Read the skills of one inactive session anew. Counts only; fetch the listing for names."""
        path = path_of(paths.SKILLS_RELOAD, session_id)
        return decoded(SkillsReload, await self._transport.call("POST", path, wait=self._timeouts.reload))

    async def commands(self, session_id: str) -> Palette:
        """What a person may pick from after a slash."""
        return await self._get(Palette, paths.COMMANDS, session_id=session_id)

    async def expansions(self, session_id: str) -> ExpansionTable:
        """The names that `/name` resolves, without their texts."""
        return await self._get(ExpansionTable, path_of(paths.EXPANSIONS, session_id))

    async def expand(self, session_id: str, text: str) -> Expanded:
        """What a typed text would become; nothing is run."""
        return await self._post(Expanded, path_of(paths.EXPAND, session_id), Expand(text=_sendable(text)))

    async def skills(self, session_id: str | None = None) -> SkillListing:
        """The session's skills, or those that the server started with."""
        return await self._get(SkillListing, paths.SKILLS, session_id=session_id or "")

    async def skill(
        self, session_id: str, name: str, generation: Literal["current", "previous"] = "current"
    ) -> SkillDetail:
        """One skill with its body, as it is now or as it was before the last reload."""
        return await self._get(SkillDetail, path_of(paths.SKILL, session_id, name=name), generation=generation)

    async def model_view(self, session_id: str) -> ModelView:
        """What the model is told, and the digests of what was sent."""
        return await self._get(ModelView, path_of(paths.MODEL_VIEW, session_id))

    async def _get(self, kind: type[R], path: str, **query: str) -> R:
        return decoded(kind, await self._transport.call("GET", path, query=query))

    async def _post(self, kind: type[R], path: str, body: Request | None = None) -> R:
        content = body.to_json() if body else None
        return decoded(kind, await self._transport.call("POST", path, body=content))


def _sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which a terminal may hand over and JSON cannot carry."""
    return text.encode("utf-8", "replace").decode()
