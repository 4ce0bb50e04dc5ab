"""One Markdown block as rows, drawn through Rich. Loaded with the first text that is drawn, never before."""

import io
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from mecatui.plain_text import TAB, without_controls, wrap_cells
from mecatui.widgets.markdown_blocks import parse
from mecatui.widgets.rows import BLANK_MARGIN, MARGIN, Paper, Row, plain_rows

_LONGEST_SOURCE = 24_000
_LONGEST_LINE = 4_000
_LONGEST_CODE = 12_000
_LONGEST_CODE_LINE = 1_000
_MOST_TOKENS = 4_000
_DEEPEST = 16
_NARROWEST = 16
"""Beyond these a block is drawn as its plain source, or code without colours: both in time that grows with size."""


def markdown_rows(source: str, environment: Mapping[str, Any], paper: Paper, look: Style | None = None) -> list[Row]:
    """The rows of one top-level block; `look` goes under every style in it."""
    source = source.strip("\n")
    if not source.strip():
        return []
    tokens = None
    if len(source) <= _LONGEST_SOURCE and paper.room >= _NARROWEST and _longest_line(source) <= _LONGEST_LINE:
        tokens = parse(source, environment)
    if tokens is None or len(tokens) > _MOST_TOKENS or any(token.level > _DEEPEST for token in tokens):
        return plain_rows(source, paper.room, look)
    console = _console(paper)
    block = _Block(list(_plain_links(tokens)), dark=paper.dark, look=look)
    lines = console.render_lines(block, console.options.update(width=paper.room), pad=False)
    return _trimmed([_row(line) for line in lines])


def _longest_line(text: str) -> int:
    return max(map(len, text.split("\n")))


def _console(paper: Paper) -> Console:
    """A console that only draws: what it is asked for comes back as segments."""
    return _console_for(paper.width, tuple(sorted(paper.looks.items())))


@lru_cache(maxsize=4)
def _console_for(width: int, looks: tuple[tuple[str, Style], ...]) -> Console:
    known = dict(looks)
    styles = {f"markdown.{name}": known[look] for name, look in _LOOKS.items() if look in known}
    return Console(
        file=io.StringIO(),
        width=width,
        height=100,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        theme=Theme({**_UNSTYLED, **styles}),
        markup=False,
        emoji=False,
        highlight=False,
    )


_LOOKS: Mapping[str, str] = {
    **{f"h{level}": "heading" for level in range(1, 7)},
    "code": "code",
    "code_block": "code",
    "block_quote": "quote",
    "item.bullet": "mark",
    "item.number": "mark",
    "hr": "mark",
    "table.border": "mark",
    "table.header": "strong",
    "link": "link",
    "em": "emphasis",
    "strong": "strong",
    "s": "struck",
}
"""Which look of the paper each style of Rich's Markdown takes."""

_UNSTYLED = {f"markdown.{name}": Style.null() for name in ("paragraph", "text", "list", "item")}


def _plain_links(tokens: Iterable[Token]) -> Iterable[Token]:
    """Links and images as text that says where they lead: nothing to click can look like something else."""
    for token in tokens:
        if token.children:
            token.children = list(_plain_links_inline(token.children))
        yield token


def _plain_links_inline(tokens: Iterable[Token]) -> Iterable[Token]:
    open_links: list[tuple[str, list[str]]] = []
    for token in tokens:
        if token.type == "link_open":
            open_links.append((str(token.attrs.get("href", "")), []))
            yield Token("styled_open", "link", 1)
        elif token.type == "link_close" and open_links:
            target, said = open_links.pop()
            yield Token("styled_close", "link", -1)
            if target and "".join(said) not in {target, target.removeprefix("mailto:")}:
                yield _text(f" ({target})")
        elif token.type == "image":
            yield _text(f"[image: {token.content}] ({token.attrs.get('src', '')})")
        else:
            for _, said in open_links:
                said.append(token.content)
            yield token


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


class _Heading(Heading):
    """A heading at the left, with its level in words that need no colour: the number signs it was written with."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text.copy()
        text.justify = "left"
        yield Text.assemble((f"{'#' * int(self.tag[1:])} ", console.get_style(self.style_name)), text)


class _CodeBlock(CodeBlock):
    """Code, coloured when it is small enough to be coloured in a moment."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip().expandtabs(TAB)
        room = max(1, options.max_width - MARGIN)
        small = len(code) <= _LONGEST_CODE and _longest_line(code) <= _LONGEST_CODE_LINE
        if small and self.lexer_name not in {"", "text"}:
            drawn = Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default")
            yield Padding(drawn, (0, 0, 0, MARGIN))
            return
        style = console.get_style("markdown.code_block")
        for line in code.split("\n"):
            for part in wrap_cells(line, room):
                yield Segment(" " * MARGIN)
                yield Segment(part, style)
                yield Segment.line()


class _Block(Markdown):
    """Rich's Markdown over tokens that are already there."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
    }

    def __init__(self, tokens: list[Token], *, dark: bool, look: Style | None) -> None:
        # The inherited constructor would build a parser and parse once more.
        self.markup = ""
        self.parsed = tokens
        self.code_theme = self.inline_code_theme = "ansi_dark" if dark else "ansi_light"
        self.justify = None
        self.style = look or "none"
        self.hyperlinks = False
        self.inline_code_lexer = None
        self.inlines = {*Markdown.inlines, "link"}


def _row(line: Iterable[Segment]) -> Row:
    """A line as a row: margin first, no trailing blanks, nothing that an entity or a tab could have smuggled in."""
    row: Row = [Segment(BLANK_MARGIN)]
    for text, style, _ in Segment.simplify(line):
        shown = text if text.isprintable() else without_controls(text).replace("\n", " ").expandtabs(TAB)
        if shown:
            row.append(Segment(shown, _shared(style) if style else None))
    while len(row) > 1 and not row[-1].text.strip():
        row.pop()
    if len(row) > 1:
        text, style, _ = row[-1]
        row[-1] = Segment(text.rstrip(), style)
    return row if len(row) > 1 else []


@lru_cache(maxsize=4096)
def _shared(style: Style) -> Style:
    """One object for equal styles (a transcript keeps many segments), and no background that says "the default"."""
    if style.bgcolor is None or not style.bgcolor.is_default:
        return style
    return Style(
        color=style.color,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse,
    )


def _trimmed(rows: list[Row]) -> list[Row]:
    """Without blank rows at either end: the transcript sets its blocks apart itself."""
    start, end = 0, len(rows)
    while start < end and not rows[start]:
        start += 1
    while end > start and not rows[end - 1]:
        end -= 1
    return rows[start:end]
