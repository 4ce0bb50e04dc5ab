import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server_stub.skills.frontmatter import DEEPEST, MOST_NODES, read_mapping
from server_stub.skills.plain import read_plain
from server_stub.skills.rejected import Rejected
from server_stub.skills.text import is_plain
from tests.skills.folders import codes, front, loaded, parsed

_KEYS = st.sampled_from(["", "name", "description", "license", "x-1", "a_b", "null", "1a", "-", "A", "name "])
_VALUES = st.one_of(
    st.text(st.sampled_from("ab :#'\"-,[]{}&*!|>%@`~\t.\\()\u00e9\u4f1a0"), max_size=12),
    st.sampled_from(
        ["null", "~", "Null", "yes", "'a'", '"b c"', "a: b", "a #b", "a:", "'it''s'", '"\\n"', "- a", "/a"]
    ),
    st.sampled_from(
        ["[a, b]", "[a,b]", "[ a]", "[a ]", "[]", "['a']", "[null]", "[a:b]", "[a, ]", "[a - b]", "[a #b]"]
    ),
    st.sampled_from([">-", ">", "|-", "|", ">-  ", "|+", "|2", "| #a", "", ""]),
)
_INDENTS = st.sampled_from(["", "", "", "  ", "  ", "    ", "   ", " ", "      "])
_LINES = st.one_of(
    st.builds(
        lambda indent, key, colon, value: indent + key + colon + value,
        _INDENTS,
        _KEYS,
        st.sampled_from([": ", ": ", ":", " : ", ":  ", ""]),
        _VALUES,
    ),
    st.builds(
        lambda indent, dash, value: indent + dash + value, _INDENTS, st.sampled_from(["- ", "-", "-  ", ""]), _VALUES
    ),
    st.sampled_from(["", "", " ", "  ", "   ", "\t"]),
    st.sampled_from(["a: >-", "a: |-", "a: >", "a: |", "a:", "b:", "  c:", "- d", "  - e", "  f", "  g: h", "    i"]),
)


@given(st.lists(_LINES, max_size=7))
@settings(max_examples=1000)
def test_plain_frontmatter_is_read_as_the_yaml_parser_reads_it_or_declined(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    plain = read_plain(text)
    if plain is not None:
        assert read_mapping(text) == (plain, [])


_COMMON_FORMS = """\
name: tidy
description: "Use when: asked"
license: 'MIT'
compatibility: >-
  Needs git
  and a shell.

when: |
  Often.
  Daily.
allowed-tools:
  - Read
  - "Bash(git add:*)"
tags: [one, two words]
metadata:
  author: me
  version: 1.0
  deeper:
    note: >
      x: y
      # z
triggers:
- go
"""


def test_plain_frontmatter_covers_the_common_forms() -> None:
    read = {
        "name": "tidy",
        "description": "Use when: asked",
        "license": "MIT",
        "compatibility": "Needs git and a shell.",
        "when": "Often.\nDaily.\n",
        "allowed-tools": ["Read", "Bash(git add:*)"],
        "tags": ["one", "two words"],
        "metadata": {"author": "me", "version": "1.0", "deeper": {"note": "x: y # z\n"}},
        "triggers": ["go"],
    }
    assert read_plain(_COMMON_FORMS) == read
    assert read_mapping(_COMMON_FORMS) == (read, [])


@pytest.mark.parametrize(
    "text", ["yes\n- a\n", "yes\n  a: b\n", "a: b\n:\n", "a: [null]\n", "a: [b, NULL]\n", "a: >-\n  b\n   c\n", "a:\n"]
)
def test_what_only_looks_plain_is_left_to_the_yaml_parser(text: str) -> None:
    assert read_plain(text) is None


def test_no_more_values_are_read_as_plain_than_yaml_may_hold() -> None:
    text = "a:\n" + "- b\n" * (MOST_NODES + 1)
    assert read_plain(text) is None
    with pytest.raises(Rejected):
        read_mapping(text)


def _bomb(levels: int) -> list[str]:
    lines = ['a0: &a0 ["x", "x", "x", "x", "x", "x", "x", "x", "x"]']
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return lines


def test_alias_bomb_is_skipped() -> None:
    outcome = parsed(front("name: bomb", "description: bomb", *_bomb(30)))
    assert getattr(outcome, "code", "") == "too_complex"


def test_few_aliases_are_read() -> None:
    assert loaded(front("name: thing", "shared: &s The text.", "description: *s")).description == "The text."


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_stopped_before_it_costs_anything(opening: str) -> None:
    outcome = parsed(front("name: deep", "description: deep", "x:", f"  {opening * 20_000}"))
    assert outcome is not None


def test_nesting_within_the_cap_is_read() -> None:
    mapping, _ = read_mapping("x: " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1))
    assert isinstance(mapping["x"], list)
    with pytest.raises(Rejected):
        read_mapping("x: " + "[" * DEEPEST + "]" * DEEPEST)


def test_many_values_are_stopped() -> None:
    outcome = parsed(front("name: wide", "description: wide", f"x: [{'a, ' * 20_000}a]"))
    assert getattr(outcome, "code", "") == "too_complex"


def test_anchor_within_itself_does_not_hide_the_skill() -> None:
    assert loaded(front("name: thing", "description: x", "tags: &t [*t]")).name == "thing"


def test_tag_is_ignored_with_a_warning_and_nothing_is_constructed() -> None:
    skill = loaded(front("name: thing", "description: !important Read this.", "x: !!python/object:os.system [ls]"))
    assert (skill.description, codes(skill)) == ("Read this.", {"tag_ignored"})


@pytest.mark.parametrize("second", ["other-name", "thing"])
def test_last_of_two_equal_keys_is_used_with_a_warning(second: str) -> None:
    skill = loaded(front("name: thing", "description: x", f"name: {second}"), second)
    assert (skill.name, codes(skill)) == (second, {"duplicate_key"})


def test_more_than_one_document_is_read_key_by_key_with_a_warning() -> None:
    skill = loaded(front("name: thing", "description: x", "...", "name: other"))
    assert codes(skill) == {"duplicate_key", "name_differs"}


@given(st.binary(max_size=200))
def test_plain_bytes_hold_nothing_that_cleaning_changes(data: bytes) -> None:
    if is_plain(data):
        assert all(byte >= 0x20 or byte in b"\t\n" for byte in data)
