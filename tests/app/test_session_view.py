"""The view after each event, and which events are too late."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.inventory import Command, Inventory, Listing, Skill
from mecatui.session_view import Activity, Freshness, Link, Offer, ReloadStep, SessionView, accepts, apply

OLD = Inventory((Command("story"),), Listing(generation=1, skills=(Skill("story"),)))
NEW = Inventory((Command("tale"),), Listing(generation=2, skills=(Skill("tale"),)))
ASK = runs.Ask("ask1", "Shell")


def after(*events: ev.SessionEvent, view: SessionView | None = None) -> SessionView:
    shown = view or SessionView()
    for event in events:
        shown = apply(shown, event)
    return shown


READY = after(ev.Opened("s1", can_reload=True), ev.InventoryInstalled("s1", OLD))


def test_session_is_idle_once_opened() -> None:
    assert READY.is_idle
    assert READY.knows_commands
    assert not SessionView().is_idle


def test_run_goes_from_prompt_to_end() -> None:
    running = after(runs.PromptSent("s1", "hi"), runs.RunStarted("s1", "r1"), view=READY)
    assert (running.activity, running.run_id, running.run_text) == (Activity.RUNNING, "r1", "hi")
    awaiting = after(runs.Asked("s1", ASK), view=running)
    assert (awaiting.activity, awaiting.asks) == (Activity.AWAITING, (ASK,))
    assert after(runs.AskClosed("s1", "ask1"), view=awaiting).activity is Activity.RUNNING
    assert after(runs.RunEnded("s1", "end_turn"), view=awaiting) == READY


def test_asks_wait_in_line() -> None:
    second = runs.Ask("ask2", "Shell")
    view = after(runs.PromptSent("s1", "hi"), runs.Asked("s1", ASK), runs.Asked("s1", second), view=READY)
    assert view.asks == (ASK, second)
    assert after(runs.AskClosed("s1", "ask1"), view=view).activity is Activity.AWAITING


def test_reload_installs_all_at_once() -> None:
    sent = after(ev.ReloadStarted("s1", 1), view=READY)
    assert sent.reload is ReloadStep.SENT
    assert not sent.is_idle
    fetching = after(ev.ReloadInstalled("s1", 1), view=sent)
    assert (fetching.reload, fetching.inventory) == (ReloadStep.REFETCHING, OLD)
    done = after(ev.ReloadDone("s1", 1, NEW), view=fetching)
    assert (done.reload, done.inventory, done.freshness) == (ReloadStep.NONE, NEW, Freshness.CURRENT)


def test_refused_or_failed_reload_keeps_the_inventory() -> None:
    sent = after(ev.ReloadStarted("s1", 1), view=READY)
    for event in (ev.ReloadRefused("s1", 1, "session_running", "busy"), ev.ReloadFailed("s1", 1, "no")):
        view = after(event, view=sent)
        assert (view.inventory, view.reload, view.is_idle) == (OLD, ReloadStep.NONE, True)


def test_failed_refetch_leaves_a_stale_inventory_and_offers_a_retry() -> None:
    view = after(ev.ReloadStarted("s1", 1), ev.ReloadInstalled("s1", 1), ev.RefetchFailed("s1", 1, "lost"), view=READY)
    assert (view.inventory, view.freshness, view.offer) == (OLD, Freshness.STALE, Offer.REFETCH)
    again = after(ev.RefetchStarted("s1", 2), ev.ReloadDone("s1", 2, NEW), view=view)
    assert (again.inventory, again.freshness, again.offer) == (NEW, Freshness.CURRENT, Offer.NONE)


def test_answer_of_another_session_or_request_is_dropped() -> None:
    sent = after(ev.ReloadStarted("s1", 2), view=READY)
    assert after(ev.ReloadDone("s2", 2, NEW), view=sent) == sent
    assert after(ev.ReloadDone("s1", 1, NEW), view=sent) == sent
    assert after(ev.ReloadDone("s1", 0, NEW), view=READY) == READY
    cleared = after(ev.Cleared("s1", ev.Opened("s2")), view=sent)
    assert after(ev.ReloadDone("s1", 2, NEW), view=cleared) == cleared


def test_cancelled_run_holds_the_queue_until_it_is_released() -> None:
    queued = after(
        runs.PromptSent("s1", "one"),
        ev.EntryQueued(ev.Entry("two")),
        ev.EntryQueued(ev.Entry("three")),
        runs.RunEnded("s1", "cancelled"),
        view=READY,
    )
    assert queued.queue_held
    assert not after(ev.QueueReleased(), view=queued).queue_held
    assert [entry.text for entry in after(ev.EntryTakenBack(), view=queued).queue] == ["two"]
    assert [entry.text for entry in after(ev.EntryStarted(), view=queued).queue] == ["three"]


def test_new_conversation_keeps_the_queue_and_nothing_else_of_the_old_one() -> None:
    used = after(
        ev.EntryQueued(ev.Entry("two")),
        runs.TurnEnded("s1", runs.Usage(10, 5, 30)),
        ev.TitleChanged("s1", "Title"),
        view=READY,
    )
    assert used.cache_share == 0.75
    cleared = after(ev.Cleared("s1", ev.Opened("s2", "offline")), view=used)
    assert (cleared.session_id, cleared.usage, cleared.title) == ("s2", runs.Usage(), "")
    assert cleared.queue == used.queue
    assert cleared.can_reload


def test_lost_server_offers_a_restart_and_stops_everything() -> None:
    view = after(runs.PromptSent("s1", "hi"), runs.Asked("s1", ASK), ev.ServerGone("boom"), view=READY)
    assert (view.link, view.offer, view.asks, view.activity) == (Link.GONE, Offer.RESTART, (), Activity.IDLE)
    assert not view.is_idle


def test_offer_to_reload_when_idle_ends_with_the_run() -> None:
    offered = after(runs.PromptSent("s1", "hi"), ev.ReloadOffered(), view=READY)
    assert offered.offer is Offer.RELOAD_WHEN_IDLE
    assert after(ev.OfferAnswered(), view=offered).offer is Offer.NONE
    assert after(runs.RunEnded("s1", "end_turn"), view=offered).offer is Offer.NONE


def test_reload_by_somebody_else_makes_the_inventory_stale() -> None:
    assert after(ev.InventoryOutdated("s1", 2), view=READY).freshness is Freshness.STALE
    assert after(ev.InventoryOutdated("s1", 1), view=READY) == READY


_SESSIONS = st.sampled_from(["s1", "s2"])
_TOKENS = st.integers(0, 3)
_TEXT = st.text(max_size=3)
_EVENTS: st.SearchStrategy[ev.SessionEvent] = st.one_of(
    st.builds(ev.Opened, _SESSIONS),
    st.builds(ev.ServerGone, _TEXT),
    st.builds(ev.Reopening),
    st.builds(ev.EntryQueued, st.builds(ev.Entry, _TEXT)),
    st.builds(ev.EntryStarted),
    st.builds(ev.EntryTakenBack),
    st.builds(ev.QueueReleased),
    st.builds(ev.ReloadOffered),
    st.builds(ev.ReloadStarted, _SESSIONS, _TOKENS),
    st.builds(ev.ReloadInstalled, _SESSIONS, _TOKENS),
    st.builds(ev.ReloadDone, _SESSIONS, _TOKENS, st.sampled_from([OLD, NEW])),
    st.builds(ev.ReloadFailed, _SESSIONS, _TOKENS, _TEXT),
    st.builds(ev.RefetchFailed, _SESSIONS, _TOKENS, _TEXT),
    st.builds(runs.PromptSent, _SESSIONS, _TEXT),
    st.builds(runs.Asked, _SESSIONS, st.builds(runs.Ask, _TEXT, _TEXT)),
    st.builds(runs.AskClosed, _SESSIONS, _TEXT),
    st.builds(runs.RunEnded, _SESSIONS, st.sampled_from(["end_turn", "cancelled"])),
    st.builds(ev.Cleared, _SESSIONS, st.builds(ev.Opened, _SESSIONS)),
)


@given(st.lists(_EVENTS, max_size=25))
def test_view_stays_sound_in_any_order(events: list[ev.SessionEvent]) -> None:
    view = SessionView()
    for event in events:
        before = view
        view = apply(before, event)
        assert accepts(before, event) or view is before
        assert view.activity is not Activity.AWAITING or view.asks
        assert not view.is_idle or view.link is Link.READY
        if isinstance(event, ev.ReloadFailed | ev.ReloadInstalled | ev.RefetchFailed):
            assert view.inventory == before.inventory


def test_view_is_a_value() -> None:
    assert replace(READY) == READY
    assert hash(READY.queue) == hash(())
