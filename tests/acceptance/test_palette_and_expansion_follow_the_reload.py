"""The user-facing palette and `/<skill-name>` expansion reflect the refreshed source after a reload."""

from pathlib import Path

import httpx

from tests.acceptance.stage import staged


async def test_palette_table_listing_and_expansion_agree(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1", beta="B1") as stage:
        a = await stage.session()
        stage.write("alpha", "A2 $ARGUMENTS", "A new description", argument_hint="<file>")
        stage.write("gamma", "G1")
        stage.remove("beta")
        await stage.client.reload_skills(a)
        assert await stage.palette(a) == {"alpha": "A new description", "gamma": "About gamma."}
        table = await stage.client.expansions(a)
        assert (table.generation, [row.name for row in table.expansions]) == (2, ["alpha", "gamma"])
        assert (table.expansions[0].argument_hint, table.expansions[0].placeholders) == ("<file>", True)
        rows = await stage.rows(a)
        assert rows["alpha"].description == "A new description"
        assert rows["alpha"].description_stale
        for expansion in table.expansions:
            assert expansion.body_sha256 == rows[expansion.name].body_sha256
        assert await stage.expands(a, "/alpha x y") == "A2 x y"
        assert await stage.expands(a, "/gamma") == "G1"


async def test_the_answer_is_counts_and_a_status_and_nothing_else(tmp_path: Path) -> None:
    names = {"alpha": "SECRET-BODY", "beta": "B1"}
    async with staged(tmp_path, **names) as stage:
        a = await stage.session()
        transport = httpx.AsyncHTTPTransport(uds=stage.server.address.removeprefix("unix:"))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as raw:
            path = f"/v1/sessions/{a}/skills-reload"
            same = await raw.post(path)
            assert same.content == b'{"status":"unchanged","generation":2,"skills":2}'
            for number in range(300):
                stage.write(f"skill-{number:03}", "x" * 100, "d" * 500)
            stage.write("alpha", "SECRET-BODY 2")
            stage.remove("beta")
            stage.break_("gamma")
            answer = await raw.post(path)
            wanted = (
                b'{"status":"reloaded","generation":3,"skills":301,"added":300,"changed":1,"removed":1,"skipped":1}'
            )
            assert answer.content == wanted
            steered = await raw.post(path, json={"directory": "/etc", "trust": True})
            assert (steered.status_code, steered.json()["code"]) == (400, "invalid_argument")
            assert (await stage.client.session(a)).skills_generation == 3


async def test_a_reload_leaves_no_mark_on_the_conversation(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        await stage.run(a, "hello")
        before, transcript = await stage.client.session(a), await stage.client.transcript(a)
        stage.write("alpha", "A2")
        await stage.client.reload_skills(a)
        assert await stage.client.session(a) == before.model_copy(update={"skills_generation": 2})
        assert await stage.client.transcript(a) == transcript
