"""Rows: what a block of the transcript looks like at one width, as segments without padding or background."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from rich.segment import Segment
from rich.style import Style

from mecatui.plain_text import printable, wrap_cells

Row = list[Segment]
"""One line. Its first segment is the margin, `MARGIN` cells wide; an empty row is blank."""

MARGIN = 2
BLANK_MARGIN = " " * MARGIN


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


FrozenRow = tuple[str | int, ...]
"""A row at rest: text, ink, text, ink, and so on."""


class Inks:
    """Numbers for styles, so that rows at rest are made of strings and numbers alone.

    Those take a third of the memory of segments, and the garbage collector never looks at them: a long transcript
    would otherwise make each of its passes long.
    """

    def __init__(self) -> None:
        self._styles: list[Style | None] = []
        self._numbers: dict[Style | None, int] = {}

    def freeze(self, rows: Iterable[Row]) -> tuple[FrozenRow, ...]:
        """Rows as they are kept; neighbours in the same ink become one."""
        return tuple(self._freeze(row) for row in rows)

    def thaw(self, row: FrozenRow) -> Row:
        """A kept row as segments."""
        return [Segment(str(text), self._styles[int(ink)]) for text, ink in zip(row[::2], row[1::2], strict=True)]

    def _freeze(self, row: Row) -> FrozenRow:
        parts: list[str | int] = [row[0].text, self._number(row[0].style)] if row else []
        for style, run in groupby(row[1:], key=_style_of):
            parts += ("".join(segment.text for segment in run), self._number(style))
        return tuple(parts)

    def _number(self, style: Style | None) -> int:
        number = self._numbers.get(style)
        if number is None:
            number = self._numbers[style] = len(self._styles)
            self._styles.append(style)
        return number


def _style_of(segment: Segment) -> Style | None:
    return segment.style


def frozen_text(row: FrozenRow) -> str:
    """What a kept row says, its margin included."""
    return "".join(map(str, row[::2]))


def plain_rows(
    text: str, room: int, look: Style | None = None, *, mark: str = BLANK_MARGIN, mark_look: Style | None = None
) -> list[Row]:
    """Literal text, wrapped; `mark` (as wide as the margin) stands in front of its first row."""
    rows: list[Row] = []
    for line in printable(text).split("\n"):
        for part in wrap_cells(line.rstrip(), room):
            margin = Segment(BLANK_MARGIN) if rows else Segment(mark, mark_look)
            rows.append([margin, Segment(part, look)] if part else [margin])
    return rows


def capped(text: str, most_lines: int, most_characters: int) -> list[str]:
    """The first lines of a text, and one that says how much is not shown."""
    lines = text[:most_characters].split("\n")[:most_lines]
    hidden = len(text) - len("\n".join(lines))
    if hidden > 0:
        hidden_lines = text.count("\n") + 1 - len(lines)
        more = f"{hidden_lines:,} more lines" if hidden_lines else f"{hidden:,} more characters"
        lines.append(f"… {more} not shown")
    return lines


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
