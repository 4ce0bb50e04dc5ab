"""Skill folders for tests."""

from pathlib import Path

import yaml


def write_skill(
    folder: Path,
    name: str,
    *,
    description: str = "",
    body: str = "",
    files: dict[str, str] | None = None,
    **frontmatter: object,
) -> Path:
    """Write `<folder>/<name>/SKILL.md` and the files bundled with it; gives the skill's folder.

    Keys of the frontmatter are given with underscores. Everything has a default that names the skill.
    """
    skill = folder / name
    skill.mkdir(parents=True, exist_ok=True)
    fields = {"name": name, "description": description or f"About {name}."}
    fields |= {key.replace("_", "-"): value for key, value in frontmatter.items()}
    head = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    write_raw_skill(skill, f"---\n{head}---\n\n{body or _body(name)}")
    for bundled, text in (files or {}).items():
        path = skill / bundled
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return skill


def write_raw_skill(skill: Path, content: str | bytes) -> Path:
    """Write a SKILL.md of exactly this content into the folder `skill`, replacing one in a single step."""
    skill.mkdir(parents=True, exist_ok=True)
    draft = skill / ".SKILL.md.draft"
    draft.write_bytes(content.encode() if isinstance(content, str) else content)
    return draft.replace(skill / "SKILL.md")


def _body(name: str) -> str:
    return f"# {name}\n\nDo what {name} says.\n"
