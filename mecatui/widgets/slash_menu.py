"""The dropdown over the prompt: at most eight rows of names and descriptions, one of them lit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size, clamp
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mecatui.plain_text import cell_width, clip_cells, one_line, wrap_cells
from mecatui.widgets.line import Part, component_look, line_strip, parts_width

_MOST_ROWS = 8
_FEWEST_ROWS = 3
_DETAIL_ROWS = 3
_OTHER_ROWS = 8
"""What the screen holds beside the rows: border, header, prompt, status line, and a glimpse of the transcript."""
_NAME_SHARE = 0.4
_LONGEST_NAME = 128
_LONGEST_DESCRIPTION = 4096
_MARK = "› "
_PARTS = ("lit", "matched", "muted", "detail")
_NARROW = 56
"""Below this width a badge would leave no room for the description: it stands in the detail instead."""


@dataclass(frozen=True, slots=True)
class MenuRow:
    """What one row says. All of it is shown as it is: nothing in it is markup."""

    name: str
    """Without its slash."""
    description: str
    badge: str
    """Where it comes from, in a word or two; at the right edge."""
    matched: tuple[int, ...] = ()
    """Indices of the letters of `name` that the person typed."""
    note: str = ""
    """What is particular about it, in front of the description."""


class SlashMenu(Widget):
    """Rows under a fixed window that scrolls by index: its cost is that of the rows in sight."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"slash-menu--{part}" for part in _PARTS}
    DEFAULT_CSS = """
    SlashMenu {
        height: auto;
        width: 1fr;
        display: none;
        border: round $border-blurred;
        background: $surface;
        color: $foreground;
        padding: 0 1;
        &.-open { display: block; }
        & > .slash-menu--lit { text-style: bold; background: $primary-muted; color: $foreground; }
        & > .slash-menu--matched { text-style: bold underline; color: $text-primary; }
        & > .slash-menu--muted { color: $text-muted; }
        & > .slash-menu--detail { color: $text-muted; }
        &:ansi {
            & > .slash-menu--lit { text-style: reverse; }
            & > .slash-menu--muted { text-style: dim; }
        }
    }
    """

    @dataclass
    class Picked(Message):
        """A row was clicked."""

        row: MenuRow

    _rows: Sequence[MenuRow] = ()
    _message = ""
    _lit = 0
    _first = 0
    _detail_rows = 0
    _height = 0
    """The lines of the last layout."""
    _under = Style.null()
    _looks: Mapping[str, Style] = MappingProxyType({})

    @property
    def lit(self) -> MenuRow | None:
        """The row that Enter would take; `None` when there is none."""
        return self._rows[self._lit] if self._rows else None

    def show(self, rows: Sequence[MenuRow]) -> None:
        """Open with these rows, the first one lit."""
        self._open(rows, "")

    def show_message(self, text: str) -> None:
        """Open with one sentence in place of rows."""
        self._open((), one_line(text))

    def hide(self) -> None:
        """Close, and forget the rows."""
        self._rows, self._message, self._lit, self._first, self._detail_rows = (), "", 0, 0, 0
        self.remove_class("-open")

    def move(self, delta: int) -> None:
        """Light another row: past either end by one goes round, a longer jump stops there."""
        if not self._rows:
            return
        last = len(self._rows) - 1
        wanted = self._lit + delta
        if abs(delta) == 1:
            wanted %= last + 1
        self._lit = clamp(wanted, 0, last)
        height = self._window_height
        self._first = clamp(self._first, self._lit - height + 1, self._lit)
        self._fit_detail()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as rows in sight and detail take, whatever the place offers."""
        del container, viewport, width
        return self._window_height + self._detail_rows if self._rows else 1

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in a part of the menu."""
        # Worked out from all ancestors: once for a paint, not once for a line.
        self._under = self.rich_style
        self._looks = {part: component_look(self, f"slash-menu--{part}") for part in _PARTS}
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line: a row, a line of the detail, or the message."""
        width, style = self.size.width, self._under
        if not self._rows:
            muted = self._look("muted")
            return line_strip([(self._message if y == 0 else "", muted)], [], width, style)
        if y < self._window_height:
            index = self._first + y
            return self._row_strip(index, width) if index < len(self._rows) else Strip.blank(width, style)
        lines = self._detail_lines(width)
        line = y - self._window_height
        text = lines[line] if line < len(lines) else ""
        if line == self._detail_rows - 1 and line + 1 < len(lines):
            text = clip_cells(text + " " * width, width)
        return line_strip([(text, self._look("detail"))], [], width, style)

    def on_click(self, event: events.Click) -> None:
        """Take the row under the pointer."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        index = self._first + offset.y
        if offset.y < self._window_height and index < len(self._rows):
            self._lit = index
            self._fit_detail()
            self.post_message(self.Picked(self._rows[index]))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Light the row below."""
        event.stop()
        if self._lit + 1 < len(self._rows):
            self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Light the row above."""
        event.stop()
        if self._lit:
            self.move(-1)

    def on_resize(self) -> None:
        """Keep the lit row in sight when the window gets shorter."""
        height = self._window_height
        self._first = clamp(self._first, max(0, self._lit - height + 1), self._lit)
        self._detail_rows = 0
        self._fit_detail()

    @property
    def _window_height(self) -> int:
        room = clamp((self.screen.size.height - _OTHER_ROWS + 2) // 2, _FEWEST_ROWS, _MOST_ROWS)
        return min(room, len(self._rows))

    def _open(self, rows: Sequence[MenuRow], message: str) -> None:
        self._rows, self._message, self._lit, self._first, self._detail_rows = rows, message, 0, 0, 0
        self.add_class("-open")
        self._fit_detail()

    def _fit_detail(self) -> None:
        """Make room for the description of the lit row. The room only grows while open: rows must not jump about."""
        before = self._detail_rows
        room = max(0, self.screen.size.height - self._window_height - _OTHER_ROWS)
        # Before the first layout there is no width yet: the border and the padding take four cells.
        width = self.size.width or self.screen.size.width - 4
        in_sight = self._rows[self._first : self._first + self._window_height]
        needed = max((self._lines_needed(row, width) for row in in_sight), default=0)
        self._detail_rows = min(room, max(before, needed, len(self._detail_lines(width)))) if self._rows else 0
        height = self._window_height + self._detail_rows
        self.refresh(layout=height != self._height)
        self._height = height

    def _lines_needed(self, row: MenuRow, width: int) -> int:
        """How many lines the detail of a row would take, up to the usual most."""
        most = _DETAIL_ROWS * width
        return min(_DETAIL_ROWS, len(wrap_cells(_detail(row, width, most), max(1, width))))

    def _detail_lines(self, width: int) -> list[str]:
        return wrap_cells(_detail(self.lit, width, _LONGEST_DESCRIPTION), max(1, width)) if self.lit else []

    def _row_strip(self, index: int, width: int) -> Strip:
        row, lit = self._rows[index], index == self._lit
        mark = _MARK if lit else " " * len(_MARK)
        name_width = self._name_width(width)
        name = self._name_parts(row, name_width)
        padding = " " * (name_width - parts_width(name) + 2)
        note = one_line(row.note[:_LONGEST_DESCRIPTION])
        text = one_line(row.description[:_LONGEST_DESCRIPTION])
        muted = self._look("muted")
        said: list[Part] = [(note + (": " if text else ""), None), (text, muted)] if note else [(text, muted)]
        badge = clip_cells(one_line(row.badge[:_LONGEST_NAME]), width // 3) if width >= _NARROW else ""
        style = self._under + self._look("lit") if lit else self._under
        left: list[Part] = [(mark, None), *name, (padding, None), *said]
        return line_strip(left, [(badge, muted)] if badge else [], width, style)

    def _name_width(self, width: int) -> int:
        """The width of the names in sight, at most two fifths of the line."""
        shown = self._rows[self._first : self._first + self._window_height]
        widest = max(cell_width(_name(row)) for row in shown)
        return min(widest, int(width * _NAME_SHARE))

    def _name_parts(self, row: MenuRow, width: int) -> list[Part]:
        """The slash and the name, clipped, the letters that match set off."""
        name = clip_cells(_name(row), width)
        if one_line(row.name) != row.name:
            return [(name, None)]
        matched, look = {index + 1 for index in row.matched}, self._look("matched")
        runs = groupby(enumerate(name), key=lambda letter: letter[0] in matched)
        return [("".join(letter for _, letter in run), look if is_match else None) for is_match, run in runs]

    def _look(self, part: str) -> Style:
        return self._looks.get(part, self._under)


def _detail(row: MenuRow, width: int, most: int) -> str:
    """All about a row that its own line may have no room for, in at most so many characters a part."""
    parts = [row.badge[:_LONGEST_NAME] if width < _NARROW else "", row.note, row.description]
    said = (one_line(part[:most]) for part in parts)
    return ": ".join(part for part in said if part)


def _name(row: MenuRow) -> str:
    return "/" + one_line(row.name[:_LONGEST_NAME])
