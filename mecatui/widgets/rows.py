"""Rows: what a block of the transcript looks like at one width, as segments without padding or background."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style

from mecatui.plain_text import printable, wrap_cells

Row = list[Segment]
"""One line. Its first segment is the margin, `MARGIN` cells wide; an empty row is blank."""

MARGIN = 2
_BLANK_MARGIN = " " * MARGIN


@dataclass(frozen=True, slots=True)
class Paper:
    """What blocks are drawn on: how wide it is, and how each kind of thing looks on it."""

    width: int
    looks: Mapping[str, Style]
    dark: bool = True
    """Which of the two sets of colours code is drawn in."""

    @property
    def room(self) -> int:
        """The cells beside the margin."""
        return max(1, self.width - MARGIN)


def plain_rows(
    text: str, room: int, look: Style | None = None, *, mark: str = _BLANK_MARGIN, mark_look: Style | None = None
) -> list[Row]:
    """Literal text, wrapped; `mark` (as wide as the margin) stands in front of its first row."""
    rows: list[Row] = []
    for line in printable(text).split("\n"):
        for part in wrap_cells(line.rstrip(), room):
            margin = Segment(_BLANK_MARGIN) if rows else Segment(mark, mark_look)
            rows.append([margin, Segment(part, look)] if part else [margin])
    return rows


def row_text(row: Iterable[Segment]) -> str:
    """What a row says, its margin included."""
    return "".join(segment.text for segment in row)


def segments_of(parts: Iterable[tuple[str, Style | None]]) -> Row:
    """Parts of a line as segments."""
    return [Segment(text, look) for text, look in parts]


def highlighted(row: Row, span: tuple[int, int], look: Style) -> Row:
    """The row with the characters of `span` (its end -1 for the end of the row) in another look."""
    start, end = span
    parts: Row = []
    at = 0
    for text, style, _ in row:
        first = min(max(0, start - at), len(text))
        last = len(text) if end == -1 else min(max(0, end - at), len(text))
        last = max(first, last)
        pieces = ((text[:first], style), (text[first:last], (style or Style.null()) + look), (text[last:], style))
        parts += [Segment(piece, piece_style) for piece, piece_style in pieces if piece]
        at += len(text)
    return parts
