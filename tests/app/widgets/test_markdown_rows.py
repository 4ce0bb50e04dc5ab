"""One Markdown block as rows: what it says, what it hides nothing of, and that size never makes it slow."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from mecatui.widgets.markdown_blocks import MarkdownBlocks
from mecatui.widgets.markdown_rows import markdown_rows
from mecatui.widgets.rows import Paper, Row, row_text

_LOOKS = {
    name: Style(bold=True)
    for name in ("heading", "code", "quote", "mark", "link", "emphasis", "strong", "struck", "reasoning")
}
_PIECES = st.sampled_from(
    [
        *("- a\n", "  b\n", "\n", "```\n", "```python\n", "| a | b |\n", "|---|--:|\n", "| 1 |\n", "===\n", "# h\n"),
        *("[a](b)", "![i](s)", "<http://x.y>", "**b", "*", "_", "~~s~~", "`c`", "<kbd>", "</kbd>", "<div>\n", "> "),
        *("&#x202e;", "&#x1b;", "&lt;", "\\", "  \n", "你好", "👨\u200d👩\u200d👧", "e\u0301"),
        *("\t", "[/oops]", "1. ", "99. ", "[x]: /u\n", "[x]", "-" * 5, "a " * 30, "\x1b[31m", "\u202e", "x" * 90),
    ]
)


def _rows(text: str, width: int = 60) -> list[Row]:
    message = MarkdownBlocks()
    blocks = message.feed(text) + message.finish()
    paper = Paper(width, _LOOKS)
    return [row for block in blocks for row in markdown_rows(block, message.environment, paper)]


def _text(text: str, width: int = 60) -> list[str]:
    return [row_text(row).rstrip() for row in _rows(text, width)]


def test_links_and_images_say_where_they_lead_and_cannot_be_clicked() -> None:
    rows = _rows("[the *manual*](https://a.example/x) <https://b.example> ![a cat](cat.png)")
    said = " ".join("".join(map(row_text, rows)).split())
    assert said == "the manual (https://a.example/x) https://b.example [image: a cat] (cat.png)"
    assert all(segment.style is None or segment.style.link is None for row in rows for segment in row)


def test_html_is_shown_as_it_was_written() -> None:
    assert _text("<details>\n<summary>x</summary> </kbd>\n\n<!-- hidden? -->") == [
        "  <details> <summary>x</summary> </kbd>",
        "  <!-- hidden? -->",
    ]


def test_entities_smuggle_no_control_characters_in() -> None:
    assert _text("a&#x202e;b&#x1b;[31mc&#8203;d") == ["  ab\ufffd[31mcd"]


def test_headings_keep_their_number_signs_so_that_colour_is_not_needed() -> None:
    assert _text("# One\n\n### Three `x`") == ["  # One", "  ### Three x"]


def test_code_is_indented_and_its_brackets_are_literal() -> None:
    assert _text("```python\ndef f():\n\treturn '[/x]'\n```") == ["    def f():", "        return '[/x]'"]


def test_an_unclosed_fence_and_an_empty_block_draw_something_or_nothing() -> None:
    assert _text("```\nunclosed") == ["    unclosed"]
    assert _rows("[only]: /a-definition\n") == []


@given(st.lists(_PIECES, max_size=30).map("".join), st.sampled_from([3, 18, 40, 120]))
def test_no_markdown_breaks_the_drawing(text: str, width: int) -> None:
    for row in _rows(text, width):
        assert row_text(row).replace("\u200d", "").isprintable()
        assert all(segment.control is None for segment in row)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 26_000,
        "x" * 130_000,
        "```python\n" + "def f(x): return x + 1  # c\n" * 11_000 + "```",
        "```python\n" + "x = [" + "1, " * 50_000 + "]\n```",
        "[" * 3_900,
        "*a " * 1_300,
        "- item **x**\n" * 3_000,
        ">" * 400 + " deep",
        "".join("  " * depth + "- x\n" for depth in range(60)),
        "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n|" + "b|" * 1_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 3_000,
        "`" * 3_900 + "x",
        "你好世界" * 30_000,
    ],
    ids=lambda text: f"{text[:8]!r} x{len(text)}",
)
def test_hostile_sizes_are_drawn_without_a_freeze(text: str) -> None:
    began = time.process_time()
    rows = _rows(text, 80)
    assert time.process_time() - began < 1.5
    assert rows or text.startswith("`")


def test_skill_texts_of_the_corpus_are_drawn() -> None:
    corpus = Path(__file__).parents[3].parent / "shared" / "corpus"
    if not corpus.is_dir():
        pytest.skip("the corpus is not here")
    files = sorted(corpus.rglob("SKILL.md"), key=lambda path: path.stat().st_size)[-20:]
    for file in files:
        began = time.process_time()
        assert _rows(file.read_text(errors="replace"), 78), file
        assert time.process_time() - began < 5, file
