"""The chat: transcript, approvals, queue, slash menu, prompt and status, all shown from one view."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.control import Control
from mecatui.messages import AskAnswered, BackendWanted, Happened, Page, PageWanted
from mecatui.screens import show, wording
from mecatui.screens.completion import Completion
from mecatui.screens.dispatcher import Call, Dispatcher
from mecatui.screens.faults import after_fault
from mecatui.screens.feed import Feed
from mecatui.session_view import Activity, Offer, SessionView, accepts, apply
from mecatui.slash.palette import Palette, PaletteRow
from mecatui.slash.parse import Names
from mecatui.widgets.approval import ApprovalCard
from mecatui.widgets.header import Header
from mecatui.widgets.prompt import Prompt
from mecatui.widgets.queue import QueueList
from mecatui.widgets.slash_menu import SlashMenu
from mecatui.widgets.status_line import StatusLine
from mecatui.widgets.transcript import Transcript

_TWICE_SECONDS = 2.0


def _palette_provider() -> type[Provider]:
    """Loaded when the command palette is first opened."""
    from mecatui.slash.provider import PaletteProvider  # noqa: PLC0415 - not needed for the first frame

    return PaletteProvider


class ChatScreen(Screen[None]):
    """The one place where the view changes: `view = apply(view, event)`. A `Stage` and a `PaletteHost`."""

    AUTO_FOCUS = "Prompt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "clear, cancel, leave", show=False, priority=True),
        Binding("ctrl+r", "take_offer", "do what is offered", show=False, priority=True),
        Binding("up", "take_back", "take the last queued line back", show=False, priority=True),
        Binding("enter", "release", "send the held queue", show=False, priority=True),
        Binding("pageup", "scroll_transcript(-1)", "read back", show=False),
        Binding("pagedown", "scroll_transcript(1)", "read on", show=False),
        Binding("ctrl+end", "follow_transcript", "to the end", show=False),
        Binding("escape", "escape", "cancel, or back to the prompt", show=False),
    ]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette_provider}

    def __init__(self) -> None:
        super().__init__()
        self.view = SessionView()
        self.names = Names()
        self.palette = Palette()
        self._control: Control | None = None
        self._interrupted_at = float("-inf")
        self._header = Header()
        self._transcript = Transcript()
        self._queue = QueueList()
        self._card = ApprovalCard()
        self._menu = SlashMenu()
        self._prompt = Prompt(placeholder="Type a message, or / for commands")
        self._status = StatusLine()
        self._dispatcher = Dispatcher(self)
        self._completion = Completion(self, self._prompt, self._menu)
        self._feed = Feed(self._transcript)
        self._unseen = 0

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self._header
        yield self._transcript
        yield self._queue
        yield self._card
        yield self._menu
        yield self._prompt
        yield self._status

    def on_mount(self) -> None:
        """Show what is known before anything has happened."""
        self._show_view()

    def attach(self, control: Control) -> None:
        """Use this controller from now on."""
        self._control = control

    def accept(self, event: ev.SessionEvent) -> None:
        """Apply an event and show it; one that has become stale changes nothing."""
        before = self.view
        if not accepts(before, event):
            return
        self.view = apply(before, event)
        self._feed.take(event, before)
        if self.view.inventory is not before.inventory:
            self.palette, self.names = Palette(self.view.inventory), Names.of(self.view.inventory)
            self._completion.renew()
            self.call_after_refresh(self.palette.prepare)
        elif self.view.freshness is not before.freshness:
            self._completion.renew()
        if isinstance(event, runs.PromptFailed):
            self.give_back(event.text)
        elif isinstance(event, ev.ReloadRefused) and wording.can_wait(event):
            self.accept(ev.ReloadOffered())
        if self.view != before:
            self._show_view()

    def submit(self, line: str) -> bool:
        """Take a line; answers whether it was taken."""
        return self._dispatcher.submit(line)

    def begin(self, call: Call) -> None:
        """Run a call of the controller in the background."""
        if self._control is not None:
            self.run_worker(call(self._control), group="calls", exit_on_error=False)

    def notice(self, level: ev.Level, text: str) -> None:
        """Tell the person something."""
        self._feed.notice(level, text)

    def open_page(self, page: Page) -> None:
        """Open a page over the chat."""
        self.post_message(PageWanted(page))

    def give_back(self, text: str) -> bool:
        """Put a line into the prompt if that is empty; answers whether it was."""
        if self._prompt.text.strip():
            return False
        self._prompt.set_draft(text)
        return True

    def restart(self) -> None:
        """Start the server again."""
        self._control = None
        self.post_message(BackendWanted())

    def leave(self) -> None:
        """End the app."""
        self.app.exit(self.view.session_id)

    def pick(self, row: PaletteRow) -> None:
        """Run a builtin, or put a command in front of the draft and wait for its arguments."""
        self._prompt.focus()
        if row.runs_at_once:
            self._dispatcher.submit(f"/{row.inserts}")
            return
        draft = self._prompt.draft
        kept = "" if draft.lstrip().startswith("/") else draft
        self._prompt.set_draft(f"/{row.inserts} {kept}")

    def use(self, name: str) -> None:
        """Put a command into the prompt, as a page asks."""
        if name:
            self._prompt.set_draft(f"/{name} ")

    def on_happened(self, message: Happened) -> None:
        """Something happened to the session."""
        self.accept(message.event)
        self._dispatcher.drain()

    def on_key(self, event: events.Key) -> None:
        """What is typed while the transcript has the keys is meant for the prompt."""
        if self._transcript.has_focus and event.is_printable and event.character is not None:
            event.stop()
            self._prompt.focus()
            self._prompt.insert(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted as well."""
        if self._transcript.has_focus:
            event.stop()
            self._prompt.focus()
            self._prompt.post_message(events.Paste(event.text))

    def on_prompt_edited(self, message: Prompt.Edited) -> None:
        """Follow what is typed."""
        message.stop()
        self._completion.follow()

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        """Do what the lit row says, else take the line."""
        self._completion.enter(message.text)

    def on_prompt_tab_pressed(self) -> None:
        """With an open ask or an empty prompt: go on to what else takes keys."""
        if self._card.is_open:
            self._card.focus()
        elif not self._prompt.text:
            self.focus_next()

    def on_prompt_escape_pressed(self) -> None:
        """Cancel the run; a menu would have taken the key."""
        self._dispatcher.cancel()

    def on_slash_menu_picked(self, message: SlashMenu.Picked) -> None:
        """Do what the clicked row says."""
        row = self._completion.row_of(message.row)
        if row is not None:
            self._prompt.set_draft("")
            self.pick(row)

    def on_ask_answered(self, message: AskAnswered) -> None:
        """Send the answer; the card goes when the server says that the ask is closed."""
        session_id = self.view.session_id
        self.begin(lambda control: control.approve(session_id, message.ask_id, message.answer))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of our own must not take the conversation down with it."""
        if event.state is WorkerState.ERROR and event.worker.group == "calls":
            self.notice("error", "An internal fault stopped this. The conversation is kept.")
            for consequence in after_fault(self.view, type(event.worker.error).__name__):
                self.accept(consequence)

    def on_transcript_names_chosen(self, message: Transcript.NamesChosen) -> None:
        """Show the skills that a reload changed."""
        self.post_message(PageWanted(Page.SKILLS, message.names))

    def on_transcript_unseen(self, message: Transcript.Unseen) -> None:
        """Tell what came below while the person reads."""
        self._unseen = message.count
        self._show_view()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Leave the keys to others while they mean nothing here."""
        if action == "take_back":
            is_free = self._prompt.has_focus and not self._prompt.text and not self._completion.is_open
            return is_free and bool(self.view.queue)
        if action == "release":
            return self._prompt.has_focus and not self._prompt.text.strip() and self.view.queue_held
        if action == "take_offer":
            return self.view.offer is not Offer.NONE
        return True

    def action_take_back(self) -> None:
        """Return the last waiting line to the prompt."""
        self._dispatcher.take_back()

    def action_release(self) -> None:
        """Let the held queue go on."""
        self._dispatcher.release()

    def action_take_offer(self) -> None:
        """Do what the status line offers."""
        waits = self.view.offer is Offer.RELOAD_WHEN_IDLE
        if waits and self._prompt.text.strip() == "/reload-skills":
            self._prompt.set_draft("")
        self._dispatcher.take_offer()

    def action_scroll_transcript(self, direction: int) -> None:
        """Read back, or on."""
        page = max(1, self._transcript.size.height - 1)
        self._transcript.scroll_relative(y=direction * page, animate=False)

    def action_follow_transcript(self) -> None:
        """Go to the end of what was said."""
        self._transcript.follow()

    def action_escape(self) -> None:
        """From the approval card: cancel the run. From anywhere else: back to the prompt."""
        if self._card.has_focus:
            self._dispatcher.cancel()
        self._prompt.focus()

    def action_interrupt(self) -> None:
        """Copy a selection; else clear the draft, else cancel the run; the second time in a row leaves."""
        selected = self.get_selected_text() or self._prompt.selected_text
        if selected:
            self.app.copy_to_clipboard(selected)
            return
        now = time.monotonic()
        is_second, self._interrupted_at = now - self._interrupted_at < _TWICE_SECONDS, now
        if is_second:
            self.leave()
        elif self._prompt.text:
            self._prompt.take()
        elif self.view.activity is not Activity.IDLE:
            self._dispatcher.cancel()
        else:
            self.notice("info", "ctrl+c again leaves.")

    def _show_view(self) -> None:
        view, had_ask = self.view, self._card.is_open
        self._header.show(show.header_values(view))
        self._status.show(show.status_values(view, self._unseen))
        self._queue.show([entry.text for entry in view.queue], wording.queue_words(view))
        self._card.show(view.asks)
        if self._card.is_open and not had_ask and not self._prompt.text:
            self._card.focus()
        elif had_ask and not self._card.is_open:
            self._prompt.focus()
