"""Learned partitions keep their isolation: the learned tier is the last one, and a reload leaves it alone."""

from dataclasses import dataclass
from pathlib import Path

from server_stub.skills.parse import parse_skill
from server_stub.skills.resolve import SkillOptions, resolve
from server_stub.skills.skill import Skill
from server_stub.skills.source import Listing
from server_stub.skills.tier import Tier
from tests.support.skills import write_skill


@dataclass(frozen=True)
class FakeLearned:
    """One caller's partition."""

    skills: tuple[Skill, ...]

    def list(self) -> Listing:
        return Listing(self.skills)


def _learned(name: str, body: str) -> FakeLearned:
    raw = f"---\nname: {name}\ndescription: learned\n---\n{body}".encode()
    skill = parse_skill(raw, folder_name=name, folder="/nowhere", origin=Tier.LEARNED)
    assert isinstance(skill, Skill)
    return FakeLearned((skill,))


def _options(root: Path) -> SkillOptions:
    return SkillOptions(
        workspace=root / "project",
        explicit=(root / "skills",),
        conventional=False,
        trust_project=False,
        execution_local=True,
        home=root / "home",
        config_home=root / "config",
        trust_file=root / "trust.json",
    )


def test_each_partition_is_seen_by_its_own_caller_alone(tmp_path: Path) -> None:
    mine = resolve(_options(tmp_path), learned=_learned("habit", "MINE")).snapshot
    yours = resolve(_options(tmp_path), learned=_learned("habit", "YOURS")).snapshot
    nobody = resolve(_options(tmp_path)).snapshot
    assert [snapshot.skills[0].body for snapshot in (mine, yours)] == ["MINE", "YOURS"]
    assert nobody.skills == ()


def test_an_external_skill_shadows_a_learned_one_until_it_is_gone(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills", "habit", body="EXTERNAL")
    learned = _learned("habit", "MINE")
    first = resolve(_options(tmp_path), learned=learned)
    found = first.snapshot.get("habit")
    assert found is not None
    assert found.body == "EXTERNAL"
    assert [(lost.skill.origin, lost.by) for lost in first.snapshot.shadowed] == [(Tier.LEARNED, Tier.EXPLICIT)]
    (skill / "SKILL.md").unlink()
    again = resolve(_options(tmp_path), cache=first.cache, learned=learned).snapshot.get("habit")
    assert again is not None
    assert (again.body, again.origin) == ("MINE", Tier.LEARNED)
