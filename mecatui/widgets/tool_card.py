"""A tool call in the transcript: one line that opens to what was asked and what came back."""

from dataclasses import dataclass

from mecatui.plain_text import cell_width, clip_cells, one_line
from mecatui.widgets.line import Part, clip_parts
from mecatui.widgets.rows import MARGIN, Paper, Row, capped, plain_rows, segments_of

_MOST_LINES = 200
_MOST_CHARACTERS = 20_000
_LONGEST_TITLE = 500
_STATES = {None: "…", True: "✓", False: "✗"}


@dataclass(slots=True)
class ToolCard:
    """One call of a tool. `ok` is `None` while it runs."""

    call_id: str
    title: str
    asked: str = ""
    came_back: str = ""
    summary: str = ""
    ok: bool | None = None
    is_open: bool = False
    is_lit: bool = False
    """Whether Enter would open or close it."""

    @property
    def has_detail(self) -> bool:
        """Whether there is anything to open."""
        return bool(self.asked.strip() or self.came_back.strip())

    @property
    def text(self) -> str:
        """The line, and the detail under it when it is open."""
        line = f"{'▾' if self.is_open else '▸'} {_STATES[self.ok]} {self._title}"
        said = f"{line}  {self._summary}" if self._summary else line
        return "\n".join([said, *self._detail()]) if self.is_open else said

    def rows(self, paper: Paper) -> list[Row]:
        """The line, and the detail when it is open."""
        rows = [self._line(paper)]
        if self.is_open:
            for line in self._detail():
                rows += _indented(plain_rows(line, max(1, paper.room - MARGIN), paper.looks["detail"]))
        return rows

    @property
    def _title(self) -> str:
        return one_line(self.title[:_LONGEST_TITLE])

    @property
    def _summary(self) -> str:
        return one_line(self.summary[:_LONGEST_TITLE])

    def _line(self, paper: Paper) -> Row:
        look = paper.looks["lit"] if self.is_lit else paper.looks["tool"]
        state = paper.looks["error"] if self.ok is False else look
        arrow = "▾ " if self.is_open else "▸ "
        summary = clip_cells(self._summary, max(1, paper.room // 2 - 4))
        title_room = paper.room - MARGIN - (cell_width(summary) + 2 if summary else 0)
        parts: list[Part] = [
            (f"{_STATES[self.ok]} ", state),
            (clip_cells(self._title, max(1, title_room)), look),
        ]
        if summary:
            parts.append((f"  {summary}", look if self.is_lit else paper.looks["detail"]))
        return [*segments_of([("› " if self.is_lit else arrow, look)]), *segments_of(clip_parts(parts, paper.room))]

    def _detail(self) -> list[str]:
        """The lines of the detail that are shown, and one that says how many are not."""
        whole = "\n".join(part.strip("\n") for part in (self.asked, self.came_back) if part.strip())
        return capped(whole, _MOST_LINES, _MOST_CHARACTERS) if whole else ["(nothing)"]


def _indented(rows: list[Row]) -> list[Row]:
    return [[row[0]._replace(text=row[0].text + " " * MARGIN), *row[1:]] for row in rows]
