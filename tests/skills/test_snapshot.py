from dataclasses import replace

import pytest

from server_stub.skills.diagnostic import Shadowed
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import EMPTY, SkillSnapshot
from server_stub.skills.tier import Tier
from tests.skills.folders import front, loaded


def named(name: str, origin: Tier = Tier.USER) -> Skill:
    return replace(loaded(front(f"name: {name}", "description: x"), name), origin=origin)


SNAPSHOT = SkillSnapshot(
    skills=tuple(
        named(name, origin)
        for name, origin in [
            ("Plan", Tier.PROJECT),
            ("caf\u00e9", Tier.USER),
            ("plan", Tier.USER),
            ("tidy", Tier.PROJECT),
            ("\ufb01x".replace("\ufb01", "fi"), Tier.USER),
        ]
    ),
    shadowed=(
        Shadowed(replace(named("tidy"), body="user's first"), Tier.PROJECT),
        Shadowed(replace(named("tidy"), body="user's second"), Tier.PROJECT),
    ),
)
SNAPSHOT = replace(SNAPSHOT, skills=tuple(sorted(SNAPSHOT.skills, key=lambda skill: skill.name)))


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("plan", "plan"),
        ("Plan", "Plan"),
        ("PLAN", None),
        ("TIDY", "tidy"),
        ("cafe\u0301", "caf\u00e9"),
        ("CAF\u00c9", "caf\u00e9"),
        ("\ufb01x", "fix"),
        ("nothing", None),
        ("", None),
        ("../tidy", None),
    ],
)
def test_typed_name_means_the_exact_skill_or_the_only_one_alike(typed: str, name: str | None) -> None:
    found = SNAPSHOT.find(typed)
    assert (found and found.name) == name


def test_tier_finds_its_first_candidate_also_when_it_is_shadowed() -> None:
    found = SNAPSHOT.find("tidy", Tier.USER)
    assert found is not None
    assert found.body == "user's first"
    assert SNAPSHOT.find("TIDY", Tier.PROJECT) is SNAPSHOT.get("tidy")
    assert SNAPSHOT.find("tidy", Tier.EXPLICIT) is None
    assert SNAPSHOT.find("PLAN", Tier.USER) is SNAPSHOT.get("plan")


def test_exact_lookup_takes_no_other_case() -> None:
    assert SNAPSHOT.get("TIDY") is None
    assert SNAPSHOT.get("zzz") is None
    assert EMPTY.get("tidy") is None
