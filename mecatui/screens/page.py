"""A page over the chat: a title, a list of lines, more about the lit one, and the keys that leave it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from mecatui.widgets.lines import Line, LineList


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a page, what there is to say about it, and what it puts into the prompt."""

    line: Line
    detail: str = ""
    inserts: str = ""


class PageScreen(Screen[str]):
    """Shows items. Its result is what the chosen item puts into the prompt; empty when it was just closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "close"),
    ]

    def __init__(self, title: str, items: Sequence[Item], *, keys: str = "esc closes") -> None:
        super().__init__()
        self._heading = title
        self._keys = keys
        self._items = {item.line.key: item for item in items if item.line.key}
        self._list = LineList([item.line for item in items])
        self._detail = Static(markup=False)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(Content(self._heading), classes="page--title", markup=False)
        yield self._list
        with VerticalScroll(classes="page--detail", can_focus=False):
            yield self._detail
        yield Static(Content(self._keys), classes="page--keys", markup=False)

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(".page--detail").display = bool(self._items)
        self._list.focus()

    def on_line_list_lit(self, message: LineList.Lit) -> None:
        """Say all about the lit line."""
        item = self._items.get(message.key)
        self._detail.update(Content(item.detail if item else ""))

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Put the line into the prompt."""
        item = self._items.get(message.key)
        if item and item.inserts:
            self.dismiss(item.inserts)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss("")
