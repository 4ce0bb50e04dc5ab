from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server_stub.skills.diagnostic import SkipCode, Skipped
from server_stub.skills.document import LARGEST_FILE, LARGEST_FRONTMATTER
from server_stub.skills.parse import parse_skill
from server_stub.skills.skill import Skill
from server_stub.skills.tier import Tier
from tests.skills.folders import codes, front, loaded, parsed


def test_skill_has_every_part_when_all_are_written() -> None:
    text = front(
        "name: tidy",
        "description: Tidies a folder.",
        "license: MIT",
        "compatibility: needs git",
        "version: 1.10",
        "argument-hint: <folder>",
        "arguments: [folder, depth]",
        "user-invocable: true",
        "disable-model-invocation: true",
        "allowed-tools: Read, Bash(git add:*)",
        "includes: [base]",
        "metadata: {author: me}",
        body="# Tidy\n\nDo it.",
    )
    body = "# Tidy\n\nDo it."
    assert loaded(text, "tidy") == Skill(
        name="tidy",
        declared_name="tidy",
        description="Tidies a folder.",
        body=body,
        origin=Tier.USER,
        folder="/elsewhere: not compared",
        license="MIT",
        compatibility="needs git",
        version="1.10",
        argument_hint="<folder>",
        arguments=("folder", "depth"),
        user_invocable=True,
        model_invocable=False,
        allowed_tools=("Read", "Bash(git add:*)"),
        includes=("base",),
    )


def test_size_and_digest_of_a_body_are_those_of_its_bytes() -> None:
    skill = loaded(front("name: thing", "description: x", body="caf\u00e9"))
    assert (skill.body_bytes, skill.body_sha256) == (5, sha256(b"caf\xc3\xa9").hexdigest())
    other = replace(skill, body="tea")
    assert (other.body_bytes, other.body_sha256) == (3, sha256(b"tea").hexdigest())
    assert other != skill


@given(st.binary(max_size=400))
def test_any_bytes_give_a_value(raw: bytes) -> None:
    assert isinstance(parsed(raw), Skill | Skipped)


@given(st.text(max_size=200), st.text(max_size=200), st.text(min_size=1, max_size=20))
def test_any_frontmatter_gives_a_value_that_is_clean(written: str, body: str, folder_name: str) -> None:
    outcome = parsed(
        f"---\n{written}\n---\n{body}".encode(errors="replace"), folder_name.replace("/", "-").replace("\0", "-")
    )
    if isinstance(outcome, Skipped):
        assert outcome.reason
        assert "/nowhere" not in outcome.reason
        return
    assert outcome.name.strip() == outcome.name != ""
    assert not any(ord(c) < 0x20 and c not in "\n\t" for c in outcome.description + outcome.body)
    assert "\n" not in outcome.name + outcome.summary + outcome.argument_hint + outcome.license


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", SkipCode.NO_FRONTMATTER),
        (b"# Title\n\nText.\n", SkipCode.NO_FRONTMATTER),
        (b"<!-- licence -->\n---\ndescription: x\n---\nBody\n", SkipCode.NO_FRONTMATTER),
        (b"```yaml\ndescription: x\n```\n", SkipCode.NO_FRONTMATTER),
        (b"---\ndescription: x\nnote: y\n", SkipCode.UNCLOSED_FRONTMATTER),
        (b"---\nname: x\n---\nBody", SkipCode.NO_DESCRIPTION),
        (b"---\nname: x\ndescription:\n---\nBody", SkipCode.NO_DESCRIPTION),
        (b"---\nname: x\ndescription: '  '\n---\nBody", SkipCode.NO_DESCRIPTION),
        (b"---\nname: x\ndescription: ~\n---\nBody", SkipCode.NO_DESCRIPTION),
        (b"---\nname: x\ndescription: {a: b}\n---\nBody", SkipCode.NO_DESCRIPTION),
        (b"---\n---\nBody", SkipCode.NO_DESCRIPTION),
        (b"---\n- a\n- b\n---\nBody", SkipCode.INVALID_YAML),
        (b"---\njust text\n---\nBody", SkipCode.INVALID_YAML),
        (b"---\nname: [broken\ndescription: oops\n---\nBody", SkipCode.INVALID_YAML),
        (b"---\ndescription: caf\xe9\n---\nBody", SkipCode.NOT_UTF8),
        (b"---\ndescription: x\n---\nBody \xff\xfe", SkipCode.NOT_UTF8),
        (b"---\ndescription: x\n---\n" + b"x" * LARGEST_FILE, SkipCode.TOO_LARGE),
        (b"---\ndescription: x\nnotes: |\n" + b"  line\n" * 40_000 + b"---\nBody", SkipCode.TOO_COMPLEX),
    ],
)
def test_skill_is_skipped_with_its_reason_when_it_cannot_be_used(raw: bytes, code: SkipCode) -> None:
    outcome = parsed(raw, "bad-one")
    assert isinstance(outcome, Skipped)
    assert (outcome.name, outcome.code, outcome.path) == ("bad-one", code, Path("/nowhere/bad-one/SKILL.md"))
    assert outcome.reason
    assert len(raw) > 0 or "frontmatter" in outcome.reason
    assert LARGEST_FRONTMATTER < LARGEST_FILE


def test_skip_names_the_line_when_yaml_is_invalid() -> None:
    outcome = parsed("---\nname: [broken\ndescription: oops\n---\nBody")
    assert isinstance(outcome, Skipped)
    assert "line 3" in outcome.reason


def test_file_of_sixteen_bit_text_is_told_apart_from_missing_frontmatter() -> None:
    outcome = parsed("---\ndescription: x\n---\n".encode("utf-16"))
    assert isinstance(outcome, Skipped)
    assert "UTF-8" in outcome.reason


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_are_folded_and_a_byte_order_mark_dropped(ending: str) -> None:
    text = "\ufeff" + front("name: thing", "description: One line.", body="a\n\nb").replace("\n", ending)
    skill = loaded(text)
    assert (skill.description, skill.body, skill.warnings) == ("One line.", "a\n\nb", ())


def test_body_keeps_rules_fences_and_the_indentation_of_its_first_line() -> None:
    body = "    code first\n\n---\n\n```yaml\n---\nkind: sample\n---\n```\n\nlast line"
    assert loaded(front("name: thing", "description: x", body=body)).body == body


def test_fences_may_have_blanks_after_them() -> None:
    assert loaded("--- \t\nname: thing\ndescription: x\n---  \nBODY").body == "BODY"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("description: yes", "yes"),
        ("description: 1.10", "1.10"),
        ("description: 2026-01-02", "2026-01-02"),
        ("description: 0x1F", "0x1F"),
        ("description: Fix ticket #12 # internal", "Fix ticket"),
        ('description: "a: b # c"', "a: b # c"),
        ("description: >-\n  one\n  two", "one two"),
        ("description: |\n  one\n\n  two", "one\n\ntwo"),
        ("description: [first, second]", "first, second"),
        ('description: "line\\nfeed\\ttab\\e[31mred"', "line\nfeed\ttab[31mred"),
        ("description: \u4f1a\u8bae \u2014 50\u20ac \U0001f680", "\u4f1a\u8bae \u2014 50\u20ac \U0001f680"),
    ],
)
def test_description_is_what_was_meant(written: str, read: str) -> None:
    assert loaded(front("name: thing", written)).description == read


def test_summary_is_one_line() -> None:
    assert loaded(front("name: thing", "description: |", "  one", "", "  two\tthree")).summary == "one two three"


def test_long_description_is_kept_with_a_warning() -> None:
    skill = loaded(front("name: thing", f"description: {'x' * 1025}"))
    assert (len(skill.description), codes(skill)) == (1025, {"description_long"})


@pytest.mark.parametrize("written", ['"false"', "no", "False", "0", "off", "N", "'No'"])
def test_switch_is_off_in_any_of_its_words(written: str) -> None:
    skill = loaded(front("name: thing", "description: x", f"user-invocable: {written}"))
    assert (skill.user_invocable, skill.warnings) == (False, ())


@pytest.mark.parametrize("written", ["true", "yes", "on", "1", "~", ""])
def test_switch_is_on_by_word_and_by_default(written: str) -> None:
    skill = loaded(front("name: thing", "description: x", f"user-invocable: {written}"))
    assert (skill.user_invocable, skill.warnings) == (True, ())


@pytest.mark.parametrize("written", ["maybe", "[no]", "{no: no}"])
def test_switch_keeps_its_default_with_a_warning_when_it_is_unreadable(written: str) -> None:
    skill = loaded(front("name: thing", "description: x", f"disable-model-invocation: {written}"))
    assert (skill.model_invocable, codes(skill)) == (True, {"value_ignored"})


@pytest.mark.parametrize("key", ["user_invocable", "userInvocable", "User-Invocable"])
def test_other_spelling_of_a_key_is_honoured_with_a_warning(key: str) -> None:
    skill = loaded(front("name: thing", "description: x", f"{key}: false"))
    assert (skill.user_invocable, codes(skill)) == (False, {"key_spelling"})


def test_own_spelling_wins_over_another() -> None:
    skill = loaded(front("name: thing", "description: x", "user_invocable: false", "user-invocable: true"))
    assert (skill.user_invocable, skill.warnings) == (True, ())


@pytest.mark.parametrize(
    "written",
    [
        "allowed-tools: Read Grep Bash(git:*)",
        "allowed-tools: Read, Grep, Bash(git:*)",
        'allowed-tools: [Read, Grep, "Bash(git:*)"]',
        "allowed-tools:\n  - Read\n  - Grep\n  - Bash(git:*)",
        "allowed_tools: Read Grep Bash(git:*)",
        "tools: Read, Grep, Bash(git:*)",
        "tools: [Read, Grep, 'Bash(git:*)']",
    ],
)
def test_tools_are_the_same_in_every_form(written: str) -> None:
    assert loaded(front("name: thing", "description: x", written)).allowed_tools == ("Read", "Grep", "Bash(git:*)")


def test_declared_tools_with_their_own_schemas_are_not_names() -> None:
    skill = loaded(front("name: thing", "description: x", "tools:", "  - name: a", "    input: {}"))
    assert (skill.allowed_tools, skill.warnings) == ((), ())


@pytest.mark.parametrize("metadata", ["", '"{}"', "[x]", "{a: {b: c}}"])
def test_odd_metadata_never_decides(metadata: str) -> None:
    assert loaded(front("name: thing", "description: x", f"metadata: {metadata}")).warnings == ()


def test_version_may_lie_in_the_metadata() -> None:
    assert loaded(front("name: thing", "description: x", "metadata:", "  version: 2.0")).version == "2.0"


def test_argument_hint_in_brackets_is_kept_as_it_looks() -> None:
    assert loaded(front("name: thing", "description: x", "argument-hint: [issue]")).argument_hint == "[issue]"


def test_arguments_that_are_no_names_are_left_out_with_a_warning() -> None:
    skill = loaded(front("name: thing", "description: x", "arguments: [a, '1', {b: c}, b-2]"))
    assert (skill.arguments, codes(skill)) == (("a", "b-2"), {"value_ignored"})


def test_list_where_names_are_meant_may_not_be_a_mapping() -> None:
    skill = loaded(front("name: thing", "description: x", "includes: {a: b}"))
    assert (skill.includes, codes(skill)) == ((), {"value_ignored"})


def test_unknown_keys_are_ignored() -> None:
    assert loaded(front("name: thing", "description: x", "tags: [a]", "model: opus", "<<: {a: b}")).warnings == ()


def test_unseen_characters_are_named() -> None:
    tags = "".join(chr(0xE0000 + ord(c)) for c in "ignore")
    skill = loaded(front("name: thing", f"description: Normal{tags}.", body="a \u202etxet\u202c b\u200bc \x1b[31m"))
    assert codes(skill) == {"hidden_characters"}
    assert all(
        word in skill.warnings[0].reason
        for word in ("tag characters", "bidirectional", "zero-width", "control characters")
    )
    assert skill.body == "a txet b\u200bc [31m"


def test_unseen_characters_that_are_escapes_in_the_frontmatter_are_named_too() -> None:
    skill = loaded(front("name: thing", 'description: "a\\u202Eb\\e[2Jc"'))
    assert (skill.description, codes(skill)) == ("ab[2Jc", {"hidden_characters"})


def test_emoji_flags_and_joiners_raise_no_alarm() -> None:
    england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    persian = "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    text = f"\U0001f469\u200d\U0001f4bb {england} \u26a0\ufe0f 1\ufe0f\u20e3 {persian}"
    skill = loaded(front("name: thing", f"description: {text}", body=text))
    assert (skill.description, skill.body, skill.warnings) == (text, text, ())


def test_surrogates_of_a_folder_name_never_reach_a_skill() -> None:
    outcome = parse_skill(
        b"---\ndescription: x\n---\n", folder_name="caf\udce9", folder="/nowhere", origin=Tier.EXPLICIT
    )
    assert isinstance(outcome, Skill)
    assert outcome.name == "caf"
