import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from server_stub.skills.text import clean_line, clean_text, clip_graphemes, hidden_characters


@given(st.text())
def test_clean_text_holds_no_terminal_control(text: str) -> None:
    cleaned = clean_text(text)
    assert not [c for c in cleaned if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0]
    assert not set(cleaned) & set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
    assert clean_text(cleaned) == cleaned


@given(st.text())
def test_clean_line_is_one_line(text: str) -> None:
    line = clean_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()


@given(st.text(max_size=60), st.integers(0, 60))
def test_clipped_text_keeps_to_its_limit_and_to_whole_clusters(text: str, limit: int) -> None:
    clipped = clip_graphemes(text, limit)
    assert len(clipped) <= limit
    if clipped != text and clipped:
        kept = clipped.removesuffix("\u2026")
        assert "".join(list(iter_graphemes(text))).startswith(kept)


def test_family_is_not_cut_apart() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert clip_graphemes(f"ab{family}cd", 6) == "ab\u2026"


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("plain \u4f1a \U0001f680", ()),
        ("a\u200bb", ("zero-width characters",)),
        ("a\u200db", ("zero-width characters",)),
        ("\ufe00\U000e0100", ("variation selectors in a row",)),
        ("\U0001f3f4\U000e0067\U000e0062", ("tag characters",)),
        ("\u2028", ("line separators",)),
        ("\x9b31m", ("control characters",)),
    ],
)
def test_unseen_characters_are_classed(text: str, classes: tuple[str, ...]) -> None:
    assert hidden_characters(text) == classes
