"""The session as the screen shows it: a frozen value, and the pure function that takes it from event to event."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import assert_never

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.inventory import Inventory


class Link(StrEnum):
    """Whether there is a session to speak to."""

    STARTING = "starting"
    READY = "ready"
    GONE = "gone"


class Activity(StrEnum):
    """What the session's run does."""

    IDLE = "idle"
    RUNNING = "running"
    AWAITING = "awaiting"


class ReloadStep(StrEnum):
    """How far a reload has come."""

    NONE = ""
    SENT = "sent"
    REFETCHING = "refetching"


class Freshness(StrEnum):
    """Whether the installed palette is what the server offers."""

    MISSING = "missing"
    UNAVAILABLE = "unavailable"
    CURRENT = "current"
    STALE = "stale"


class Offer(StrEnum):
    """What the offer key does now."""

    NONE = ""
    RESTART = "restart"
    REFETCH = "refetch"
    RELOAD_WHEN_IDLE = "reload when idle"


@dataclass(frozen=True, slots=True)
class SessionView:
    """All that the screen shows of the session, but the transcript."""

    link: Link = Link.STARTING
    link_reason: str = ""
    session_id: str = ""
    model: str = ""
    mode: str = ""
    placement: str = ""
    title: str = ""
    can_reload: bool = False
    activity: Activity = Activity.IDLE
    run_id: str = ""
    run_text: str = ""
    """What the person typed to start the run."""
    asks: tuple[runs.Ask, ...] = ()
    queue: tuple[ev.Entry, ...] = ()
    queue_held: bool = False
    """The queue waits for the person: a run was cancelled or lost, so what comes next is theirs to say."""
    inventory: Inventory = field(default_factory=Inventory)
    freshness: Freshness = Freshness.MISSING
    reload: ReloadStep = ReloadStep.NONE
    reload_token: int = 0
    """The token of the latest reload or refetch; an answer with another one is stale."""
    clearing: bool = False
    reload_offered: bool = False
    usage: runs.Usage = field(default_factory=runs.Usage)
    last_turn: runs.Usage = field(default_factory=runs.Usage)
    context: float = 0.0
    """Share of the model's context in use, 0 to 1; 0 when unknown."""

    @property
    def is_idle(self) -> bool:
        """A prompt sent now would begin a run at once."""
        return (
            self.link is Link.READY
            and self.activity is Activity.IDLE
            and self.reload is ReloadStep.NONE
            and not self.clearing
        )

    @property
    def knows_commands(self) -> bool:
        """A typed `/name` can be told from prose."""
        return self.freshness in {Freshness.CURRENT, Freshness.STALE}

    @property
    def offer(self) -> Offer:
        """What the offer key does now: the most pressing of what can be done."""
        if self.link is Link.GONE:
            return Offer.RESTART
        if self.reload_offered:
            return Offer.RELOAD_WHEN_IDLE
        if self.freshness in {Freshness.STALE, Freshness.UNAVAILABLE} and self.reload is ReloadStep.NONE:
            return Offer.REFETCH
        return Offer.NONE

    @property
    def cache_share(self) -> float | None:
        """Share of the last turn's input that the provider read from its cache; None before any turn."""
        total = self.last_turn.cache_read_tokens + self.last_turn.input_tokens
        return self.last_turn.cache_read_tokens / total if total else None


def accepts(view: SessionView, event: ev.SessionEvent) -> bool:
    """Whether the event still concerns this view: its session is the one shown, its token the latest."""
    match event:
        case (
            ev.ReloadInstalled(session_id=session_id, token=token)
            | ev.ReloadRefused(session_id=session_id, token=token)
            | ev.ReloadFailed(session_id=session_id, token=token)
            | ev.ReloadDone(session_id=session_id, token=token)
            | ev.RefetchFailed(session_id=session_id, token=token)
        ):
            is_pending = view.reload is not ReloadStep.NONE and token == view.reload_token
            return is_pending and session_id == view.session_id
        case (
            ev.Opened()
            | ev.OpenFailed()
            | ev.ServerGone()
            | ev.Reopening()
            | ev.EntryQueued()
            | ev.EntryStarted()
            | ev.EntryTakenBack()
            | ev.QueueReleased()
            | ev.ReloadOffered()
            | ev.OfferAnswered()
            | ev.Noticed()
        ):
            return True
        case _:
            return event.session_id == view.session_id


def apply(view: SessionView, event: ev.SessionEvent) -> SessionView:
    """The view after the event; the same view when the event is stale."""
    if not accepts(view, event):
        return view
    if isinstance(event, runs.RunEvent):
        return _apply_run(view, event)
    if isinstance(event, ev.ReloadEvent):
        return _apply_reload(view, event)
    if isinstance(event, ev.LinkEvent):
        return _apply_link(view, event)
    if isinstance(event, ev.EntryEvent):
        return _apply_entry(view, event)
    if isinstance(event, ev.InventoryEvent):
        return _apply_inventory(view, event)
    return _apply_news(view, event)


def _apply_news(view: SessionView, event: ev.NewsEvent) -> SessionView:
    match event:
        case ev.SessionRead(mode=mode, context=context, title=title):
            return replace(view, mode=mode or view.mode, context=context, title=title or view.title)
        case ev.TitleChanged(title=title):
            return replace(view, title=title)
        case ev.Noticed():
            return view
        case _:
            assert_never(event)


def _apply_inventory(view: SessionView, event: ev.InventoryEvent) -> SessionView:
    match event:
        case ev.InventoryInstalled(inventory=inventory):
            return replace(view, inventory=inventory, freshness=Freshness.CURRENT)
        case ev.InventoryUnavailable():
            return replace(view, freshness=Freshness.UNAVAILABLE)
        case ev.InventoryOutdated(generation=generation):
            is_ours = view.reload is not ReloadStep.NONE or generation <= view.inventory.listing.generation
            return view if is_ours or not view.knows_commands else replace(view, freshness=Freshness.STALE)
        case _:
            assert_never(event)


def _apply_link(view: SessionView, event: ev.LinkEvent) -> SessionView:
    match event:
        case ev.Opened():
            return _opened(view, event)
        case ev.Cleared(opened=opened):
            return replace(
                _opened(view, opened), mode=opened.mode or view.mode, can_reload=opened.can_reload or view.can_reload
            )
        case ev.OpenFailed(reason=reason) | ev.ServerGone(reason=reason):
            rest = _at_rest(view, hold=True)
            return replace(rest, link=Link.GONE, link_reason=reason, clearing=False, reload=ReloadStep.NONE)
        case ev.Reopening():
            return replace(view, link=Link.STARTING, link_reason="", session_id="")
        case ev.ClearStarted():
            return replace(view, clearing=True)
        case ev.ClearFailed():
            return replace(view, clearing=False)
        case _:
            assert_never(event)


def _opened(view: SessionView, event: ev.Opened) -> SessionView:
    """A new conversation: only the queue and the request token live on."""
    return SessionView(
        link=Link.READY,
        session_id=event.session_id,
        model=event.model,
        mode=event.mode,
        placement=event.placement,
        can_reload=event.can_reload,
        queue=view.queue,
        queue_held=view.queue_held,
        reload_token=view.reload_token,
    )


def _at_rest(view: SessionView, *, hold: bool) -> SessionView:
    return replace(
        view,
        activity=Activity.IDLE,
        run_id="",
        run_text="",
        asks=(),
        reload_offered=False,
        queue_held=view.queue_held or (hold and bool(view.queue)),
    )


def _apply_entry(view: SessionView, event: ev.EntryEvent) -> SessionView:
    match event:
        case ev.EntryQueued(entry=entry):
            return replace(view, queue=(*view.queue, entry))
        case ev.EntryStarted():
            return replace(view, queue=view.queue[1:])
        case ev.EntryTakenBack():
            return replace(view, queue=view.queue[:-1], queue_held=view.queue_held and len(view.queue) > 1)
        case ev.QueueReleased():
            return replace(view, queue_held=False)
        case ev.ReloadOffered():
            return replace(view, reload_offered=True)
        case ev.OfferAnswered():
            return replace(view, reload_offered=False)
        case _:
            assert_never(event)


def _apply_run(view: SessionView, event: runs.RunEvent) -> SessionView:
    match event:
        case runs.PromptSent(text=text):
            return replace(view, activity=Activity.RUNNING, run_id="", run_text=text, reload_offered=False)
        case runs.RunStarted(run_id=run_id):
            return replace(view, activity=Activity.RUNNING, run_id=run_id)
        case runs.Asked(ask=ask):
            others = tuple(known for known in view.asks if known.ask_id != ask.ask_id)
            return replace(view, activity=Activity.AWAITING, asks=(*others, ask))
        case runs.AskClosed(ask_id=ask_id):
            asks = tuple(ask for ask in view.asks if ask.ask_id != ask_id)
            awaiting = view.activity is Activity.AWAITING and not asks
            return replace(view, asks=asks, activity=Activity.RUNNING if awaiting else view.activity)
        case runs.TurnEnded(usage=usage):
            return replace(view, usage=view.usage.plus(usage), last_turn=usage)
        case runs.RunEnded(stop=stop):
            return _at_rest(view, hold=stop == "cancelled")
        case runs.RunLost() | runs.PromptFailed():
            return _at_rest(view, hold=True)
        case runs.TextAdded() | runs.ReasoningAdded() | runs.ToolStarted() | runs.ToolFinished():
            return view
        case _:
            assert_never(event)


def _apply_reload(view: SessionView, event: ev.ReloadEvent) -> SessionView:
    match event:
        case ev.ReloadStarted(token=token):
            return replace(view, reload=ReloadStep.SENT, reload_token=token, reload_offered=False)
        case ev.ReloadInstalled():
            return replace(view, reload=ReloadStep.REFETCHING)
        case ev.RefetchStarted(token=token):
            return replace(view, reload=ReloadStep.REFETCHING, reload_token=token)
        case ev.ReloadRefused() | ev.ReloadFailed():
            return replace(view, reload=ReloadStep.NONE)
        case ev.ReloadDone(inventory=inventory):
            return replace(view, reload=ReloadStep.NONE, inventory=inventory, freshness=Freshness.CURRENT)
        case ev.RefetchFailed():
            missing = view.freshness in {Freshness.MISSING, Freshness.UNAVAILABLE}
            freshness = Freshness.UNAVAILABLE if missing else Freshness.STALE
            return replace(view, reload=ReloadStep.NONE, freshness=freshness)
        case _:
            assert_never(event)
