"""What the screens say: states, refusals and what can be done about them, in one place."""

from typing import assert_never

from mecatui.inventory import Listing
from mecatui.plain_text import one_line
from mecatui.session_events import Opened, ReloadFailed, ReloadRefused
from mecatui.session_view import Activity, Link, Offer, ReloadStep, SessionView

_WHEN_IDLE = "ctrl+r: run it when the session is idle."
_AGAIN = "ctrl+r: try again."
_OLD_ONES_WORK = "The skills that you had still work."
_QUOTED = 40


def state_words(view: SessionView) -> str:
    """What the session does, in a word or two."""
    match view.link:
        case Link.STARTING:
            return "starting"
        case Link.GONE:
            return "server gone"
        case Link.READY:
            pass
        case _:
            assert_never(view.link)
    if view.clearing:
        return "clearing"
    if view.reload is ReloadStep.SENT:
        return "reloading skills"
    if view.reload is ReloadStep.REFETCHING:
        return "fetching commands"
    return {
        Activity.IDLE: "idle",
        Activity.RUNNING: "running",
        Activity.AWAITING: "awaiting" if view.offer else "awaiting approval",
    }[view.activity]


def offer_words(view: SessionView) -> str:
    """What the offer key does now; empty when it does nothing."""
    match view.offer:
        case Offer.NONE:
            return ""
        case Offer.RESTART:
            return "ctrl+r restarts it"
        case Offer.REFETCH:
            return "ctrl+r fetches again"
        case Offer.RELOAD_WHEN_IDLE:
            return "ctrl+r reloads again" if view.is_idle else "ctrl+r reloads when idle"
        case _:
            assert_never(view.offer)


def queue_words(view: SessionView) -> str:
    """What the waiting lines wait for."""
    if view.link is Link.GONE:
        return "until the server is back"
    if view.queue_held:
        return "held; enter on an empty prompt sends the next, up takes the last back"
    if view.link is not Link.READY or not view.knows_commands:
        return "until the session is ready"
    if view.reload is not ReloadStep.NONE:
        return "until the reload has ended"
    return "until the run has ended; up takes the last back"


def reload_obstacle(view: SessionView) -> str:
    """Why a reload cannot be asked for now, and what can be done; empty when it can."""
    if view.link is Link.GONE:
        return "Skills were not reloaded: the server is gone. ctrl+r: start it again."
    if view.link is Link.STARTING:
        return "Skills were not reloaded: there is no session yet. Try again when it is ready."
    if view.reload is not ReloadStep.NONE:
        return "A reload is already under way; this one was not sent."
    if view.clearing:
        return "Skills were not reloaded: a new conversation is being made. Try again in a moment."
    if not view.can_reload:
        return "Skills were not reloaded: this server cannot reload skills. /clear or a restart picks up changes."
    match view.activity:
        case Activity.IDLE:
            return ""
        case Activity.RUNNING:
            return f"Skills were not reloaded: {_run_in_the_way(view)} is active. esc: cancel it. {_WHEN_IDLE}"
        case Activity.AWAITING:
            tool = view.asks[0].tool if view.asks else "a tool"
            return (
                f"Skills were not reloaded: {_run_in_the_way(view)} awaits your approval of {tool}. "
                f"Answer it, or esc: cancel the run. {_WHEN_IDLE}"
            )
        case _:
            assert_never(view.activity)


def refused_words(event: ReloadRefused) -> str:
    """The server's refusal, and what can be done."""
    way = f"In the way: {event.in_the_way}." if event.in_the_way else ""
    advice = {
        "session_running": _AGAIN,
        "session_awaiting": _AGAIN,
        "reload_in_flight": "Another reload of this session is under way. Try again when it has ended.",
        "not_main_session": "Only a main session can reload its skills.",
    }.get(event.reason, "")
    said = one_line(event.text).rstrip(".")
    parts = ("Skills were not reloaded:", f"{said}.", way, advice, _OLD_ONES_WORK)
    return " ".join(part for part in parts if part)


def can_wait(event: ReloadRefused) -> bool:
    """The refusal ends by itself, so a reload when idle is worth offering."""
    return event.reason in {"session_running", "session_awaiting"}


def failed_words(event: ReloadFailed) -> str:
    """The failure, and what can be done."""
    said = one_line(event.text).rstrip(".")
    if event.uncertain:
        return f"No word of the reload: {said}. It may have been carried out; /reload-skills again tells."
    return f"Skills were not reloaded: {said}. {_OLD_ONES_WORK} /reload-skills tries again."


def refetch_failed_words(text: str) -> str:
    """The server reloaded, but its new list did not arrive."""
    said = one_line(text).rstrip(".")
    return (
        f"The server reloaded the skills, but the new list could not be fetched: {said}. "
        "The list shown is stale. ctrl+r: fetch it again."
    )


def gone_words(reason: str) -> str:
    """The end of the server, with its last word."""
    said = one_line(reason)[:200].rstrip(".") or "no reason given"
    return f"The server is gone: {said}. What you typed is kept. ctrl+r: start it again."


def opened_words(event: Opened, *, again: bool) -> str:
    """A new session; which model answers, when that could surprise."""
    if again:
        return "The server was started again with a new session. The old conversation is gone; above is what was said."
    if event.model == "offline":
        return "No model key is configured: the offline model answers."
    return ""


def unknown_words(name: str, near: tuple[str, ...], listing: Listing) -> str:
    """Why a name is no command, what is close to it, and how to send it all the same."""
    why = _why_unknown(name, listing)
    meant = f" Did you mean {_or([f'/{other}' for other in near])}?" if near else ""
    return f"{why}{meant} Nothing was sent; enter again sends it as text."


def arguments_words(name: str) -> str:
    """A builtin was given arguments that it does not take."""
    return f"/{name} takes no arguments; nothing was sent."


def stop_words(stop: str, error: str) -> tuple[str, str]:
    """How a run ended, as a level and a line; the line is empty for the usual end."""
    if stop in {"end_turn", ""} and not error:
        return "info", ""
    if stop == "cancelled":
        return "info", "The run was cancelled."
    reason = one_line(error) or stop.replace("_", " ")
    return ("error" if stop == "error" else "warning"), f"The run ended: {reason}"


def _why_unknown(name: str, listing: Listing) -> str:
    for skill in listing.skills:
        if skill.name == name and skill.is_gone:
            return f"/{name} is gone: the last reload did not find it."
        if skill.name == name and not skill.user_invocable:
            return f"/{name} cannot be called by name: its author left it to the model."
    for skip in listing.skipped:
        if skip.name == name:
            return f"/{name} was skipped: {skip.reason}."
    return f"/{one_line(name)[:_QUOTED]} is no command."


def _run_in_the_way(view: SessionView) -> str:
    words = one_line(view.run_text)
    return f"the run “{words if len(words) <= _QUOTED else words[: _QUOTED - 1] + '…'}”" if words else "a run"


def _or(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
