"""The prompt: several lines of text, sent by Enter, with history, folded pastes and a ghost for arguments."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.actions import SkipAction
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea

from mecatui.plain_text import one_line, without_controls
from mecatui.widgets.drafts import Drafts
from mecatui.widgets.pastes import Pastes

_MARK = "❯ "
_MENU_KEYS = frozenset({"up", "down", "tab", "enter", "escape", "pageup", "pagedown"})
_BREAK_KEYS = frozenset({"shift+enter", "ctrl+j", "alt+enter", "ctrl+enter", "shift+\r", "alt+\r", "ctrl+\r", "\r"})
"""Enter with a modifier, in the names that it has under each way of terminals to tell of it."""


def _never(_: str) -> bool:
    return False


class Prompt(TextArea):
    """Where a person types. It decides nothing: it posts what was typed, and the screen answers."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--mark"}
    DEFAULT_CSS = """
    Prompt {
        height: auto;
        min-height: 1;
        max-height: 8;
        width: 1fr;
        padding: 0 1;
        border: none;
        background: $background;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & > .prompt--mark { color: $text-primary; text-style: bold; }
    }
    """

    @dataclass
    class Submitted(Message):
        """Enter was pressed: the whole text, folded pastes and all. The prompt keeps it until `take`."""

        text: str

    @dataclass
    class Edited(Message):
        """The text changed or the cursor moved. Pastes are folded here, as on the screen."""

        text: str
        cursor_offset: int

    class TabPressed(Message):
        """Tab was pressed and no menu is open."""

    class EscapePressed(Message):
        """Escape was pressed and no menu is open."""

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's word
        self.menu_takes: Callable[[str], bool] = _never
        """Asked of each key that a menu may want, while it is handled and before the next one is: keys that come in
        one burst must not overtake a completion. True means that the menu took it. Set by the screen."""
        self._hint = ""
        self._pastes = Pastes()
        self._drafts = Drafts()
        self._submitted: str | None = None
        self._announced: tuple[str, int] = ("", 0)
        super().__init__(
            placeholder=placeholder, id=id, soft_wrap=True, compact=True, highlight_cursor_line=False, show_cursor=True
        )
        # A blinking cursor alone costs more than all else that an idle app does.
        self.cursor_blink = False
        self.match_cursor_bracket = False

    @property
    def draft(self) -> str:
        """All that is in the prompt, folded pastes unfolded."""
        return self._pastes.unfold(self.text)

    @property
    def cursor_index(self) -> int:
        """Where the cursor is, as an index into `text`."""
        row, column = self.cursor_location
        return sum(len(self.document[line]) + 1 for line in range(row)) + column

    def take(self) -> str:
        """Take what was submitted, remember it in the history, and leave only what was typed since."""
        shown = self.text
        rest = ""
        if self._submitted is not None and shown.startswith(self._submitted):
            shown, rest = self._submitted, shown[len(self._submitted) :]
        self._submitted = None
        text = self._pastes.unfold(shown)
        self._drafts.remember(text)
        self._put(rest)
        return text

    def set_draft(self, text: str) -> None:
        """Replace the text, the cursor at its end."""
        self._submitted = None
        self._drafts.leave()
        self._put(self._pastes.fold(without_controls(text)))

    def set_hint(self, text: str) -> None:
        """What could be typed next, shown dim after the cursor while it stands at the end; empty for nothing."""
        self._hint = one_line(text)
        self.update_suggestion()

    def load_history(self, entries: Iterable[str]) -> None:
        """Replace the history that Up and Down walk through, oldest first."""
        self._drafts.load(entries)

    def submit(self) -> None:
        """Post the text as Enter does; nothing but white space is not posted."""
        text = self.draft
        if text.strip():
            self._submitted = self.text
            # What is typed before the screen takes the text comes after it, not into it.
            self.move_cursor(self.document.end)
            self.post_message(self.Submitted(text))

    # ------------------------------------------------------------------ keys

    async def _on_key(self, event: events.Key) -> None:
        key = event.key
        if key in _MENU_KEYS and self.menu_takes(key):
            pass
        elif key == "enter":
            self._enter()
        elif key in _BREAK_KEYS:
            self._insert("\n")
        elif key == "tab":
            self.post_message(self.TabPressed())
        elif key == "escape":
            self.post_message(self.EscapePressed())
        else:
            return
        event.stop()
        event.prevent_default()

    def _enter(self) -> None:
        row, column = self.cursor_location
        if self.selection.is_empty and column and self.document[row][column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
        else:
            self.submit()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._insert(self._pastes.fold(without_controls(event.text)))

    def _insert(self, text: str) -> None:
        result = self.replace(text, *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def action_cursor_up(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Up a row; from the first row, the entry before in the history."""
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self._recall(self._drafts.before(self.draft))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Down a row; from the last row, the entry after in the history, and at last the unsent draft."""
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            self._recall(self._drafts.after())
        else:
            super().action_cursor_down(select)

    def action_cursor_right(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Right by one; the hint is something to read, so it is not inserted."""
        if select or not self.suggestion:
            super().action_cursor_right(select)

    def action_cursor_page_up(self) -> None:
        """A page up, where there is more than a page; else the key is the screen's."""
        if self.virtual_size.height <= self.size.height:
            raise SkipAction
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        """A page down, where there is more than a page; else the key is the screen's."""
        if self.virtual_size.height <= self.size.height:
            raise SkipAction
        super().action_cursor_page_down()

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self._put(self._pastes.fold(text))

    def _put(self, text: str) -> None:
        if text != self.text:
            self.replace(text, self.document.start, self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    # ------------------------------------------------------------ text area

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit; one that would tear a paste marker takes the whole of it."""
        top, bottom = edit.top, edit.bottom
        wider = (self._marker_end(top, at_start=True), self._marker_end(bottom, at_start=False))
        if wider != (top, bottom):
            edit = replace(edit, from_location=wider[0], to_location=wider[1])
        return super().edit(edit)

    def _marker_end(self, location: Location, *, at_start: bool) -> Location:
        """The location, or where the paste marker begins or ends that it is inside of."""
        row, column = location
        if row >= self.document.line_count:
            return location
        span = self._pastes.marker_around(self.document[row], column)
        return location if span is None else (row, span[0] if at_start else span[1])

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the cursor out of the inside of paste markers: it jumps over them."""
        forward = selection.end >= self.selection.end
        return Selection(
            self._marker_end(selection.start, at_start=not forward),
            self._marker_end(selection.end, at_start=not forward),
        )

    def watch_selection(self) -> None:
        """The cursor moved."""
        self.update_suggestion()

    def update_suggestion(self) -> None:
        """After every edit: show the hint where it belongs, and say what is in the prompt now."""
        self.suggestion = self._hint if self.text and self.cursor_location == self.document.end else ""
        state = (self.text, self.cursor_index)
        if state != self._announced:
            self._announced = state
            self.post_message(self.Edited(*state))

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """No brackets are matched: the search would read a long text at every key."""
        del bracket, search_from
        return None

    @property
    def gutter_width(self) -> int:
        """The width of the marker at the left."""
        return len(_MARK)

    def render_line(self, y: int) -> Strip:
        """One row: the marker at the first, then the text."""
        width = self.size.width
        first = y + self.scroll_offset.y == 0
        look = self.get_component_rich_style("prompt--mark")
        mark = Segment(_MARK if first else " " * len(_MARK), look)
        line = super().render_line(y).crop(0, max(0, width - len(_MARK)))
        return Strip([mark, *line]).adjust_cell_length(width, self.rich_style)
