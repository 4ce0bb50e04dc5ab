"""A removed but still advertised skill fails honestly when it is activated; nothing is put in its place."""

import json
from pathlib import Path

import pytest

from client.errors import ServerRefused
from tests.acceptance.stage import Stage, staged


async def _is_unknown(stage: Stage, session_id: str, name: str) -> dict[str, str]:
    text, is_error = await stage.loads(session_id, name)
    assert is_error
    error: dict[str, str] = json.loads(text)
    assert (error["error_type"], error["skill_name"]) == ("skill_not_found", name)
    return error


async def test_a_removed_skill_is_gone_for_everyone_but_still_advertised(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="BETA-BODY") as stage:
        a = await stage.session()
        stage.remove("beta")
        report = await stage.client.reload_skills(a)
        assert (report.removed, report.skills) == (1, 1)
        error = await _is_unknown(stage, a, "beta")
        assert "alpha" in error["message"]
        assert await stage.expands(a, "/beta") is None
        assert "beta" not in await stage.palette(a)
        row = (await stage.rows(a))["beta"]
        assert (row.in_inventory, row.advertised) == (False, True)
        (tools,) = stage.tools(a)
        assert "- beta: About beta." in tools.replace("\\n", "\n")
        assert "BETA-BODY" not in "".join(line["body"] for line in stage.shown(a))
        with pytest.raises(ServerRefused, match="no skill of this name"):
            await stage.client.skill(a, "beta")


async def test_a_malformed_skill_is_not_served_from_its_old_text(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="OLD-TEXT") as stage:
        a = await stage.session()
        stage.break_("beta")
        report = await stage.client.reload_skills(a)
        assert (report.removed, report.skipped) == (1, 1)
        await _is_unknown(stage, a, "beta")
        assert await stage.expands(a, "/beta") is None
        (skipped,) = (await stage.client.skills(a)).skipped
        assert skipped.name == "beta"
        assert skipped.reason
        assert "OLD-TEXT" not in "".join(line["body"] for line in stage.shown(a))


async def test_a_renamed_skill_is_one_removed_and_one_added(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        stage.remove("alpha")
        stage.write("renamed", "A1")
        report = await stage.client.reload_skills(a)
        assert (report.added, report.removed, report.changed) == (1, 1, 0)
        await _is_unknown(stage, a, "alpha")
        assert (await stage.loads(a, "renamed"))[0].endswith("A1")


async def test_a_model_may_not_call_what_is_now_for_the_user_alone(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="B1") as stage:
        a = await stage.session()
        stage.write("alpha", "A1", disable_model_invocation="true")
        stage.write("beta", "B1", user_invocable="false")
        await stage.client.reload_skills(a)
        text, is_error = await stage.loads(a, "alpha")
        assert is_error
        assert json.loads(text)["error_type"] == "permission_denied"
        assert await stage.expands(a, "/alpha") == "A1"
        assert await stage.loads(a, "beta") == ("Skill: beta\n\nB1", False)
        assert await stage.expands(a, "/beta") is None
        assert set(await stage.palette(a)) == {"alpha"}
