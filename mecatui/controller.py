"""The one caller of the client: each call ends in events, and no failure of a server leaves here as an exception."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from client.contract.approvals import Verdict
from client.contract.errors import ErrorCode
from client.contract.events import Event
from client.contract.sessions import CreateSession, SessionCreated
from client.errors import ClientError, Outage, ServerRefused, ServerUnreachable, StreamBroken
from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.collaborator import Collaborator
from mecatui.control import Answer, AskedInVain, Emit, ModelPage
from mecatui.inventory import Inventory
from mecatui.run_translation import RunTranslator
from mecatui.wire_values import inventory_of, mode_word, model_page_of

_FETCHES = 3
_VERDICTS = {
    Answer.ONCE: Verdict.ALLOW_ONCE,
    Answer.ALWAYS: Verdict.ALLOW_ALWAYS,
    Answer.DENY: Verdict.DENY,
}


@dataclass(frozen=True, slots=True)
class SessionWish:
    """What every new session is asked to be."""

    model: str = ""


class Controller:
    """Speaks to one server for one screen. A `mecatui.control.Control`."""

    def __init__(
        self, client: Collaborator, emit: Emit, wish: SessionWish | None = None, *, is_watched: bool = False
    ) -> None:
        self._client = client
        self._emit = emit
        self._wish = wish or SessionWish()
        self._is_watched = is_watched
        self._can_reload = False
        self._last = Inventory()

    async def open(self) -> None:
        """Begin a session and fetch what it offers."""
        try:
            told = await self._client.compatibility()
            self._can_reload = told.capabilities.skills_reload
            made = await self._client.create_session(CreateSession(model_id=self._wish.model))
        except ClientError as failure:
            self._emit(ev.OpenFailed(str(failure)))
            return
        self._emit(self._opened(made))
        await self.fetch_inventory(made.session_id)
        await self._read_session(made.session_id)

    async def fetch_inventory(self, session_id: str) -> None:
        """Fetch what a session offers for the first time."""
        try:
            inventory = await self._inventory(session_id)
        except ClientError as failure:
            self._emit(ev.InventoryUnavailable(session_id, str(failure)))
        else:
            self._emit(ev.InventoryInstalled(session_id, inventory))

    async def prompt(self, session_id: str, text: str) -> None:
        """Run a prompt and tell of it until it ends. A broken stream is taken up again where it broke."""
        translator = RunTranslator(session_id, self._emit)
        try:
            await self._follow(self._client.prompt(session_id, text), translator)
        except StreamBroken as broken:
            await self._resume(session_id, translator, str(broken))
        except ClientError as failure:
            if translator.has_begun:
                await self._resume(session_id, translator, str(failure))
            else:
                self._emit(runs.PromptFailed(session_id, text, str(failure)))
                self._tell_if_gone(failure)
        await self._read_session(session_id)

    async def approve(self, session_id: str, ask_id: str, answer: Answer) -> None:
        """Answer an ask. One that is no longer pending is closed here too."""
        try:
            await self._client.approve(session_id, ask_id, _VERDICTS[answer])
        except ServerRefused as refused:
            if refused.code is ErrorCode.ASK_NOT_PENDING:
                self._emit(runs.AskClosed(session_id, ask_id))
            self._emit(ev.Noticed("warning", f"The answer was not taken: {refused}"))
        except ClientError as failure:
            self._emit(ev.Noticed("error", f"The answer did not arrive: {failure}"))

    async def cancel(self, session_id: str) -> None:
        """Stop the run."""
        try:
            await self._client.cancel(session_id)
        except ServerRefused as refused:
            # A run that has just ended by itself is what was asked for.
            if refused.code is not ErrorCode.NO_ACTIVE_RUN:
                self._emit(ev.Noticed("warning", f"The run was not cancelled: {refused}"))
        except ClientError as failure:
            self._emit(ev.Noticed("error", f"The run was not cancelled: {failure}"))

    async def reload(self, session_id: str, token: int) -> None:
        """Reload the skills, then fetch what the session offers."""
        try:
            await self._client.reload_skills(session_id)
        except ServerRefused as refused:
            self._emit(_refusal(session_id, token, refused))
        except ServerUnreachable as failure:
            uncertain = failure.outage is not Outage.NO_CONNECTION
            self._emit(ev.ReloadFailed(session_id, token, str(failure), uncertain=uncertain))
            self._tell_if_gone(failure)
        except ClientError as failure:
            self._emit(ev.ReloadFailed(session_id, token, str(failure), uncertain=True))
        else:
            self._emit(ev.ReloadInstalled(session_id, token))
            await self.refetch(session_id, token)

    async def refetch(self, session_id: str, token: int) -> None:
        """Fetch what the session offers once more."""
        try:
            inventory = await self._inventory(session_id)
        except ClientError as failure:
            self._emit(ev.RefetchFailed(session_id, token, str(failure)))
        else:
            self._emit(ev.ReloadDone(session_id, token, inventory))

    async def clear(self, session_id: str) -> None:
        """Begin a new conversation and fetch what it offers."""
        try:
            made = await self._client.clear(session_id)
        except ClientError as failure:
            self._emit(ev.ClearFailed(session_id, str(failure)))
            return
        self._emit(ev.Cleared(session_id, self._opened(made)))
        await self.fetch_inventory(made.session_id)
        await self._read_session(made.session_id)

    async def model_page(self, session_id: str) -> ModelPage:
        """What the model is told.

        Raises:
            AskedInVain: no answer, or a refusal.
        """
        try:
            return model_page_of(await self._client.model_view(session_id))
        except ClientError as failure:
            raise AskedInVain(str(failure)) from failure

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _opened(self, made: SessionCreated) -> ev.Opened:
        return ev.Opened(
            made.session_id, model=made.resolved_model, placement=made.placement, can_reload=self._can_reload
        )

    async def _inventory(self, session_id: str) -> Inventory:
        """Palette, table and listing of one generation; asked for again when a reload came between them."""
        for _ in range(_FETCHES):
            palette, table, listing = await asyncio.gather(
                self._client.commands(session_id), self._client.expansions(session_id), self._client.skills(session_id)
            )
            if table.generation == listing.generation:
                break
        # In a thread, since very many skills would hold up keys for longer than a frame.
        self._last = await asyncio.to_thread(inventory_of, palette, table, listing, self._last)
        return self._last

    async def _follow(self, events: AsyncGenerator[Event, None], translator: RunTranslator) -> None:
        async with aclosing(events) as stream:
            async for event in stream:
                translator.take(event)

    async def _resume(self, session_id: str, translator: RunTranslator, reason: str) -> None:
        """Take the rest of a run from the session's own log, which replays it from the start."""
        try:
            async with aclosing(self._client.watch(session_id)) as stream:
                async for watched in stream:
                    if watched.event is not None:
                        translator.take_again(watched.event)
                    if translator.has_ended:
                        return
        except ClientError as failure:
            reason = str(failure)
            self._tell_if_gone(failure)
        if not translator.has_ended:
            self._emit(runs.RunLost(session_id, reason))

    async def _read_session(self, session_id: str) -> None:
        """Show what the server says of the session; what it does not say is not missed."""
        try:
            told = await self._client.session(session_id)
        except ClientError:
            return
        self._emit(
            ev.SessionRead(session_id, mode_word(told.mode), told.latest_context_occupancy, told.title_metadata.title)
        )

    def _tell_if_gone(self, failure: ClientError) -> None:
        is_gone = isinstance(failure, ServerUnreachable) and failure.outage is Outage.NO_CONNECTION
        if is_gone and not self._is_watched:
            self._emit(ev.ServerGone(str(failure)))


def _refusal(session_id: str, token: int, refused: ServerRefused) -> ev.ReloadRefused | ev.ReloadFailed:
    """412, 409, 429 and the like refuse; 5xx means that it was tried and failed."""
    if refused.status >= 500:  # noqa: PLR2004 - where HTTP's server errors begin
        return ev.ReloadFailed(session_id, token, refused.error)
    return ev.ReloadRefused(
        session_id, token, refused.reason.value, refused.error, in_the_way=refused.ask_id or refused.run_id
    )
