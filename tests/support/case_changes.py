"""What a person does to the files of a reported fault before its first and its second reload."""

import shutil
from collections.abc import Callable
from pathlib import Path

from server_stub.skills.trust import grant
from tests.support.skills import write_raw_skill, write_skill

Change = Callable[[Path], None]
"""Takes the root of the case."""


def _skills(root: Path) -> Path:
    return root / "home" / ".agents" / "skills"


def _edit(name: str, old: str, new: str) -> Change:
    def change(root: Path) -> None:
        file = _skills(root) / name / "SKILL.md"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return change


def _later(root: Path) -> None:
    """The files that come in later, where the case has some."""
    for folder in (root / "later").glob("*"):
        shutil.copytree(folder, root / folder.name, dirs_exist_ok=True)


def _break(root: Path) -> None:
    write_raw_skill(_skills(root) / "break-me", "---\nname: [break-me\n---")


def _add_edit_and_remove(root: Path) -> None:
    for name in ("cnt-5", "cnt-6"):
        write_skill(_skills(root), name)
    write_skill(_skills(root), "cnt-1", body="edited\n")
    shutil.rmtree(_skills(root) / "cnt-0")


def _add_and_edit(root: Path) -> None:
    write_skill(_skills(root), "cache-b")
    write_skill(_skills(root), "cache-a", body="edited\n")


def _hide(root: Path) -> None:
    _skills(root).rename(_skills(root).with_name("skills.off"))


def _bring_back(root: Path) -> None:
    _skills(root).with_name("skills.off").rename(_skills(root))


BEFORE_RELOAD: dict[str, Change] = {
    "L02": _edit("story", "STORY-V1", "STORY-V2"),
    "L03": _edit("story", "Old description.", "New description."),
    "L05": _edit("old-title", "old-title", "new-title"),
    "L06": _break,
    "L08": lambda root: _skills(root).chmod(0),
    "L09": _hide,
    "L14": _add_edit_and_remove,
    "L21": _add_and_edit,
    "L23": _edit("story", "STORY-V1", "STORY-V2"),
    "R08": lambda root: shutil.rmtree(root / "project/.agents/skills/handover"),
    "S05": _edit("story", "STORY-V1", "STORY-V2"),
    "T03": lambda root: grant(root / "project", root / "home/.local/state/mecatui/trust.json"),
}

BEFORE_SECOND_RELOAD: dict[str, Change] = {
    "L08": lambda root: _skills(root).chmod(0o755),
    "L09": _bring_back,
}


def change(case_id: str, root: Path) -> None:
    """Do what comes before the first reload."""
    BEFORE_RELOAD.get(case_id, _later)(root)


def change_again(case_id: str, root: Path) -> None:
    """Do what comes before the second one, which is often nothing."""
    BEFORE_SECOND_RELOAD.get(case_id, lambda _: None)(root)
