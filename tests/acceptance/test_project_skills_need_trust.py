"""Project skills stay absent unless trust admits them; explicit and user tiers keep their behaviour and precedence."""

import json
from pathlib import Path

from tests.acceptance.stage import Stage, staged
from tests.support.skills import write_skill


def _project(stage: Stage) -> Path:
    return stage.root / "project" / ".agents" / "skills"


def _user(stage: Stage) -> Path:
    return stage.root / "home" / ".agents" / "skills"


def _trust(stage: Stage) -> None:
    """What `mecatui trust` writes."""
    file = stage.root / "home" / ".local" / "state" / "mecatui" / "trust.json"
    from server_stub.skills.trust import grant

    grant(stage.root / "project", file)
    assert json.loads(file.read_text())


async def test_a_reload_neither_grants_trust_nor_lets_an_untrusted_skill_in(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        write_skill(_project(stage), "beta", body="PROJECT-BODY")
        write_skill(_project(stage), "alpha", body="PROJECT-ALPHA")
        assert (await stage.client.reload_skills(a)).status == "unchanged"
        assert await stage.expands(a, "/beta") is None
        assert await stage.expands(a, "/alpha") == "A1"
        listing = await stage.client.skills(a)
        assert listing.withheld == 2
        assert listing.shadowed == ()
        assert (await stage.loads(a, "beta"))[1]
        assert "PROJECT" not in "".join(line["body"] for line in stage.shown(a))


async def test_trust_that_the_operator_gives_counts_at_the_next_reload_and_so_does_its_end(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        a = await stage.session()
        write_skill(_project(stage), "beta", body="PROJECT-BODY")
        await stage.client.reload_skills(a)
        assert await stage.expands(a, "/beta") is None
        _trust(stage)
        assert (await stage.client.reload_skills(a)).added == 1
        assert await stage.expands(a, "/beta") == "PROJECT-BODY"
        (stage.root / "home" / ".local" / "state" / "mecatui" / "trust.json").write_text("{broken")
        report = await stage.client.reload_skills(a)
        assert report.removed == 1
        listing = await stage.client.skills(a)
        assert listing.withheld == 1
        assert listing.notices


async def test_precedence_is_that_of_the_start(tmp_path: Path) -> None:
    async with staged(tmp_path, "--trust-project") as stage:
        a = await stage.session()
        write_skill(_user(stage), "twin", body="USER")
        await stage.client.reload_skills(a)
        assert await stage.expands(a, "/twin") == "USER"
        write_skill(_project(stage), "twin", body="PROJECT")
        report = await stage.client.reload_skills(a)
        assert (report.changed, report.shadowed) == (1, 1)
        assert await stage.expands(a, "/twin") == "PROJECT"
        stage.write("twin", "EXPLICIT")
        await stage.client.reload_skills(a)
        assert await stage.expands(a, "/twin") == "EXPLICIT"
        assert await stage.expands(a, "/user/twin") == "USER"
        shadowed = [(row.origin, row.by) for row in (await stage.client.skills(a)).shadowed]
        assert sorted(shadowed) == [("project", "explicit"), ("user", "explicit")]
        stage.remove("twin")
        (_project(stage) / "twin" / "SKILL.md").unlink()
        await stage.client.reload_skills(a)
        assert await stage.expands(a, "/twin") == "USER"
