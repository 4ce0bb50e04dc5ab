"""The transcript: everything said in a session, in one widget that draws lines.

    deltas ──► MarkdownBlocks ──► finished blocks ─┐
                     └──────────► live block ──────┤
    prompts, notices, tool cards ──────────────────┴──► Column ──► ColumnView

A finished block is drawn once for each width: when it comes into sight, or in short slices of work afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from mecatui.widgets.blocks import Level, NoticeBlock
from mecatui.widgets.column import Entry
from mecatui.widgets.column_view import ColumnView
from mecatui.widgets.conversation import Conversation
from mecatui.widgets.tool_card import ToolCard


class Transcript(ColumnView, can_focus=True):
    """What was said. Values in, messages out; it asks nothing of anybody."""

    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", "Up", show=False),
        Binding("down", "step(1)", "Down", show=False),
        Binding("enter,space", "choose", "Open or close", show=False),
        Binding("end", "follow", "To the end", show=False),
    ]
    LOOKS: ClassVar[Mapping[str, str]] = {
        look: f"transcript--{look}"
        for look in (
            *("prompt", "info", "success", "warning", "error", "tool", "lit", "detail", "reasoning"),
            *("heading", "code", "quote", "mark", "link", "emphasis", "strong", "struck"),
        )
    }
    COMPONENT_CLASSES: ClassVar[set[str]] = {*LOOKS.values()}
    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        width: 1fr;
        padding: 0 0 0 1;
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .transcript--prompt { text-style: bold; }
        & > .transcript--info { color: $text-muted; }
        & > .transcript--success { color: $text-success; }
        & > .transcript--warning { color: $text-warning; }
        & > .transcript--error { color: $text-error; text-style: bold; }
        & > .transcript--tool { color: $text-secondary; }
        & > .transcript--lit { text-style: bold reverse; }
        & > .transcript--detail { color: $text-muted; }
        & > .transcript--reasoning { color: $text-muted; text-style: italic; }
        & > .transcript--heading { color: $text-primary; text-style: bold; }
        & > .transcript--code { color: $text-accent; }
        & > .transcript--quote { color: $text-muted; }
        & > .transcript--mark { color: $text-primary; }
        & > .transcript--link { text-style: underline; }
        & > .transcript--emphasis { text-style: italic; }
        & > .transcript--strong { text-style: bold; }
        & > .transcript--struck { text-style: strike; }
    }
    """

    @dataclass
    class NamesChosen(Message):
        """A notice that concerns these skills was chosen."""

        names: frozenset[str]

    @dataclass
    class Unseen(Message):
        """How many prompts, notices, cards and texts came below what is in sight; 0 when the end is in sight again."""

        count: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id, classes=classes)
        self._said = Conversation(self.column)
        self._seen = self._unseen = 0
        self._lit: Entry | None = None

    # ------------------------------------------------------------------ what comes in

    @property
    def text(self) -> str:
        """All that was said, unwrapped; Markdown as it was written."""
        return self._said.text

    def add_prompt(self, text: str) -> None:
        """Show what the person sent, and go to the end."""
        self._said.add_prompt(text)
        self.follow()

    def add_notice(self, text: str, *, level: Level = "info", names: frozenset[str] = frozenset()) -> None:
        """Show what the app has to say, in one line or several; choosing it shows the skills of these names."""
        self.show_from_head(self._said.add_notice(text, level, names))

    def add_tool(self, call_id: str, title: str, detail: str = "") -> None:
        """Show a card for a tool that runs; `detail` is what it was asked."""
        self._said.add_tool(call_id, title, detail)
        self.request_frame()

    def finish_tool(self, call_id: str, *, ok: bool, summary: str = "", detail: str = "") -> None:
        """Show how a tool ended; `detail` is what came back."""
        self._said.finish_tool(call_id, ok=ok, summary=summary, detail=detail)
        self.request_frame()

    def append_text(self, delta: str) -> None:
        """Add to the answer that is arriving, or begin one."""
        self._said.append("answer", delta)
        self.request_frame()

    def append_reasoning(self, delta: str) -> None:
        """Add to the reasoning that is arriving, or begin one."""
        self._said.append("reasoning", delta)
        self.request_frame()

    def end_text(self) -> None:
        """The answer or reasoning is complete."""
        self._said.end_text()
        self.request_frame()

    def clear(self) -> None:
        """Show nothing."""
        self._said.clear()
        self._lit = None
        self.follow()

    def take_in(self) -> None:
        """Take in the text that waits, and count what came out of sight."""
        self._said.absorb()
        if self.following:
            self._seen = self._said.begun
        if (unseen := self._said.begun - self._seen) != self._unseen:
            self._unseen = unseen
            self.post_message(self.Unseen(unseen))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """At the end nothing is unseen."""
        super().watch_scroll_y(old_value, new_value)
        if self.following and self._unseen:
            self.request_frame()

    # ------------------------------------------------------------------ what can be chosen

    def action_follow(self) -> None:
        """Go to the end."""
        self.follow()

    def action_step(self, delta: int) -> None:
        """Light what can be chosen next in that direction where it is in sight; else scroll by a line."""
        entry = self._next(delta)
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if entry is not None and top <= self._line_of(entry) < top + height:
            self._light(entry)
        else:
            self.scroll_relative(y=delta, animate=False)

    def action_choose(self) -> None:
        """Open or close the card that is lit, or show what the lit notice is about."""
        if self._lit is not None:
            self._choose(self._lit)

    def on_click(self, event: events.Click) -> None:
        """Open or close the card whose line was clicked; the end of a selection is not a click."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None or not self.column.entries:
            return
        line = offset.y + self.scroll_offset.y
        entry = self.column.entries[self.column.index_at(line)]
        if _can_be_chosen(entry) and line == self._line_of(entry):
            event.stop()
            self._choose(entry)

    def on_blur(self) -> None:
        """Nothing is lit without the focus."""
        self._light(None)

    def _next(self, delta: int) -> Entry | None:
        entries = self.column.entries
        if self._lit is not None:
            candidates = entries[self._lit.index + 1 :] if delta > 0 else entries[: self._lit.index][::-1]
        else:
            first, row = self._anchor()
            candidates = entries[first + (row > 0) :] if delta > 0 else entries[::-1]
        return next(filter(_can_be_chosen, candidates), None)

    def _line_of(self, entry: Entry) -> int:
        return self.column.start(entry.index) + entry.gap

    def _light(self, entry: Entry | None) -> None:
        for either, is_lit in ((self._lit, False), (entry, True)):
            if either is not None and isinstance(either.block, ToolCard | NoticeBlock):
                either.block.is_lit = is_lit
                self.column.redraw(either)
        self._lit = entry
        self.request_frame()

    def _choose(self, entry: Entry) -> None:
        if isinstance(entry.block, NoticeBlock):
            self.post_message(self.NamesChosen(entry.block.names))
        elif isinstance(entry.block, ToolCard) and entry.block.has_detail:
            entry.block.is_open = not entry.block.is_open
            self.column.redraw(entry)
            self.hold()


def _can_be_chosen(entry: Entry) -> bool:
    block = entry.block
    return isinstance(block, ToolCard) or (isinstance(block, NoticeBlock) and bool(block.names))
