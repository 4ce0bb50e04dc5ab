"""The model-facing tool specification is byte-identical before and after a reload, so the provider's cache survives."""

from itertools import pairwise
from pathlib import Path

from tests.acceptance.stage import staged


async def test_every_kind_of_edit_leaves_the_bytes_and_the_prefix(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="B1", gamma="G1", delta="D1", story="S1") as stage:
        a = await stage.session()
        await stage.run(a, "first")
        stage.write("alpha", "A2")
        stage.write("beta", "B1", "A wholly different description")
        stage.remove("gamma")
        stage.break_("delta")
        stage.write("story", "S1", disable_model_invocation="true")
        stage.write("twin", "NEW")
        await stage.client.reload_skills(a)
        await stage.run(a, "second")
        await stage.client.reload_skills(a)
        await stage.run(a, "/alpha now")
        assert len(stage.tools(a)) == 1
        (tools,) = stage.tools(a)
        for name in ("alpha", "beta", "gamma", "delta", "story"):
            assert f"- {name}: About {name}." in tools.replace("\\n", "\n")
        assert "twin" not in tools
        bodies = [line["body"].removesuffix("]}") for line in stage.shown(a)]
        assert len(bodies) == 3
        assert all(later.startswith(earlier) for earlier, later in pairwise(bodies))


async def test_the_proof_shows_the_digest_of_what_left_and_that_the_cache_was_read(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        await stage.run(a, "first")
        stage.write("alpha", "A2", "Another description")
        await stage.client.reload_skills(a)
        await stage.run(a, "second")
        view = await stage.client.model_view(a)
        assert [row.generation for row in view.requests] == [1, 2]
        assert {row.tools_sha256 for row in view.requests} == {view.tools_sha256}
        assert {line["tools_sha256"] for line in stage.shown(a)} == {view.tools_sha256}
        first, second = view.requests
        assert second.cache_read_tokens >= first.input_tokens - 1


async def test_a_session_that_began_without_skills_never_gets_the_tool(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        a = await stage.session()
        await stage.run(a, "first")
        stage.write("alpha", "A1")
        await stage.client.reload_skills(a)
        await stage.run(a, "/alpha")
        assert "Skill" not in stage.shown(a)[0]["tools"]
        assert len(stage.tools(a)) == 1
        assert await stage.expands(a, "/alpha") == "A1"


async def test_a_mode_refuses_at_the_call_and_drops_no_tool(tmp_path: Path) -> None:
    from client.contract.sessions import PermissionMode

    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        await stage.run(a, "first")
        await stage.client.set_mode(a, PermissionMode.PLAN)
        await stage.client.reload_skills(a)
        await stage.run(a, "second")
        assert len(stage.tools(a)) == 1
        assert (await stage.client.session(a)).mode is PermissionMode.PLAN
