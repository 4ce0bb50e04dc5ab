"""Markdown in pieces: the blocks do not depend on where the pieces were cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mecatui.widgets.markdown_blocks import MarkdownBlocks

_PIECES = (
    *("- a\n", "  b\n", "\n", "\n\n", "```\n", "~~~\n", "para\n", "text ", "| a | b |\n", "|---|---|\n", "| 1 |"),
    *("===\n", "---\n", "[foo]: /url\n", "'title\n", "more'\n", "[foo]", "> q\n", "1. x\n", "2. y\n", "    code\n"),
    *("\t", "#", "# h\n", "* ", "-", "\x1b[31m", "\r\n", "\r", "<div>\n", "<!--", "-->\n", "$", "\\", "`", " ", "é"),
)


def _blocks(pieces: list[str]) -> tuple[list[str], dict[str, str]]:
    message = MarkdownBlocks()
    done = [block for piece in pieces for block in message.feed(piece)]
    done += message.finish()
    return done, {label: where["href"] for label, where in message.environment.get("references", {}).items()}


@given(st.lists(st.sampled_from(_PIECES), max_size=25).map("".join), st.data())
def test_blocks_are_the_same_however_the_text_arrives(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    assert _blocks(pieces) == _blocks([text])
    assert _blocks(list(text)) == _blocks([text])


@pytest.mark.parametrize(
    "block",
    [
        "- a\n\n- b\n\n  still b\n",
        "```python\nx = 1\n\n\ny = 2\n```\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "A heading\nover two lines\n===\n",
        "[ref]: /url\n'a title\nover lines'\n\nuses [ref]\n",
        "> quoted\nlazily\n",
        "    code\n\n    more code\n",
        "1. one\n\n   ```\n   x\n\n   y\n   ```\n\n2. two\n",
        "paragraph\n#hashtag goes on\n",
    ],
)
def test_a_block_stays_whole_when_its_lines_arrive_one_by_one(block: str) -> None:
    message = MarkdownBlocks()
    done = [source for line in block.splitlines(keepends=True) for source in message.feed(line)]
    assert done == []
    assert message.feed("\n# next\n")[0].strip("\n") == block.strip("\n")


def test_an_unfinished_line_decides_nothing() -> None:
    message = MarkdownBlocks()
    assert message.feed("para\n#") == []
    assert message.feed("hashtag\n") == []
    assert message.live == "para\n#hashtag\n"


def test_an_escape_sequence_in_two_pieces_is_removed() -> None:
    message = MarkdownBlocks()
    message.feed("a \x1b[3")
    message.feed("1mred\n")
    assert message.live == "a red\n"


def test_a_huge_fence_is_looked_at_in_time_that_grows_with_its_size() -> None:
    looks = []
    message = MarkdownBlocks()
    message.feed("```\n")
    for _ in range(5000):
        message.feed("some line of code that goes on\n")
        looks.append(message._look_at)
    assert len(set(looks)) < 200
    assert len(message.finish()) == 1
