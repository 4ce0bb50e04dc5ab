"""A column of blocks on the screen: draws what is in sight, follows its end, lets text be selected."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, thread_time
from typing import ClassVar

from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from mecatui.widgets.column import Column, Entry
from mecatui.widgets.line import component_look
from mecatui.widgets.rows import MARGIN, Paper, frozen_text, highlighted

_FRAME = 1 / 30
"""Seconds from one frame of arriving text to the next."""
_SLICE = 0.016
_PAUSE = 0.02
"""Blocks out of sight are drawn in slices of `_SLICE` seconds of work, `_PAUSE` apart, until none is left."""
_CACHED_STRIPS = 512


class ColumnView(ScrollView):
    """Follows the end of its column while that is in sight; otherwise nothing moves."""

    ALLOW_SELECT = True
    LOOKS: ClassVar[Mapping[str, str]] = {}
    """The looks of its paper, and the component class of each."""

    @dataclass
    class FollowChanged(Message):
        """The view began or ceased to follow its end."""

        following: bool

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id, classes=classes)
        self.column = Column()
        self.following = True
        """Whether the end is in sight and stays so."""
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(_CACHED_STRIPS)
        self._looks_known = self._frame_due = self._slice_due = self._placing = self._holding = False
        self._under = Style.null()
        self._last_frame = 0.0
        self._headed: Entry | None = None
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    def take_in(self) -> None:
        """Before each frame: bring the column up to date."""

    async def drawn(self) -> None:
        """Wait until all that came is drawn, in sight and out of it."""
        await self._at_rest.wait()

    def follow(self) -> None:
        """Go to the end, and follow it."""
        self._set_following(following=True)
        self.request_frame()

    def show_from_head(self, entry: Entry) -> None:
        """Show what is new at the end; if all of it has no room, from its first line on."""
        self._headed = entry if self.following else None
        self.request_frame()

    def hold(self) -> None:
        """In the next frame, keep what is in sight where it is, even at the end."""
        self._holding = True
        self.request_frame()

    # ------------------------------------------------------------------ frames

    def request_frame(self) -> None:
        """One frame soon: at once after a pause, else a thirtieth of a second after the last."""
        if self._frame_due or not self.is_mounted:
            return
        self._frame_due = True
        self._at_rest.clear()
        delay = self._last_frame + _FRAME - monotonic()
        if delay > 0:
            self.set_timer(delay, self._frame)
        else:
            self.call_later(self._frame)

    def _frame(self) -> None:
        self._frame_due = False
        self._last_frame = monotonic()
        anchor = self._anchor()
        self.take_in()
        self._lay_out(anchor)

    def on_resize(self) -> None:
        """Draw for the new size at once."""
        self._frame()

    def notify_style_update(self) -> None:
        """Draw again if the theme changed how things look."""
        super().notify_style_update()
        self._looks_known = False
        self._strips.clear()
        self.request_frame()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody scrolled: at the end, begin to follow; elsewhere, cease to."""
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
            self._set_following(following=new_value >= self.max_scroll_y)
            self._lay_out(self._anchor())

    def _set_following(self, *, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.post_message(self.FollowChanged(following))

    # ------------------------------------------------------------------ layout

    def _anchor(self) -> tuple[int, int]:
        """The first entry in sight, and how many of its lines are above."""
        top = self.scroll_offset.y
        index = self.column.index_at(top)
        return index, max(0, top - self.column.start(index))

    def _lay_out(self, anchor: tuple[int, int]) -> None:
        """Draw what is in sight, then set height and place: the end when following, else what the anchor says."""
        region, column = self.scrollable_content_region, self.column
        if not region.width or not region.height:
            self._at_rest.set()
            return
        self._use_paper(region.width)
        top, held, self._holding = 0, self._holding, False
        if self.following and not held:
            self._draw_up(region.height)
            top = self._end(region.height)
        elif column.entries:
            index, row = anchor
            self._draw_down(index, row, region.height)
            top = column.start(index) + min(row, max(0, column.entries[index].height - 1))
        self._placing = True
        self.virtual_size = Size(region.width, column.height)
        top = min(top, self.max_scroll_y)
        # A scroll that is under way would lose its aim.
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self._placing = False
        self._set_following(following=self.scroll_offset.y >= self.max_scroll_y)
        self.refresh()
        if not self._slice_due and column.undrawn is not None:
            self._slice_due = True
            self._at_rest.clear()
            self.set_timer(_PAUSE, self._draw_slice)
        if not self._slice_due and not self._frame_due:
            self._at_rest.set()

    def _end(self, height: int) -> int:
        """The line to show at the top when following: the last ones are in sight, but the head of what is too tall."""
        headed, self._headed = self._headed, None
        is_last = headed is not None and headed.index == len(self.column.entries) - 1
        if headed is not None and is_last and headed.height - headed.gap > height:
            return self.column.start(headed.index) + headed.gap
        return self.column.height

    def _use_paper(self, width: int) -> None:
        if self._looks_known and self.column.paper is not None and self.column.paper.width == width:
            return
        self._looks_known = True
        looks = {look: component_look(self, component) for look, component in self.LOOKS.items()}
        paper = Paper(width, looks, self.app.current_theme.dark)
        if paper == self.column.paper:
            return
        if self.text_selection is not None:
            self.screen.clear_selection()
        self.column.use(paper)

    def _draw_up(self, height: int) -> None:
        """Draw the last entries until they fill the height."""
        for entry in reversed(self.column.entries):
            self.column.draw(entry)
            height -= entry.height
            if height <= 0:
                break

    def _draw_down(self, index: int, row: int, height: int) -> None:
        """Draw from the entry at `index` on, `row` lines of which are above, until the height is filled."""
        height += row
        for entry in self.column.entries[index : index + height]:
            self.column.draw(entry)
            height -= entry.height
            if height <= 0:
                break

    def _draw_slice(self) -> None:
        """Draw some of what is out of sight, so that heights become exact and scrolling finds it there."""
        self._slice_due = False
        anchor, until = self._anchor(), thread_time() + _SLICE
        while (entry := self.column.undrawn) is not None and thread_time() < until:
            self.column.draw(entry)
        self._lay_out(anchor)

    # ------------------------------------------------------------------ lines

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in a part of the viewport."""
        # Worked out from all ancestors: once for a paint, not once for a line.
        self._under = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """The line at `y` of the viewport."""
        line = self.scroll_offset.y + y
        width, style = self.scrollable_content_region.width, self._under
        if line >= self.column.height:
            return Strip.blank(width, style)
        entry, row = self._at(line)
        if row >= len(entry.rows) or not entry.rows[row]:
            return Strip.blank(width, style).apply_offsets(0, line)
        selection = self.text_selection
        span = selection.get_span(line) if selection is not None else None
        key = (entry.version, row, line, span, width, style)
        strip = self._strips.get(key)
        if strip is None:
            segments = self.column.inks.thaw(entry.rows[row])
            if span is not None:
                segments = highlighted(segments, span, self.screen.get_component_rich_style("screen--selection"))
            strip = Strip(segments).apply_offsets(0, line).crop_extend(0, width, None).apply_style(style)
            self._strips[key] = strip
        return strip

    def _at(self, line: int) -> tuple[Entry, int]:
        index = self.column.index_at(line)
        return self.column.entries[index], line - self.column.start(index)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it is shown, without the margin."""
        column = self.column
        if not column.entries:
            return None
        for entry in column.entries if selection.start is None or selection.end is None else ():
            column.draw(entry)
        first = 0 if selection.start is None else selection.start.y
        last = column.height - 1 if selection.end is None else min(selection.end.y, column.height - 1)
        lines = []
        for line in range(first, last + 1):
            span = selection.get_span(line)
            entry, row = self._at(line)
            text = frozen_text(entry.rows[row]) if row < len(entry.rows) else ""
            start, end = span if span is not None else (0, 0)
            lines.append(text[max(start, MARGIN) : len(text) if end == -1 else end].rstrip())
        return "\n".join(lines), "\n"
