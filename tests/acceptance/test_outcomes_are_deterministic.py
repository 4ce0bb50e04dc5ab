"""Added, edited, removed, malformed and shadowed skills have deterministic results after a reload."""

import shutil
from pathlib import Path

from client.contract.skills import SkillListing
from tests.acceptance.stage import Stage, staged
from tests.support.skills import write_raw_skill, write_skill


def _edit(stage: Stage, *, backwards: bool) -> None:
    """The same edits, with the files made in one order or the other."""
    steps = [
        lambda: stage.write("alpha", "A2"),
        lambda: stage.remove("beta"),
        lambda: stage.break_("gamma"),
        lambda: stage.write("delta", "D1"),
        lambda: write_skill(stage.skills / "zz", "story", body="LOSER"),
        lambda: write_skill(stage.skills / "aa", "story", body="WINNER"),
        lambda: write_skill(stage.root / "home" / ".agents" / "skills", "alpha", body="SHADOWED"),
        lambda: write_raw_skill(stage.skills / "no-text", b"---\nname: no-text\n---\n"),
    ]
    for step in reversed(steps) if backwards else steps:
        step()


async def _outcome(root: Path, *, backwards: bool) -> tuple[bytes, SkillListing, dict[str, str | None]]:
    root.mkdir()
    async with staged(root, alpha="A1", beta="B1", gamma="G1") as stage:
        a = await stage.session()
        _edit(stage, backwards=backwards)
        report = await stage.client.reload_skills(a)
        listing = await stage.client.skills(a)
        bodies = {name: await stage.expands(a, f"/{name}") for name in ("alpha", "beta", "gamma", "delta", "story")}
        for _ in range(3):
            assert (await stage.client.reload_skills(a)).status == "unchanged"
            again = await stage.client.skills(a)
            assert again.model_copy(update={"generation": 2}) == listing
        return report.to_json(), listing, bodies


async def test_the_order_in_which_files_came_does_not_matter(tmp_path: Path) -> None:
    one = await _outcome(tmp_path / "one", backwards=False)
    other = await _outcome(tmp_path / "other", backwards=True)
    assert one == other
    report, listing, bodies = one
    assert report == (
        b'{"status":"reloaded","generation":2,"skills":3,"added":2,"changed":1,"removed":2,"skipped":2,"shadowed":2}'
    )
    assert bodies == {"alpha": "A2", "beta": None, "gamma": None, "delta": "D1", "story": "WINNER"}
    assert {skip.name for skip in listing.skipped} == {"gamma", "no-text"}
    assert [row.name for row in listing.skills] == ["alpha", "beta", "delta", "gamma", "story"]


async def test_counts_add_up_with_the_lists(tmp_path: Path) -> None:
    async with staged(tmp_path, **{f"cnt-{number}": "V1" for number in range(5)}) as stage:
        a = await stage.session()
        stage.write("cnt-5", "V1")
        stage.write("cnt-6", "V1")
        stage.write("cnt-1", "V2")
        stage.remove("cnt-0")
        report = await stage.client.reload_skills(a)
        assert (report.added, report.changed, report.removed, report.skills) == (2, 1, 1, 6)
        here = [row for row in (await stage.client.skills(a)).skills if row.in_inventory]
        assert len(here) == len(await stage.palette(a)) == report.skills


async def test_the_root_that_goes_and_comes_back_brings_everything_back(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="B1") as stage:
        a = await stage.session()
        away = tmp_path / "away"
        shutil.move(stage.skills, away)
        assert (await stage.client.reload_skills(a)).removed == 2
        shutil.move(away, stage.skills)
        assert (await stage.client.reload_skills(a)).added == 2
        assert await stage.expands(a, "/beta") == "B1"
