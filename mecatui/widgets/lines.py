"""A long list of lines: only those on the screen are drawn, and one of them may be lit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from mecatui.plain_text import cell_width, clip_cells

Kind = Literal["plain", "heading", "dim", "warning"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line; with a `key` it can be lit. `state` stands before `text`, each clipped to the width."""

    text: str
    kind: Kind = "plain"
    key: str = ""


class LineList(ScrollView, can_focus=True):
    """Shows lines. Arrow keys move the light where lines can be lit, and scroll where none can."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False),
        Binding("down", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "edge(-1)", "top", show=False),
        Binding("end", "edge(1)", "bottom", show=False),
        Binding("enter", "choose", "choose", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lines--plain",
        "lines--heading",
        "lines--dim",
        "lines--warning",
        "lines--lit",
    }
    DEFAULT_CSS = """
    LineList {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        & > .lines--heading { color: $primary; text-style: bold; }
        & > .lines--dim { color: $text-muted; }
        & > .lines--warning { color: $text-warning; }
        & > .lines--lit { background: $surface-lighten-1; text-style: bold; }
        &:focus > .lines--lit { background: $primary-muted; }
    }
    """

    class Lit(Message):
        """Another line is lit."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Chosen(Message):
        """A line was chosen, by key or by mouse."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._lines = tuple(lines)
        self._places = [place for place, line in enumerate(self._lines) if line.key]
        self._lit = 0

    def on_mount(self) -> None:
        """Tell which line is lit first."""
        self._measure()
        self._tell()

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Show other lines, with the first that can be lit."""
        self._lines = tuple(lines)
        self._places = [place for place, line in enumerate(self._lines) if line.key]
        self._lit = 0
        self._measure()
        self.scroll_to(0, 0, animate=False)
        self.refresh()
        self._tell()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        place = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if place >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[place]
        is_lit = bool(self._places) and self._places[self._lit] == place
        style = self.get_component_rich_style("lines--lit" if is_lit else f"lines--{line.kind}")
        text = clip_cells(line.text, width)
        return Strip([Segment(text + " " * (width - cell_width(text)), style)], width)

    def on_click(self, event: events.Click) -> None:
        """Light the line under the mouse; a second click chooses it."""
        place = event.y + self.scroll_offset.y
        if place in self._places:
            was_lit = self._places[self._lit] == place
            self._light(self._places.index(place))
            if was_lit:
                self.action_choose()

    def action_move(self, step: int) -> None:
        """Light the next line, or scroll by one."""
        if self._places:
            self._light(self._lit + step)
        else:
            self.scroll_relative(y=step, animate=False)

    def action_page(self, direction: int) -> None:
        """Go on by a page."""
        self.action_move(direction * max(1, self.scrollable_content_region.height - 1))

    def action_edge(self, direction: int) -> None:
        """Go to the first or the last line."""
        self.action_move(direction * max(1, len(self._lines)))

    def action_choose(self) -> None:
        """Choose the lit line."""
        if self._places:
            self.post_message(self.Chosen(self._lines[self._places[self._lit]].key))

    def _light(self, index: int) -> None:
        self._lit = min(max(index, 0), len(self._places) - 1)
        place = self._places[self._lit]
        # The heading above the first line of a group comes into sight with it.
        top = place - 1 if self._lit == 0 or self._places[self._lit - 1] != place - 1 else place
        self.scroll_to_region(Region(0, max(0, top), 1, place - max(0, top) + 1), animate=False)
        self.refresh()
        self._tell()

    def _measure(self) -> None:
        self.virtual_size = Size(1, len(self._lines))

    def _tell(self) -> None:
        if self._places:
            self.post_message(self.Lit(self._lines[self._places[self._lit]].key))
