"""A failed reload leaves the old source and catalog usable."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.contract.errors import ErrorCode
from client.errors import ServerRefused
from tests.acceptance.stage import Stage, staged


async def _fails(stage: Stage, session_id: str) -> ServerRefused:
    with pytest.raises(ServerRefused) as failed:
        await stage.client.reload_skills(session_id)
    return failed.value


@pytest.fixture
def ground(open_ground: Path) -> Iterator[Path]:
    """A folder whose permissions are opened again at the end."""
    yield open_ground
    for folder, _, _ in os.walk(open_ground):
        Path(folder).chmod(0o755)


async def test_an_unreadable_root_fails_the_reload_and_changes_nothing(ground: Path) -> None:
    async with staged(ground, as_nobody=True, alpha="ALPHA-V1", beta="BETA-V1") as stage:
        a = await stage.session()
        await stage.run(a, "hello")
        before = await stage.state(a)
        stage.write("alpha", "ALPHA-V2")
        stage.skills.chmod(0)
        failure = await _fails(stage, a)
        assert (failure.status, failure.code) == (503, ErrorCode.SKILL_SOURCE_UNAVAILABLE)
        assert str(ground) not in str(failure.error)
        assert "/" not in failure.error
        stage.skills.chmod(0o755)
        assert await stage.state(a) == before
        assert await stage.expands(a, "/alpha") == "ALPHA-V1"
        assert await stage.loads(a, "beta") == ("Skill: beta\n\nBETA-V1", False)
        report = await stage.client.reload_skills(a)
        assert (report.changed, report.generation) == (1, 2)
        assert await stage.expands(a, "/alpha") == "ALPHA-V2"


async def test_a_link_loop_at_the_root_is_a_failure_and_its_absence_is_not(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        a = await stage.session()
        kept = stage.skills.rename(tmp_path / "kept")
        stage.skills.symlink_to(stage.skills)
        assert (await _fails(stage, a)).code is ErrorCode.SKILL_SOURCE_UNAVAILABLE
        assert await stage.expands(a, "/alpha") == "V1"
        stage.skills.unlink()
        report = await stage.client.reload_skills(a)
        assert (report.removed, report.skills) == (1, 0)
        stage.skills.write_text("a plain file holds no skills")
        assert (await stage.client.reload_skills(a)).skills == 0
        stage.skills.unlink()
        kept.rename(stage.skills)
        assert (await stage.client.reload_skills(a)).added == 1
        assert await stage.expands(a, "/alpha") == "V1"


async def test_one_bad_skill_is_a_skip_and_the_reload_succeeds(ground: Path) -> None:
    async with staged(ground, as_nobody=True, alpha="V1", beta="V1") as stage:
        a = await stage.session()
        (stage.skills / "alpha" / "SKILL.md").chmod(0)
        report = await stage.client.reload_skills(a)
        assert (report.removed, report.skipped, report.skills) == (1, 1, 1)
        (skipped,) = (await stage.client.skills(a)).skipped
        assert skipped.name == "alpha"
        assert await stage.expands(a, "/alpha") is None


async def test_the_same_fault_at_the_start_is_soft(ground: Path) -> None:
    (ground / "skills").mkdir()
    (ground / "skills").chmod(0)
    async with staged(ground, as_nobody=True) as stage:
        listing = await stage.client.skills()
        assert listing.skills == ()
        assert any("could not be read" in notice for notice in listing.notices)
        stage.skills.chmod(0o755)
        stage.write("alpha", "V1")
        a = await stage.session()
        assert (await stage.client.reload_skills(a)).added == 1
