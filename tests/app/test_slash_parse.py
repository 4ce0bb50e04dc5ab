"""What a typed text is taken for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mecatui.inventory import Command, Inventory, Listing, Shadowed, Skill
from mecatui.slash.builtins import BUILTINS
from mecatui.slash.parse import (
    BareSlash,
    BuiltinCommand,
    Empty,
    Names,
    PlainText,
    ServerCommand,
    UnknownCommand,
    classify,
    mentioned,
    name_being_typed,
)

SKILLS = (
    "plain-skill",
    "home",
    "first-one",
    "second-one",
    "alpha",
    "implement",
    "protocols-help",
    "help-desk",
    "übung",
)
NAMES = Names.of(
    Inventory(
        commands=tuple(Command(name, origin="user") for name in SKILLS),
        listing=Listing(
            skills=tuple(Skill(name, origin="user") for name in SKILLS),
            shadowed=(Shadowed("alpha", "learned", "user"),),
        ),
    )
)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("/plain-skill fix the login page", "fix the login page"),
        ("  /plain-skill  ", ""),
        ("/plain-skill\t", ""),
        ("/plain-skill   two  spaces", "two  spaces"),
        ("/plain-skill line one\n\n    indented\nlast", "line one\n\n    indented\nlast"),
        ("/plain-skill\none", "one"),
        ("/plain-skill one\n/reload-skills", "one\n/reload-skills"),
        ("/PLAIN-skill x", "x"),
        ("/user/plain-skill x", "x"),
    ],
)
def test_skill_is_called_with_what_follows_its_name(text: str, arguments: str) -> None:
    typed = classify(text, NAMES)
    assert isinstance(typed, ServerCommand)
    assert typed.name.removeprefix("user/") == "plain-skill"
    assert typed.arguments == arguments


@pytest.mark.parametrize("text", ["/first-one /second-one make a diagram", "/alpha /tmp/scan.pdf", "/alpha /help me"])
def test_second_command_of_a_line_is_part_of_the_arguments(text: str) -> None:
    name, _, arguments = text.removeprefix("/").partition(" ")
    assert classify(text, NAMES) == ServerCommand(name, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "/home/example/app.py:12 why does this fail?",
        "/usr/bin",
        "//",
        "please run /plain-skill on https://example.org/plain-skill and a/plain-skill",
        "a/plain-skill",
        "/a b".replace(" ", "/"),
        "/plain$kill",
        "/(x)",
    ],
)
def test_path_or_prose_is_no_command(text: str) -> None:
    assert type(classify(text, NAMES)) is (BareSlash if text == "//" else PlainText)


@pytest.mark.parametrize(("text", "expected"), [("", Empty), (" \n\t", Empty), ("/", BareSlash), ("/ ", BareSlash)])
def test_nothing_and_a_bare_slash_are_not_sent(text: str, expected: type) -> None:
    assert type(classify(text, NAMES)) is expected


@pytest.mark.parametrize("name", ["tmp", "README.md", "reload-skils", "user/nothing", "zzqqxx"])
def test_unknown_name_is_told_apart(name: str) -> None:
    assert classify(f"/{name} is full", NAMES) == UnknownCommand(name)


def test_name_under_a_cursor_word_of_a_builtin_does_not_capture_it() -> None:
    typed = classify("/help", NAMES)
    assert isinstance(typed, BuiltinCommand)
    assert typed.builtin.name == "help"


def test_builtin_wins_its_name_and_aliases_but_not_those_of_a_tier() -> None:
    names = Names.of(
        Inventory(
            commands=(Command("clear", origin="user"), Command("new", origin="user")),
            listing=Listing(skills=(Skill("clear", origin="user"), Skill("new", origin="user"))),
        )
    )
    for text in ("/clear", "/new"):
        assert isinstance(classify(text, names), BuiltinCommand)
    assert classify("/user/new x", names) == ServerCommand("user/new", "x")


def test_shadowed_candidate_is_called_through_its_tier() -> None:
    assert classify("/learned/alpha go", NAMES) == ServerCommand("learned/alpha", "go")


def test_case_is_ignored_only_when_that_is_unambiguous() -> None:
    names = Names(server=frozenset({"Foo", "FOO", "bar"}))
    assert classify("/Foo", names) == ServerCommand("Foo", "")
    assert classify("/foo", names) == UnknownCommand("foo")
    assert classify("/BAR", names) == ServerCommand("bar", "")


def test_exact_name_of_a_skill_beats_a_builtin_in_another_case() -> None:
    names = Names(server=frozenset({"Help"}))
    assert classify("/Help", names) == ServerCommand("Help", "")
    assert isinstance(classify("/HELP", names), BuiltinCommand)


def test_compatibility_forms_of_letters_name_the_same_skill() -> None:
    assert classify("/ｐｌａｉｎ-skill", NAMES) == ServerCommand("plain-skill", "")
    assert classify("/übung", NAMES) == ServerCommand("übung", "")


@given(st.text())
def test_any_text_is_classified(text: str) -> None:
    classify(text, NAMES)
    classify("/" + text, NAMES)
    mentioned(text, NAMES)
    for cursor in (-1, 0, 1, len(text), len(text) + 1):
        name_being_typed(text, cursor)


@given(st.sampled_from([name for builtin in BUILTINS for name in builtin.names]), st.text(max_size=40))
def test_builtin_never_reaches_the_server(name: str, rest: str) -> None:
    assert isinstance(classify(f"/{name} {rest}", NAMES), BuiltinCommand)


@pytest.mark.parametrize(
    ("text", "cursor", "name"),
    [
        ("/steady-n", 9, "steady-n"),
        ("/steady-neighbour ", 18, None),
        ("/steady-neighbour abc", 3, None),
        ("/steady-neighb", 14, "steady-neighb"),
        ("/steady", 1, "steady"),
        ("/steady", 0, None),
        ("  /st", 5, "st"),
        ("/", 1, ""),
        ("/user/", 6, "user/"),
        ("/user/he", 8, "user/he"),
        ("/usr/b", 6, None),
        ("x /st", 5, None),
        ("", 0, None),
    ],
)
def test_menu_is_for_a_name_that_is_being_typed(text: str, cursor: int, name: str | None) -> None:
    assert name_being_typed(text, cursor) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("go on with the rework, use /implement", "implement"),
        ("use /implement.", "implement"),
        ("see a/implement and https://example.org/implement", None),
        ("use /nothing", None),
    ],
)
def test_skill_named_in_a_sentence_is_noticed(text: str, name: str | None) -> None:
    assert mentioned(text, NAMES) == name
