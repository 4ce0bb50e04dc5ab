"""A newly added skill can be activated by its name after a reload, and is absent from what the model is told."""

from pathlib import Path

from tests.acceptance.stage import staged


async def test_an_added_skill_runs_for_the_person_and_for_a_model_that_was_given_the_name(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        assert (await stage.loads(a, "gamma"))[1]
        stage.write("gamma", "GAMMA-BODY $ARGUMENTS")
        assert await stage.expands(a, "/gamma") is None
        report = await stage.client.reload_skills(a)
        assert (report.added, report.skills) == (1, 2)
        assert await stage.expands(a, "/gamma now") == "GAMMA-BODY now"
        assert await stage.loads(a, "gamma") == ("Skill: gamma\n\nGAMMA-BODY $ARGUMENTS", False)
        row = (await stage.rows(a))["gamma"]
        assert (row.in_inventory, row.advertised) == (True, False)
        table = {row.name: row.advertised for row in (await stage.client.expansions(a)).expansions}
        assert table == {"alpha": True, "gamma": False}
        (tools,) = stage.tools(a)
        assert "gamma" not in tools
        told = await stage.client.model_view(a)
        assert all("gamma" not in tool.description for tool in told.tools)


async def test_a_model_is_never_told_of_an_added_skill_by_an_error(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="B1") as stage:
        a = await stage.session()
        stage.write("gamma", "G1")
        stage.remove("beta")
        await stage.client.reload_skills(a)
        text, is_error = await stage.loads(a, "delta")
        assert is_error
        assert "alpha" in text
        assert "gamma" not in text
        assert "beta" not in text
