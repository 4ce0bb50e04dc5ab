import pytest

from tests.skills.folders import codes, front, loaded, parsed


@pytest.mark.parametrize(
    "written",
    [
        "Tidies a changelog: groups entries, drops noise. Use when: a release is near.",
        "Nags politely \u2014 Triggers on: '/nag', '/nag now' and \"please nag\"",
        "@Observable classes",
        ", then continue",
        "- a dash start",
        "*starred* text",
        "`code` first",
        "%percent first",
        "trailing colon:",
    ],
)
def test_description_that_is_no_yaml_is_taken_as_written_with_a_warning(written: str) -> None:
    skill = loaded(front("name: thing", f"description: {written}", "license: MIT"))
    assert (skill.description, skill.license, codes(skill)) == (written, "MIT", {"yaml_repaired"})


def test_description_that_opens_a_bracket_is_taken_as_written() -> None:
    assert loaded(front("name: thing", "description: [beta] start [x] more")).description == "[beta] start [x] more"


@pytest.mark.parametrize(
    "lines",
    [
        ['argument-hint: [action] \u2014 e.g. "list"'],
        ["argument-hint: <duration: e.g. 7d, 2w>", "tags: [next,@scope/pkg]"],
        ["compatibility: needs: git"],
    ],
)
def test_odd_optional_value_never_hides_the_skill(lines: list[str]) -> None:
    skill = loaded(front("name: thing", "description: Kept as it is.", *lines))
    assert (skill.name, skill.description, codes(skill)) == ("thing", "Kept as it is.", {"yaml_repaired"})


def test_hint_that_is_no_yaml_is_shown_as_written() -> None:
    hint = '[action] \u2014 e.g. "list"'
    assert loaded(front("name: thing", "description: x", f"argument-hint: {hint}")).argument_hint == hint


def test_odd_value_over_lines_is_ignored_with_a_warning() -> None:
    skill = loaded(front("name: thing", "description: x", "metadata:", "  a: b: c", "  - d"))
    assert codes(skill) == {"value_ignored"}


def test_plain_description_over_lines_is_joined() -> None:
    skill = loaded(front("name: thing", "description: Does this:", "  and that: too", "", "license: MIT"))
    assert (skill.description, skill.license) == ("Does this: and that: too", "MIT")


def test_good_values_beside_an_odd_one_keep_their_yaml_meaning() -> None:
    skill = loaded(
        front("# head", "name: thing # tail", "description: >-", "  one", "  two", "x: a: b", "allowed-tools:", "- A")
    )
    assert (skill.name, skill.description, skill.allowed_tools) == ("thing", "one two", ("A",))


def test_duplicate_is_noticed_in_repaired_frontmatter_too() -> None:
    skill = loaded(front("name: thing", "description: a: b", "description: second"))
    assert (skill.description, codes(skill)) == ("second", {"yaml_repaired", "duplicate_key"})


@pytest.mark.parametrize(
    "lines",
    [
        ["name: [broken", "description: oops"],
        ["name: a: b", "  c", "description: oops"],
        ["stray text: :", "  [", "= = =", "description"],
        [": [", "description: x"],
        ["description: [", "  unclosed: x"],
        [f"k{n}: a: b" for n in range(201)],
    ],
)
def test_frontmatter_is_not_repaired_when_its_meaning_is_lost(lines: list[str]) -> None:
    assert getattr(parsed(front(*lines)), "code", "") in ("invalid_yaml", "no_description")


def test_name_with_a_colon_is_taken_as_written() -> None:
    skill = loaded(front("name: a: b", "description: x"))
    assert (skill.name, skill.declared_name) == ("a:-b", "a: b")


def test_bomb_is_not_repaired() -> None:
    outcome = parsed(front("name: thing", "description: a: b", f"x: {'[' * 100}{']' * 100}"))
    assert getattr(outcome, "code", "") in ("too_complex", "")
