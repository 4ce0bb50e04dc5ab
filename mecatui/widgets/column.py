"""Blocks one under the other: how high each is, which line belongs to which, drawn when it comes into sight."""

from bisect import bisect_right
from dataclasses import dataclass

from mecatui.widgets.blocks import Block
from mecatui.widgets.rows import FrozenRow, Inks, Paper


@dataclass(slots=True, eq=False)
class Entry:
    """A block and its place. `rows` are those of the last drawing; `height` is a guess until they are there."""

    block: Block
    index: int
    """Its place in the column."""
    gap: bool
    """A blank line stands above it."""
    height: int = 1
    rows: tuple[FrozenRow, ...] = ()
    drawn_on: Paper | None = None
    version: int = 0
    """Another one for each drawing of anything."""


class Column:
    """All blocks of a transcript. Only what is asked for is drawn; the rest has a guessed height until then."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.paper: Paper | None = None
        self.inks = Inks()
        self._starts: list[int] = []
        self._versions = 0
        self._undrawn: dict[Entry, None] = {}

    @property
    def height(self) -> int:
        """The lines of all entries."""
        return self.start(len(self.entries))

    def insert(self, index: int, block: Block, *, gap: bool) -> Entry:
        """Put a block before the one at `index`, with a guessed height."""
        entry = Entry(block, index, gap and index > 0)
        entry.height = self._guess(entry)
        self.entries.insert(index, entry)
        for later in self.entries[index + 1 :]:
            later.index += 1
        self._moved(index)
        self._undrawn[entry] = None
        return entry

    def remove_last(self) -> None:
        """Take the last entry away."""
        self._undrawn.pop(self.entries.pop(), None)
        self._moved(len(self.entries))

    def clear(self) -> None:
        """Take all entries away."""
        self.entries.clear()
        self._undrawn.clear()
        self._starts.clear()

    def use(self, paper: Paper) -> None:
        """Draw on other paper from now on. What was drawn keeps its height as a guess, by the widths."""
        before, self.paper = self.paper, paper
        for entry in self.entries:
            if before is None or entry.drawn_on is None:
                entry.height = self._guess(entry)
            elif before.width != paper.width:
                entry.height = max(1, round(entry.height * before.room / paper.room))
        self._moved(0)
        self._undrawn = dict.fromkeys(self.entries)

    def redraw(self, entry: Entry) -> None:
        """Its block says something else now."""
        entry.drawn_on = None
        self._undrawn[entry] = None

    def draw(self, entry: Entry) -> bool:
        """Draw an entry unless it is drawn; whether its height changed."""
        paper = self.paper
        if paper is None or entry.drawn_on is paper:
            return False
        body = entry.block.rows(paper)
        entry.rows = self.inks.freeze([[], *body] if entry.gap and body else body)
        entry.drawn_on = paper
        self._undrawn.pop(entry, None)
        self._versions += 1
        entry.version = self._versions
        if len(entry.rows) == entry.height:
            return False
        entry.height = len(entry.rows)
        self._moved(entry.index + 1)
        return True

    @property
    def undrawn(self) -> Entry | None:
        """The newest entry that is not drawn on the paper at hand."""
        return next(reversed(self._undrawn), None)

    def start(self, index: int) -> int:
        """The line on which the entry at `index` begins; for the length of `entries`, the line after all."""
        starts = self._starts
        while len(starts) <= index:
            starts.append(starts[-1] + self.entries[len(starts) - 1].height if starts else 0)
        return starts[index]

    def index_at(self, line: int) -> int:
        """The entry that a line belongs to; the nearest one for a line before or after all."""
        self.start(len(self.entries))
        return max(0, min(len(self.entries) - 1, bisect_right(self._starts, line) - 1))

    def _moved(self, index: int) -> None:
        """Entries from `index` on may begin on other lines."""
        del self._starts[max(0, index) :]

    def _guess(self, entry: Entry) -> int:
        if self.paper is None:
            return 1
        text = entry.block.text
        return text.count("\n") + len(text) // self.paper.room + 1 + entry.gap
