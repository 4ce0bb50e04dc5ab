"""One line of a widget, put together from parts: left parts, a gap, right parts, never wider than asked."""

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from mecatui.plain_text import cell_width, clip_cells

Part = tuple[str, Style | None]
"""A piece of text on one line and how it looks."""


def component_look(widget: Widget, component: str) -> Style:
    """How a component of a widget looks, on whatever background it stands.

    Colours that Textual works out from what is behind them are worked out; the background is only there where the
    component's own rules give one.
    """
    own = widget.get_component_rich_style(component, partial=True)
    return own + Style(color=widget.get_component_rich_style(component).color)


def parts_width(parts: Iterable[Part]) -> int:
    """The cells that the parts take side by side."""
    return sum(cell_width(text) for text, _ in parts)


def clip_parts(parts: Sequence[Part], width: int) -> list[Part]:
    """The parts, or as many as fit into `width` cells, the last of them cut with an ellipsis."""
    kept: list[Part] = []
    room = width
    for index, (text, style) in enumerate(parts):
        cells = cell_width(text)
        more_follows = any(later for later, _ in parts[index + 1 :])
        if cells > room or (cells == room and more_follows):
            # A part that fills the line to its last cell gives it up, so that the ellipsis shows that more follows.
            kept.append((clip_cells(text if cells > room else text + " ", room), style))
            break
        kept.append((text, style))
        room -= cells
    return [part for part in kept if part[0]]


def line_strip(left: Sequence[Part], right: Sequence[Part], width: int, style: Style) -> Strip:
    """A strip of exactly `width` cells: `left` at its left, clipped to what `right` leaves, `right` at its end."""
    tail = clip_parts(right, width)
    tail_width = parts_width(tail)
    room = width - tail_width - (1 if tail else 0)
    head = clip_parts(left, max(0, room))
    gap = width - tail_width - parts_width(head)
    parts: list[Part] = [*head, (" " * max(0, gap), None), *tail]
    strip = Strip([Segment(text, look) for text, look in parts if text])
    return strip.adjust_cell_length(width, style).apply_style(style)
