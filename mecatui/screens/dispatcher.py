"""What becomes of a typed line: it runs, waits, or is refused with the reason. Knows neither widgets nor client."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, assert_never

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.control import Control
from mecatui.messages import Page
from mecatui.screens import wording
from mecatui.session_view import Activity, Freshness, Link, Offer, SessionView
from mecatui.slash.nearest import nearest
from mecatui.slash.parse import (
    BareSlash,
    BuiltinCommand,
    Empty,
    Names,
    PlainText,
    ServerCommand,
    Typed,
    UnknownCommand,
    classify,
    mentioned,
)

Call = Callable[[Control], Coroutine[Any, Any, None]]
"""A call of the session's controller, to be run in the background."""


class Stage(Protocol):
    """What a dispatcher needs of the screen."""

    @property
    def view(self) -> SessionView:
        """The session as it is now."""
        ...

    @property
    def names(self) -> Names:
        """The names that may follow a slash now."""
        ...

    def accept(self, event: ev.SessionEvent) -> None:
        """Apply an event and show it."""
        ...

    def begin(self, call: Call) -> None:
        """Run a call of the controller in the background."""
        ...

    def notice(self, level: ev.Level, text: str) -> None:
        """Tell the person something."""
        ...

    def open_page(self, page: Page) -> None:
        """Open a page over the chat."""
        ...

    def give_back(self, text: str) -> bool:
        """Put a line into the prompt if that is empty; answers whether it was."""
        ...

    def restart(self) -> None:
        """Start the server again."""
        ...

    def leave(self) -> None:
        """End the app."""
        ...


class Dispatcher:
    """Takes typed lines, keeps those that must wait, and is the `Actions` of the builtins.

    A method that answers a bool tells whether the line was taken; one that was not stays in the prompt.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._declined = ""
        """The unknown command that was last refused; the same text again is sent as prose."""

    def submit(self, text: str) -> bool:
        """Take a line that a person has entered."""
        as_text = bool(self._declined) and text == self._declined
        taken = self._dispatch(ev.Entry(text, as_text), has_turn=False)
        self.drain()
        return taken

    def drain(self) -> None:
        """Give waiting lines their turn, for as long as nothing is in the way."""
        while self._may_start_next():
            entry = self._stage.view.queue[0]
            self._stage.accept(ev.EntryStarted())
            if not self._dispatch(entry, has_turn=True) and not self._stage.give_back(entry.text):
                self._stage.notice("warning", f"Not sent: {entry.text}")

    def take_back(self) -> None:
        """Return the last waiting line to the prompt."""
        queue = self._stage.view.queue
        if queue and self._stage.give_back(queue[-1].text):
            self._stage.accept(ev.EntryTakenBack())

    def cancel(self) -> None:
        """Cancel the run, if there is one."""
        view = self._stage.view
        if view.activity is not Activity.IDLE:
            session_id = view.session_id
            self._stage.begin(lambda control: control.cancel(session_id))

    def take_offer(self) -> None:
        """Do what the offer key offers now."""
        match self._stage.view.offer:
            case Offer.NONE:
                pass
            case Offer.RESTART:
                self._stage.accept(ev.Reopening())
                self._stage.restart()
            case Offer.REFETCH:
                session_id, token = self._next_request()
                self._stage.accept(ev.RefetchStarted(session_id, token))
                self._stage.begin(lambda control: control.refetch(session_id, token))
            case Offer.RELOAD_WHEN_IDLE:
                self._stage.accept(ev.OfferAnswered())
                self._stage.accept(ev.EntryQueued(ev.Entry("/reload-skills")))
                self.drain()
            case _:
                assert_never(self._stage.view.offer)

    def show_help(self) -> bool:
        """Open the page of commands and keys."""
        self._stage.open_page(Page.HELP)
        return True

    def show_skills(self) -> bool:
        """Open the list of skills."""
        self._stage.open_page(Page.SKILLS)
        return True

    def show_model_view(self) -> bool:
        """Open the page of what the model is told."""
        if self._stage.view.link is not Link.READY:
            self._stage.notice("warning", "There is no session yet, so the model was told nothing.")
            return False
        self._stage.open_page(Page.MODEL_VIEW)
        return True

    def leave(self) -> bool:
        """End the app."""
        self._stage.leave()
        return True

    def reload_skills(self) -> bool:
        """Reload the skills, or say why not now. A reload that only has to wait is offered for later."""
        view = self._stage.view
        obstacle = wording.reload_obstacle(view)
        if obstacle:
            if view.can_reload and view.activity is not Activity.IDLE:
                self._stage.accept(ev.ReloadOffered())
            self._stage.notice("warning", obstacle)
            return False
        session_id, token = self._next_request()
        self._stage.accept(ev.ReloadStarted(session_id, token))
        self._stage.begin(lambda control: control.reload(session_id, token))
        return True

    def clear_conversation(self) -> bool:
        """Begin a new conversation."""
        view = self._stage.view
        if not view.is_idle:
            self._stage.notice("warning", "There is no session to clear.")
            return False
        session_id = view.session_id
        self._stage.accept(ev.ClearStarted(session_id))
        self._stage.begin(lambda control: control.clear(session_id))
        return True

    def _next_request(self) -> tuple[str, int]:
        view = self._stage.view
        return view.session_id, view.reload_token + 1

    def _may_start_next(self) -> bool:
        view = self._stage.view
        if not view.queue or view.queue_held or not view.is_idle:
            return False
        return view.knows_commands or isinstance(self._classify(view.queue[0]), PlainText | BuiltinCommand)

    def _classify(self, entry: ev.Entry) -> Typed:
        return PlainText() if entry.as_text else classify(entry.text, self._stage.names)

    def release(self) -> None:
        """Let a held queue go on."""
        if self._stage.view.queue_held:
            self._stage.accept(ev.QueueReleased())
            self.drain()

    def _dispatch(self, entry: ev.Entry, *, has_turn: bool) -> bool:
        """`has_turn`: it comes from the queue, so nothing is before it."""
        typed = self._classify(entry)
        match typed:
            case Empty():
                return False
            case BareSlash():
                self._stage.notice("info", "Type a name after the slash; nothing was sent.")
                return False
            case BuiltinCommand():
                return self._run_builtin(typed, entry)
            case UnknownCommand(name=name):
                return self._hold(entry) if not self._stage.view.knows_commands else self._decline(name, entry)
            case ServerCommand() | PlainText():
                return self._send(entry, typed, has_turn=has_turn)
            case _:
                assert_never(typed)

    def _run_builtin(self, typed: BuiltinCommand, entry: ev.Entry) -> bool:
        builtin = typed.builtin
        if typed.arguments and not builtin.takes_arguments:
            self._stage.notice("warning", wording.arguments_words(builtin.name))
            return False
        view = self._stage.view
        if builtin.waits and view.link is not Link.GONE and not view.is_idle:
            return self._queue(entry)
        return builtin.run(self, typed.arguments)

    def _hold(self, entry: ev.Entry) -> bool:
        """Keep a command whose meaning is not known yet: it must never reach the model as prose."""
        if self._stage.view.link is Link.GONE:
            return self._refuse_gone()
        if self._stage.view.freshness is Freshness.UNAVAILABLE:
            self._stage.notice(
                "warning", "The list of commands could not be fetched; nothing was sent. ctrl+r: fetch it again."
            )
            return False
        return self._queue(entry)

    def _decline(self, name: str, entry: ev.Entry) -> bool:
        self._declined = entry.text
        near = nearest(name, self._stage.names.all())
        listing = self._stage.view.inventory.listing
        self._stage.notice("warning", wording.unknown_words(name, near, listing))
        return False

    def _send(self, entry: ev.Entry, typed: Typed, *, has_turn: bool) -> bool:
        view = self._stage.view
        if view.link is Link.GONE:
            return self._refuse_gone()
        others_are_before = bool(view.queue) and not view.queue_held and not has_turn
        if not view.is_idle or others_are_before:
            return self._queue(entry)
        self._declined = ""
        self._stage.accept(ev.QueueReleased())
        session_id, text = view.session_id, entry.text
        self._stage.accept(runs.PromptSent(session_id, text))
        self._stage.begin(lambda control: control.prompt(session_id, text))
        named = mentioned(text, self._stage.names) if isinstance(typed, PlainText) and not entry.as_text else None
        if named:
            self._stage.notice("info", f"/{named} runs only at the start of a message; this was sent as text.")
        return True

    def _queue(self, entry: ev.Entry) -> bool:
        self._declined = ""
        self._stage.accept(ev.EntryQueued(entry))
        return True

    def _refuse_gone(self) -> bool:
        self._stage.notice("warning", "The server is gone; nothing was sent. ctrl+r: start it again.")
        return False
