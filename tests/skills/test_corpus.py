import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot
from tests.skills.folders import SHARED, resolved

CORPUS = SHARED / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of real files is not here")


def rows() -> list[dict[str, Any]]:
    expected = CORPUS / "expected_open.jsonl"
    return [json.loads(line) for line in expected.read_text(encoding="utf-8").splitlines()] if expected.exists() else []


def source_of(row: dict[str, Any]) -> Path:
    return CORPUS / "open" / row["repo"].replace("/", "+") / row["path"]


def folder_of(row: dict[str, Any]) -> str:
    return row["folder"] or row["repo"].rpartition("/")[2]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> SkillSnapshot:
    """All files of the corpus, each in a source of its own so that no name is taken twice within one."""
    root = tmp_path_factory.mktemp("corpus")
    folders = []
    for number, row in enumerate(rows()):
        folder = root / f"{number:03}" / folder_of(row)
        folder.mkdir(parents=True)
        shutil.copyfile(source_of(row), folder / "SKILL.md")
        folders.append(folder.parent)
    resolution = resolved(root, *folders, conventional=False)
    assert resolution.faults == ()
    return resolution.snapshot


def skill_of(snapshot: SkillSnapshot, number: int) -> Skill | None:
    def all_skills() -> Iterator[Skill]:
        yield from snapshot.skills
        yield from (shadowed.skill for shadowed in snapshot.shadowed)

    return next((skill for skill in all_skills() if Path(skill.folder).parent.name == f"{number:03}"), None)


@pytest.mark.parametrize(("number", "row"), list(enumerate(rows())), ids=lambda value: str(value)[:3])
def test_real_file_has_the_outcome_that_parsers_agree_on(
    snapshot: SkillSnapshot, number: int, row: dict[str, Any]
) -> None:
    skill = skill_of(snapshot, number)
    if row["class"].startswith("skip"):
        diagnosed = [*snapshot.skipped, *snapshot.near_misses]
        assert skill is None
        assert [named.name for named in diagnosed if named.path.parent.parent.name == f"{number:03}"] == [
            folder_of(row)
        ]
        return
    assert skill is not None
    declared = row.get("name", row.get("repaired_name")) or ""
    assert skill.declared_name == declared
    assert skill.name == (declared or folder_of(row)).replace("/", "-")
    assert skill.description == row.get("description", row.get("repaired_description"))
    assert sha256(skill.body.strip().encode()).hexdigest()[:16] == row["body_sha256_16"]
    if row["class"] != "load":
        assert skill.warnings


def test_every_real_file_is_loaded_or_named(snapshot: SkillSnapshot) -> None:
    left_out = len(snapshot.skipped) + len(snapshot.near_misses)
    assert len(snapshot.skills) + len(snapshot.shadowed) + left_out == len(rows()) == 150
