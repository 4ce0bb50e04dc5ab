"""The approval card: what a run asks, and the keys that answer it."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from mecatui.control import Answer
from mecatui.messages import AskAnswered
from mecatui.plain_text import one_line, printable, wrap_cells
from mecatui.run_events import Ask

_GUARD_SECONDS = 0.3
_TOOL_LENGTH = 60
_HERE = "a once   w always   d deny"
_ELSEWHERE = "tab, then a once  w always  d deny"
"""What answers while the card has the keys, and while it has not."""


class ApprovalCard(Vertical, can_focus=True):
    """Shows the first of the open asks; hidden when there is none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "answer('allow_once')", "once"),
        Binding("w", "answer('allow_always')", "always"),
        Binding("d", "answer('deny')", "deny"),
        Binding("up", "scroll(-1)", "up", show=False),
        Binding("down", "scroll(1)", "down", show=False),
    ]
    DEFAULT_CSS = """
    ApprovalCard {
        height: auto;
        display: none;
        background: $surface;
        border-left: outer $warning;
        padding: 0 1;
        &.-open { display: block; }
        &:focus { border-left: outer $accent; }
        & > .approval--title, & > .approval--keys {
            height: 1;
            text-style: bold;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        & > .approval--title { color: $text-warning; }
        & > VerticalScroll { height: auto; max-height: 20vh; min-height: 0; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._asks: tuple[Ask, ...] = ()
        self._told = ""
        self._shown_at = 0.0
        self._is_built = False
        self._title = Static(classes="approval--title", markup=False)
        self._arguments = Static(markup=False)
        self._keys = Static(Content(_ELSEWHERE), classes="approval--keys", markup=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The title, the keys, and the arguments as far as a fifth of the screen."""
        del container
        room = viewport.height // 5
        rows = 0
        for line in self._told.splitlines()[:room]:
            rows += len(wrap_cells(line, max(1, width - 1)))
        return 2 + min(rows, room)

    @property
    def is_open(self) -> bool:
        """There is something to answer."""
        return bool(self._asks)

    def show(self, asks: Sequence[Ask]) -> None:
        """Show the first of these asks, or nothing."""
        before = self._asks[:1]
        self._asks = tuple(asks)
        self.set_class(bool(asks), "-open")
        if not asks:
            return
        self._build()
        if before != self._asks[:1]:
            self._shown_at = time.monotonic()
        ask = asks[0]
        of = f"   1 of {len(asks)}" if len(asks) > 1 else ""
        self._title.update(Content(f"Allow {one_line(ask.tool)[:_TOOL_LENGTH]}?{of}"))
        told = [one_line(ask.reason)] if ask.reason else []
        told += [printable(ask.arguments)] if ask.arguments else []
        self._told = "\n".join(told)
        self._arguments.update(Content(self._told))
        self.refresh(layout=True)

    def on_focus(self) -> None:
        """The keys answer now."""
        self._keys.update(Content(_HERE))

    def on_blur(self) -> None:
        """The keys are somebody else's."""
        self._keys.update(Content(_ELSEWHERE))

    def _build(self) -> None:
        """Most sessions never ask, so the parts are made for the first ask."""
        if not self._is_built:
            self._is_built = True
            self.mount(self._title, VerticalScroll(self._arguments, can_focus=False), self._keys)

    def action_answer(self, answer: str) -> None:
        """Answer the ask that is shown. A key that was pressed before it could be read does not count."""
        if self._asks and time.monotonic() - self._shown_at >= _GUARD_SECONDS:
            self.post_message(AskAnswered(self._asks[0].ask_id, Answer(answer)))

    def action_scroll(self, step: int) -> None:
        """Scroll the arguments."""
        for scroll in self.query(VerticalScroll):
            scroll.scroll_relative(y=step, animate=False)
