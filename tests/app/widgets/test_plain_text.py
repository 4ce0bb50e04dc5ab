"""Outside text: nothing in it commands a terminal, and it is cut between graphemes at exact widths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mecatui.plain_text import cell_width, clip_cells, one_line, printable, without_controls, wrap_cells

_WILD = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\x1b[]m\x07\r\n\t \u202e\u200b👨\u200d👩️é你")))


@pytest.mark.parametrize(
    ("outside", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x07 me", "click me"),
        ("\x1b]52;c;AAAA\x07copied", "copied"),
        ("a\x1b", "a"),
        ("\x1b[2Jgone\x9b2J", "gone2J"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("a\u200bb\ufeff", "ab"),
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc\nd\ne"),
        ("a\tb", "a   b"),
        ("lone \ud800 half", "lone  half"),
        ("[/oops] [@click=app.quit]", "[/oops] [@click=app.quit]"),
    ],
)
def test_printable_leaves_only_what_can_be_seen(outside: str, shown: str) -> None:
    assert printable(outside) == shown


def test_one_line_joins_lines_and_runs_of_spaces() -> None:
    assert one_line("  a \n\n b\t\tc\x00 ") == "a b c"


@given(_WILD)
def test_cleaned_text_holds_no_control_but_line_breaks(text: str) -> None:
    cleaned = printable(text)
    assert not any(character != "\n" and (ord(character) < 32 or 127 <= ord(character) < 160) for character in cleaned)
    assert without_controls(cleaned) == cleaned
    assert "\n" not in one_line(text)


@given(_WILD.map(one_line), st.integers(0, 12))
def test_clip_never_exceeds_its_width_and_keeps_what_fits(text: str, width: int) -> None:
    clipped = clip_cells(text, width)
    assert cell_width(clipped) <= width
    assert clipped == text or not width or clipped.endswith("…")
    if cell_width(text) <= width:
        assert clipped == text


def test_clip_keeps_graphemes_whole_when_the_cut_falls_into_one() -> None:
    family = "👨\u200d👩\u200d👧"
    assert clip_cells(f"ab{family}cd", 4) == "ab…"
    assert clip_cells(f"ab{family}cd", 5) == f"ab{family}…"
    assert clip_cells("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert clip_cells("你好世界", 5) == "你好…"


_LINES = st.lists(st.sampled_from(["word", " ", "你好", "e\u0301", "👍🏽", "x" * 9, "  "])).map("".join)


@given(_LINES, st.integers(2, 15))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces(line: str, width: int) -> None:
    rows = wrap_cells(line, width)
    assert all(cell_width(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")


def test_wrap_breaks_between_words_when_there_is_a_space_in_reach() -> None:
    assert wrap_cells("one two three", 8) == ["one two", "three"]
    assert wrap_cells("你好 世界 hello", 6) == ["你好", "世界", "hello"]
    assert wrap_cells("x" * 10, 4) == ["xxxx", "xxxx", "xx"]


@pytest.mark.parametrize("text", ["plain", "你好", "👨\u200d👩\u200d👧", "❤\ufe0f", "e\u0301", "🇩🇪", "👍🏽", "①…❯▸✓"])
def test_width_is_that_of_the_screen(text: str) -> None:
    assert cell_width(text) == cell_len(text)
