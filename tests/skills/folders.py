"""Skill folders and operator's options as the tests of this package need them."""

from pathlib import Path

from server_stub.skills.diagnostic import Skipped
from server_stub.skills.parse import parse_skill
from server_stub.skills.resolve import Resolution, SkillOptions, resolve
from server_stub.skills.skill import Skill
from server_stub.skills.tier import Tier

SHARED = Path(__file__).parents[2].parent / "shared"


def put(root: Path, name: str, *, body: str = "BODY", description: str = "About it.", declared: str = "") -> Path:
    """A well-formed skill folder; gives its SKILL.md."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "SKILL.md"
    declared = declared or folder.name
    file.write_text(f"---\nname: {declared}\ndescription: {description}\n---\n\n{body}\n", encoding="utf-8")
    return file


def options(tmp_path: Path, *explicit: Path, **decisions: object) -> SkillOptions:
    """What an operator decides, with all folders below `tmp_path`; a trusted workspace unless told otherwise."""
    decided: dict[str, object] = {
        "workspace": tmp_path / "project",
        "explicit": explicit,
        "conventional": True,
        "trust_project": True,
        "execution_local": True,
        "home": tmp_path / "home",
        "config_home": tmp_path / "home" / ".config",
        "trust_file": tmp_path / "state" / "trust.json",
    }
    return SkillOptions(**(decided | decisions))


def resolved(tmp_path: Path, *explicit: Path, **decisions: object) -> Resolution:
    """A resolution without a cache."""
    return resolve(options(tmp_path, *explicit, **decisions))


def parsed(text: str | bytes, folder_name: str = "thing") -> Skill | Skipped:
    """What a SKILL.md of this text becomes."""
    raw = text.encode() if isinstance(text, str) else text
    return parse_skill(raw, folder_name=folder_name, folder=f"/nowhere/{folder_name}", origin=Tier.USER)


def loaded(text: str | bytes, folder_name: str = "thing") -> Skill:
    """The skill that a SKILL.md of this text becomes, which it must."""
    outcome = parsed(text, folder_name)
    assert isinstance(outcome, Skill), outcome
    return outcome


def front(*lines: str, body: str = "BODY") -> str:
    """A SKILL.md with these lines of frontmatter."""
    return "\n".join(["---", *lines, "---", "", body, ""])


def codes(skill: Skill) -> set[str]:
    """The codes of a skill's warnings."""
    return {warning.code.value for warning in skill.warnings}
