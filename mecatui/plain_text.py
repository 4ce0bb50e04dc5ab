"""Outside text made fit for a screen: no terminal control, no hidden direction, measured and cut by cells."""

import re
from collections.abc import Iterator

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence: colours, cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # a string for the terminal: titles, links, clipboard
    r"|\x1b[ -/]+[0-~]"
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_REMOVED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
ELLIPSIS = "…"
TAB = 4
"""Cells between tab stops."""


def printable(text: str) -> str:
    """Text over lines: escape sequences, control characters and bidi controls removed, tabs turned to spaces."""
    if text.isprintable():
        return text
    return without_controls(text).expandtabs(TAB)


def without_controls(text: str) -> str:
    """Like `printable`, with its tabs kept: for text in which a tab has a meaning."""
    if text.isprintable():
        return text
    if "\x1b" in text:
        text = _SEQUENCES.sub("", text)
    return _REMOVED.sub("", _BREAKS.sub("\n", text))


def one_line(text: str) -> str:
    """Text on one line: as `printable`, with runs of white space turned to single spaces and the ends trimmed."""
    if text.isprintable() and "  " not in text:  # of all white space only the space is printable
        return text.strip(" ")
    return " ".join(without_controls(text).split())


def cell_width(text: str) -> int:
    """The number of terminal cells that printable text takes on one line."""
    return len(text) if text.isascii() else sum(width for _, width in _clusters(text))


def clip_cells(text: str, width: int) -> str:
    """The text, or as much of its beginning as fits into `width` cells with an ellipsis; graphemes stay whole."""
    if len(text) <= width and text.isascii():
        return text
    if width <= 0:
        return ""
    if text.isascii():
        return text[: width - 1] + ELLIPSIS
    taken = end = cut = 0
    for cluster, cells in _clusters(text):
        taken += cells
        if taken > width:
            return text[:cut] + ELLIPSIS
        end += len(cluster)
        if taken < width:
            cut = end
    return text


def wrap_cells(line: str, width: int) -> list[str]:
    """One printable line as rows of at most `width` cells, broken at spaces where there are any in reach."""
    width = max(1, width)
    if line.isascii():
        return _wrap_narrow(line, width) if len(line) > width else [line]
    return _wrap_wide(line, width)


def _wrap_narrow(line: str, width: int) -> list[str]:
    rows, start = [], 0
    while len(line) - start > width:
        space = line.rfind(" ", start, start + width + 1)
        if space > start and not line[start:space].isspace():
            rows.append(line[start:space])
            start = space + 1
        else:
            rows.append(line[start : start + width])
            start += width
    rows.append(line[start:])
    return rows


def _wrap_wide(line: str, width: int) -> list[str]:
    rows: list[str] = []
    start = end = taken = 0
    space, after_space = -1, 0
    for cluster, cells in _clusters(line):
        if taken + cells > width and end > start:
            if space > start:
                rows.append(line[start:space])
                start, taken = space + 1, taken - after_space
            else:
                rows.append(line[start:end])
                start, taken = end, 0
            space = -1
        end += len(cluster)
        taken += cells
        if cluster == " ":
            space, after_space = end - 1, taken
    rows.append(line[start:])
    return rows


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Grapheme clusters with their widths in cells."""
    # Its tables take longer to load than most of the app, and plain ASCII never needs them.
    from wcwidth import iter_graphemes, wcswidth  # noqa: PLC0415 - loaded when first needed

    for cluster in iter_graphemes(text):
        yield cluster, 1 if len(cluster) == 1 and cluster.isascii() else max(0, wcswidth(cluster))
