"""An already advertised skill with a changed body gives the refreshed body after a reload."""

from pathlib import Path

from tests.acceptance.stage import staged


async def test_name_and_model_both_get_the_new_body_and_never_the_old_one(tmp_path: Path) -> None:
    async with staged(tmp_path, story="# One\nSTORY-V1 $ARGUMENTS") as stage:
        a = await stage.session()
        assert (await stage.loads(a, "story"))[0] == "Skill: story\n\n# One\nSTORY-V1 $ARGUMENTS"
        stage.write("story", "# Two\nSTORY-V2 $ARGUMENTS")
        assert "STORY-V1" in (await stage.expands(a, "/story x") or ""), "not before a reload"
        report = await stage.client.reload_skills(a)
        assert (report.status, report.changed) == ("reloaded", 1)
        assert await stage.expands(a, "/story x") == "# Two\nSTORY-V2 x"
        assert (await stage.loads(a, "story"))[0] == "Skill: story\n\n# Two\nSTORY-V2 $ARGUMENTS"
        await stage.run(a, "/story x")
        last = stage.shown(a)[-1]["body"]
        assert last.endswith('"content": "# Two\\nSTORY-V2 x"}]}')
        detail = await stage.client.skill(a, "story")
        assert (detail.body, detail.generation) == ("# Two\nSTORY-V2 $ARGUMENTS", 2)
        before = await stage.client.skill(a, "story", "previous")
        assert (before.body, before.generation) == ("# One\nSTORY-V1 $ARGUMENTS", 1)


async def test_an_asset_is_live_and_the_reload_says_unchanged(tmp_path: Path) -> None:
    from tests.support.script import call, rule, say
    from tests.support.skills import write_skill

    reads = rule("asset please", [call("Skill", name="story", asset="notes.md")], [say("read")])
    async with staged(tmp_path, rules=[reads], story="S1") as stage:
        a = await stage.session()
        write_skill(stage.skills, "story", description="About story.", body="S1", files={"notes.md": "NOTES-V1"})
        assert (await stage.client.reload_skills(a)).status == "unchanged"
        (stage.skills / "story" / "notes.md").write_text("NOTES-V2")
        await stage.run(a, "asset please")
        assert "NOTES-V2" in stage.shown(a)[-1]["body"]
        report = await stage.client.reload_skills(a)
        assert (report.status, report.generation) == ("unchanged", 3)
