import os
import shutil
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from server_stub.skills.resolve import resolve
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.trust import grant
from tests.skills.folders import options
from tests.skills.ordinary import as_ordinary_user
from tests.support.cases import all_cases, needs_cases

AREAS = {"parse", "discovery", "precedence", "trust"}
OTHERS = {"X01", "X03", "X04", "X06", "X07", "X10"}
"""Cases of other areas that this package alone can answer in part."""
UNTRUSTED = {"T02", "T05", "T06", "T09", "T03"}

pytestmark = needs_cases


TOLD = {case.case_id: case for case in all_cases() if case.area in AREAS or case.case_id in OTHERS}
EXPECTED = {name: case.expect for name, case in TOLD.items()}


def prepare(case: str, root: Path) -> None:
    TOLD[case].lay_out(root)


def resolve_case(case: str, root: Path) -> SkillSnapshot:
    explicit = (root / "project/.agents/skills", root / "project/.other/skills") if case == "D24" else ()
    resolution = resolve(options(root, *explicit, trust_project=case not in UNTRUSTED))
    assert resolution.faults == ()
    return resolution.snapshot


def listed(snapshot: SkillSnapshot) -> list[str]:
    return [skill.name for skill in snapshot.skills]


def diagnosed(snapshot: SkillSnapshot) -> set[str]:
    """Every name that something a person can see speaks of."""
    names = {skip.name for skip in snapshot.skipped} | {near.name for near in snapshot.near_misses}
    names |= {shadowed.skill.name for shadowed in snapshot.shadowed}
    return names | {skill.name for skill in snapshot.skills if skill.warnings}


def check_listed(snapshot: SkillSnapshot, wanted: list[str]) -> None:
    assert set(wanted) <= set(listed(snapshot))


def check_listed_nfc(snapshot: SkillSnapshot, wanted: list[str]) -> None:
    assert {unicodedata.normalize("NFC", name) for name in wanted} <= set(listed(snapshot))


def check_absent(snapshot: SkillSnapshot, unwanted: list[str]) -> None:
    assert not set(unwanted) & set(listed(snapshot))


def check_diagnosed(snapshot: SkillSnapshot, wanted: list[str]) -> None:
    assert set(wanted) <= diagnosed(snapshot)


def check_unwarned(snapshot: SkillSnapshot, wanted: list[str]) -> None:
    assert not set(wanted) & diagnosed(snapshot)


def check_each(snapshot: SkillSnapshot, wanted: list[str]) -> None:
    assert set(wanted) <= diagnosed(snapshot) | set(listed(snapshot))


def check_description(snapshot: SkillSnapshot, wanted: dict[str, str]) -> None:
    for name, description in wanted.items():
        skill = snapshot.find(name)
        assert skill is not None
        assert skill.description == description


def check_parts(snapshot: SkillSnapshot, wanted: dict[str, list[str]]) -> None:
    for name, parts in wanted.items():
        skill = snapshot.find(name)
        assert skill is not None
        assert [part for part in parts if part not in skill.description] == []


def check_invoked(snapshot: SkillSnapshot, wanted: list[dict[str, Any]]) -> None:
    for invocation in wanted:
        skill = snapshot.find(invocation["text"].removeprefix("/").split()[0])
        assert skill is not None
        assert [part for part in invocation.get("contains", []) if part not in skill.body] == []
        assert [part for part in invocation.get("not_contains", []) if part in skill.body] == []


def check_never_held(snapshot: SkillSnapshot, secrets: list[str]) -> None:
    assert [secret for secret in secrets if secret in repr(snapshot)] == []


def check_hidden(snapshot: SkillSnapshot, names: list[str]) -> None:
    assert [name for name in names if getattr(snapshot.find(name), "user_invocable", True)] == []


def check_one_row(snapshot: SkillSnapshot, names: list[str]) -> None:
    assert [name for name in names if "\n" in getattr(snapshot.find(name), "summary", "\n")] == []


def check_no_duplicates(snapshot: SkillSnapshot, _: bool) -> None:
    assert len(set(listed(snapshot))) == len(snapshot.skills)
    paths = [skip.path for skip in snapshot.skipped] + [near.path for near in snapshot.near_misses]
    assert len(set(paths)) == len(paths)


def check_no_controls(snapshot: SkillSnapshot, _: object) -> None:
    for skill in snapshot.skills:
        shown = skill.name + skill.summary + skill.body.replace("\n", "").replace("\t", "")
        assert not [c for c in shown if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0]


def check_rows_can_be_invoked(snapshot: SkillSnapshot, _: object) -> None:
    assert snapshot.skills
    assert all(snapshot.find(skill.name) is skill for skill in snapshot.skills)


def check_no_paths(snapshot: SkillSnapshot, unwanted: list[str]) -> None:
    texts = [skip.reason for skip in snapshot.skipped] + list(snapshot.notices)
    texts += [warning.reason for skill in snapshot.skills for warning in skill.warnings]
    assert not [text for text in texts for part in unwanted if part in text]


def check_either(snapshot: SkillSnapshot, alternatives: list[dict[str, Any]]) -> None:
    failures = []
    for alternative in alternatives:
        try:
            check_all(snapshot, alternative)
        except AssertionError as failure:
            failures.append(failure)
        else:
            return
    raise AssertionError(failures)


CHECKS: dict[str, Callable[[SkillSnapshot, Any], None]] = {
    "listed": check_listed,
    "listed_nfc": check_listed_nfc,
    "absent": check_absent,
    "diagnostic_for": check_diagnosed,
    "warning_for": check_diagnosed,
    "no_warning_for": check_unwarned,
    "each_listed_or_diagnosed": check_each,
    "either": check_either,
    "any_of": check_either,
    "description": check_description,
    "description_contains": check_parts,
    "invoke": check_invoked,
    "never_sent": check_never_held,
    "not_in_palette": check_hidden,
    "palette_single_row": check_one_row,
    "no_duplicates": check_no_duplicates,
    "no_control_chars_on_screen": check_no_controls,
    "raw_output_lacks": check_no_controls,
    "palette_rows_invocable": check_rows_can_be_invoked,
    "catalogue_well_formed": check_no_controls,
    "wire_lacks": check_no_paths,
}
ELSEWHERE = {"R06", "R12"}
"""Their diagnostics are about builtins, which this package does not know."""


def check_all(snapshot: SkillSnapshot, expect: dict[str, Any]) -> None:
    for key, wanted in expect.items():
        if key in CHECKS:
            CHECKS[key](snapshot, wanted)


@pytest.mark.parametrize("case", sorted(EXPECTED.keys() - ELSEWHERE))
def test_case_is_met(case: str, open_ground: Path) -> None:
    prepare(case, open_ground)
    expect = EXPECTED[case]

    def check() -> str:
        started = time.monotonic()
        snapshot = resolve_case(case, open_ground)
        taken = time.monotonic() - started
        check_all(snapshot, expect)
        assert taken < expect.get("max_seconds", 5)
        assert resolve_case(case, open_ground) == snapshot
        return "met"

    if case == "D21":
        assert as_ordinary_user(check) == "met"
    else:
        assert check() == "met"


def test_user_skill_comes_back_when_the_shadowing_one_is_removed(tmp_path: Path) -> None:
    prepare("R08", tmp_path)
    before = resolve_case("R08", tmp_path)
    shutil.rmtree(tmp_path / "project/.agents/skills/handover")
    after = resolve_case("R08", tmp_path)
    check_invoked(after, EXPECTED["R08"]["after_reload_invoke"])
    assert [s.origin.value for s in (*before.skills, *after.skills)] == ["project", "user"]


def test_project_twin_takes_over_and_is_announced(tmp_path: Path) -> None:
    prepare("R09", tmp_path)
    shutil.copytree(tmp_path / "later/project", tmp_path / "project", dirs_exist_ok=True)
    snapshot = resolve_case("R09", tmp_path)
    check_invoked(snapshot, EXPECTED["R09"]["after_reload_invoke"])
    assert [(s.skill.name, s.by.value) for s in snapshot.shadowed] == [("handover", "project")]


def test_trust_that_is_granted_later_admits_the_project(tmp_path: Path) -> None:
    prepare("T03", tmp_path)
    assert resolve_case("T03", tmp_path).withheld == 1
    grant(tmp_path / "project", tmp_path / "state" / "trust.json")
    check_listed(resolve_case("T03", tmp_path), EXPECTED["T03"]["after_reload_listed"])


def test_trust_does_not_follow_a_link_to_another_project(tmp_path: Path) -> None:
    prepare("T05", tmp_path)
    grant(tmp_path / "alias", tmp_path / "state" / "trust.json")
    decided = options(tmp_path, workspace=tmp_path / "alias", trust_project=False)
    assert listed(resolve(decided).snapshot) == ["theirs"]
    (tmp_path / "alias").unlink()
    os.symlink("project-b", tmp_path / "alias")
    check_all(resolve(decided).snapshot, EXPECTED["T05"])


@pytest.mark.parametrize("content", ["{broken", '{"version": 99, "trusted": ["everything"]}'])
def test_unusable_trust_file_fails_closed(tmp_path: Path, content: str) -> None:
    prepare("T06", tmp_path)
    trust_file = tmp_path / "state" / "trust.json"
    grant(tmp_path / "project", trust_file)
    trust_file.write_text(content)
    snapshot = resolve_case("T06", tmp_path)
    check_all(snapshot, EXPECTED["T06"])
    assert snapshot.notices
    assert trust_file.read_text() == content
