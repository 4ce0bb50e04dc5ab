"""A reload in session A changes neither source, dispatch, tool metadata nor slash commands of session B."""

from pathlib import Path

from tests.acceptance.stage import staged


async def test_another_session_notices_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="ALPHA-V1", beta="BETA-V1") as stage:
        a, b = await stage.session(), await stage.session()
        await stage.run(a, "hello")
        await stage.run(b, "hello")
        before = await stage.state(b)
        stage.write("alpha", "ALPHA-V2", "Another description")
        stage.write("gamma", "GAMMA-V1")
        stage.remove("beta")
        report = await stage.client.reload_skills(a)
        assert (report.added, report.changed, report.removed) == (1, 1, 1)
        assert await stage.state(b) == before
        assert "ALPHA-V1" in (await stage.expands(b, "/alpha") or "")
        assert "BETA-V1" in (await stage.expands(b, "/beta") or "")
        assert await stage.expands(b, "/gamma") is None
        assert await stage.loads(b, "alpha") == ("Skill: alpha\n\nALPHA-V1", False)
        assert (await stage.loads(b, "gamma"))[1]
        assert "ALPHA-V2" in (await stage.expands(a, "/alpha") or "")
        assert stage.tools(a) == stage.tools(b)


async def test_two_reloaded_sessions_keep_what_each_of_them_installed(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        a, b = await stage.session(), await stage.session()
        stage.write("alpha", "V2")
        await stage.client.reload_skills(a)
        stage.write("alpha", "V3")
        await stage.client.reload_skills(b)
        stage.write("alpha", "V4")
        assert [await stage.expands(one, "/alpha") for one in (a, b)] == ["V2", "V3"]
        assert (await stage.loads(a, "alpha"))[0].endswith("V2")
        assert (await stage.loads(b, "alpha"))[0].endswith("V3")


async def test_a_new_session_starts_from_the_start_up_snapshot(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        start = await stage.client.skills()
        a = await stage.session()
        stage.write("alpha", "V2")
        stage.write("beta", "NEW")
        await stage.client.reload_skills(a)
        b = await stage.session()
        assert await stage.expands(b, "/alpha") == "V1"
        assert await stage.expands(b, "/beta") is None
        assert (await stage.client.session(b)).skills_generation == 1
        assert await stage.client.skills() == start


async def test_clear_takes_the_installed_skills_along_and_advertises_them_afresh(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        a = await stage.session()
        stage.write("alpha", "V2")
        stage.write("beta", "NEW")
        await stage.client.reload_skills(a)
        b = (await stage.client.clear(a)).session_id
        await stage.run(a, "hello")
        await stage.run(b, "hello")
        assert await stage.expands(b, "/alpha") == "V2"
        assert (await stage.rows(b))["beta"].advertised
        assert not (await stage.rows(a))["beta"].advertised
        assert "- beta: About beta." in stage.shown(b)[0]["tools"].replace("\\n", "\n")
        assert "beta" not in stage.shown(a)[0]["tools"]
        stage.write("alpha", "V3")
        await stage.client.reload_skills(b)
        assert await stage.expands(a, "/alpha") == "V2"
