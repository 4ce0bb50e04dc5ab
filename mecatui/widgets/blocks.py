"""The blocks of a transcript other than tool cards: prompts, notices, and text finished or still arriving."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from mecatui.plain_text import printable
from mecatui.widgets.markdown_blocks import MarkdownBlocks
from mecatui.widgets.rows import Paper, Row, capped, plain_rows

Level = Literal["info", "success", "warning", "error"]
Voice = Literal["answer", "reasoning"]

_MARKS: dict[Level, str] = {"info": "· ", "success": "✓ ", "warning": "! ", "error": "✗ "}
_LIT_MARK = "› "
_MOST_PROMPT_LINES, _MOST_PROMPT_CHARACTERS = 30, 4_000
_MOST_NOTICE_LINES, _MOST_NOTICE_CHARACTERS = 200, 20_000
_LONGEST_LIVE = 6_000
"""An unfinished block longer than this is drawn as plain source until it is finished: only its new lines cost."""


class Block(Protocol):
    """Something that can be drawn at any width, as often as asked."""

    @property
    def text(self) -> str:
        """What it says, unwrapped."""
        ...

    def rows(self, paper: Paper) -> list[Row]:
        """What it looks like."""
        ...


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """What the person sent, as typed."""

    text: str

    def rows(self, paper: Paper) -> list[Row]:
        """The text behind a bar that runs along all of it."""
        bar = paper.looks["mark"]
        said = "\n".join(capped(self.text, _MOST_PROMPT_LINES, _MOST_PROMPT_CHARACTERS))
        rows = plain_rows(said, paper.room, paper.looks["prompt"])
        return [[row[0]._replace(text="┃ ", style=bar), *row[1:]] for row in rows]


@dataclass(slots=True)
class NoticeBlock:
    """What the app has to say."""

    text: str
    level: Level
    names: frozenset[str] = frozenset()
    """The skills that choosing it shows; none for a notice that cannot be chosen."""
    is_lit: bool = False
    """Whether Enter would choose it."""

    def rows(self, paper: Paper) -> list[Row]:
        """The text, with the mark of its level in front of its first row; only its first line has the level's look."""
        mark, look = _MARKS[self.level], paper.looks[self.level]
        if self.is_lit:
            mark, look = _LIT_MARK, paper.looks["lit"]
        first, *others = capped(self.text, _MOST_NOTICE_LINES, _MOST_NOTICE_CHARACTERS)
        rows = plain_rows(first, paper.room, look, mark=mark, mark_look=look)
        return rows + plain_rows("\n".join(others), paper.room) if others else rows


@dataclass(frozen=True, slots=True)
class TextBlock:
    """One finished top-level Markdown block."""

    text: str
    environment: Mapping[str, Any]
    voice: Voice

    def rows(self, paper: Paper) -> list[Row]:
        """The block as Markdown."""
        # Rich's Markdown, the parser and the lexers are loaded with the first text: the first frame needs none of them.
        from mecatui.widgets.markdown_rows import markdown_rows  # noqa: PLC0415 - loaded when first needed

        look = paper.looks["reasoning"] if self.voice == "reasoning" else None
        return markdown_rows(self.text, self.environment, paper, look)


@dataclass(frozen=True, slots=True)
class MessageBlock:
    """A short text that came whole, as those of an earlier conversation do: not even parsed before it is drawn."""

    text: str
    voice: Voice

    def rows(self, paper: Paper) -> list[Row]:
        """All its blocks as Markdown, a blank line between them."""
        markdown = MarkdownBlocks()
        rows: list[Row] = []
        for source in [*markdown.feed(self.text), *markdown.finish()]:
            body = TextBlock(source, markdown.environment, self.voice).rows(paper)
            rows += [[], *body] if rows and body else body
        return rows


class LiveBlock:
    """The block that is still arriving. It is always the last one."""

    def __init__(self, environment: Mapping[str, Any], voice: Voice) -> None:
        self.text = ""
        self.environment = environment
        self._voice = voice
        self._paper: Paper | None = None
        self._plain: list[Row] = []
        self._drawn = 0

    def rows(self, paper: Paper) -> list[Row]:
        """The text so far, as Markdown while it is short."""
        if len(self.text) <= _LONGEST_LIVE:
            self._paper = None
            return TextBlock(self.text, self.environment, self._voice).rows(paper)
        return self._plain_rows(paper)

    def _plain_rows(self, paper: Paper) -> list[Row]:
        """The plain source; the rows of its finished lines are kept from call to call."""
        if paper is not self._paper or self._drawn > len(self.text):
            self._paper, self._plain, self._drawn = paper, [], 0
        look = paper.looks["reasoning"] if self._voice == "reasoning" else None
        finished = self.text.rfind("\n") + 1
        if finished > self._drawn:
            self._plain += plain_rows(self.text[self._drawn : finished - 1].lstrip("\n"), paper.room, look)
            self._drawn = finished
        rest = printable(self.text[self._drawn :])
        return [*self._plain, *plain_rows(rest, paper.room, look)] if rest else list(self._plain)
