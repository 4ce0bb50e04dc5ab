"""Which rows are found, in which order, and that no name makes that slow."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mecatui.slash.match import Matcher, positions


@dataclass(frozen=True)
class FakeRow:
    """A row with nothing but what is matched."""

    name: str
    description: str = ""


def found(rows: Sequence[FakeRow], *queries: str) -> list[str]:
    matcher = Matcher(rows)
    hits: list[int] = []
    for query in queries:
        hits = matcher.find(query)
    return [rows[index].name for index in hits]


def test_order_is_exact_prefix_word_substring_subsequence_description() -> None:
    rows = [
        FakeRow("notes", "mentions plan in its text"),
        FakeRow("p-l-a-n-scattered"),
        FakeRow("explanation"),
        FakeRow("weekly-plan"),
        FakeRow("planner-x"),
        FakeRow("plan"),
    ]
    assert found(rows, "plan") == ["plan", "planner-x", "weekly-plan", "explanation", "p-l-a-n-scattered", "notes"]


def test_exact_name_is_first_among_names_that_hold_it() -> None:
    rows = [FakeRow(name) for name in ("batch-check", "sync-tchk", "tchk-config", "tchk")]
    assert found(rows, "tchk")[0] == "tchk"


def test_shorter_name_comes_first_then_the_alphabet() -> None:
    rows = [FakeRow(name) for name in ("code-zz", "code-aa", "code-a")]
    assert found(rows, "code") == ["code-a", "code-aa", "code-zz"]


def test_leading_rows_go_before_equal_fits_only() -> None:
    rows = [FakeRow(name) for name in ("reload", "new", "re", "renew")]
    matcher = Matcher(rows, leading=2)
    assert [rows[index].name for index in matcher.find("re")] == ["re", "reload", "renew"]
    assert [rows[index].name for index in matcher.find("rene")] == ["renew"]


def test_case_does_not_matter() -> None:
    assert found([FakeRow("Straße"), FakeRow("STRASSE-x")], "STRA") == ["Straße", "STRASSE-x"]


_LETTERS = st.text(alphabet="abc-İß", max_size=8)


@given(st.lists(st.builds(FakeRow, _LETTERS, _LETTERS), max_size=12), st.lists(_LETTERS, min_size=1, max_size=4))
def test_narrowing_finds_what_a_fresh_search_finds(rows: list[FakeRow], queries: list[str]) -> None:
    matcher = Matcher(rows)
    for query in queries:
        for end in range(1, len(query) + 1):
            assert matcher.find(query[:end]) == Matcher(rows).find(query[:end])


@given(st.text(max_size=20), st.text(max_size=20))
def test_positions_are_letters_of_the_name(query: str, name: str) -> None:
    places = positions(query, name)
    assert list(places) == sorted(set(places))
    assert all(0 <= place < len(name) for place in places)


@pytest.mark.parametrize(
    ("query", "name", "places"),
    [("plan", "weekly-plan", (7, 8, 9, 10)), ("wp", "weekly-plan", (0, 7)), ("x", "weekly-plan", ()), ("", "a", ())],
)
def test_positions_show_what_was_typed(query: str, name: str, places: tuple[int, ...]) -> None:
    assert positions(query, name) == places


@pytest.mark.parametrize("name", ["a" * 64, "ab" * 500, "-" * 300, "é" * 64])
def test_hostile_names_cost_no_more_than_their_length(name: str) -> None:
    rows = [FakeRow(f"{name}{number}", name * 4) for number in range(2000)]
    matcher = Matcher(rows)
    start = time.process_time()
    for end in range(1, 40):
        matcher.find((name * 40)[:end] + "!")
        matcher.find((name * 40)[:end])
    # An exponential matcher does not come back at all; the floor is one pass over the names.
    assert time.process_time() - start < 20
