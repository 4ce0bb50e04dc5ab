"""Skills on the wire: palette, expansion table, listing, one body, a dry run, and what the model is told."""

import asyncio
import hashlib
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.local import Local, opened, until
from tests.support.refusals import kind_of
from tests.support.script import call, rule, say
from tests.support.skills import write_raw_skill, write_skill

BODY = "Do what alpha says: $ARGUMENTS"
SKILLS = {"alpha": BODY, "beta": "The beta body."}

NOT_FOUND = (404, "not_found")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Local]:
    """Skills of every kind: ordinary ones, one hidden from users, one from the model, one broken, one near miss."""
    folder = tmp_path / "skills"
    write_skill(folder, "hidden", body="The hidden body.", user_invocable=False)
    write_skill(folder, "private", body="The private body.", disable_model_invocation=True)
    write_raw_skill(folder / "broken", b"---\nname: [\n---\n")
    (folder / "flat.md").write_text("flat")
    async with opened(tmp_path, skills=SKILLS) as opened_server:
        yield opened_server


async def got(server: Local, path: str) -> Any:
    answer = await server.http.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


async def both(server: Local, path: str) -> list[Any]:
    """The answer without a session and with one."""
    a = await server.session()
    return [await got(server, path), await got(server, f"{path}?session_id={a}")]


async def test_the_palette_is_names_and_descriptions_in_order(server: Local) -> None:
    expected = {"commands": [{"name": name, "description": f"About {name}."} for name in ("alpha", "beta", "private")]}
    assert await both(server, "/v1/commands") == [expected, expected]


async def test_the_listing_has_every_skill_with_what_may_be_done_with_it(server: Local) -> None:
    bare, of_session = await both(server, "/v1/skills")
    assert bare == of_session
    assert bare["generation"] == 1
    rows = {row["name"]: row for row in bare["skills"]}
    assert list(rows) == ["alpha", "beta", "hidden", "private"]
    assert rows["alpha"] == {
        "name": "alpha",
        "description": "About alpha.",
        "origin": "explicit",
        "advertised": True,
        "in_inventory": True,
        "user_invocable": True,
        "model_invocable": True,
        "body_sha256": hashlib.sha256(BODY.encode()).hexdigest(),
        "body_bytes": len(BODY),
    }
    flags = {name: (row.get("user_invocable", False), row.get("model_invocable", False), row.get("advertised", False))
             for name, row in rows.items()}  # fmt: skip
    assert flags["hidden"] == (False, True, True)
    assert flags["private"] == (True, False, False)
    (skipped,) = bare["skipped"]
    assert (skipped["name"], skipped["origin"]) == ("broken", "explicit")
    assert skipped["code"]
    assert skipped["reason"]
    (miss,) = bare["near_misses"]
    assert (miss["name"], bool(miss["fix"])) == ("flat", True)


async def test_the_expansion_table_has_no_bodies(server: Local) -> None:
    a = await server.session()
    table = await got(server, f"/v1/sessions/{a}/expansions")
    assert table["generation"] == 1
    alpha, beta, private = table["expansions"]
    assert alpha == {
        "name": "alpha",
        "kind": "skill",
        "origin": "explicit",
        "advertised": True,
        "placeholders": True,
        "body_bytes": len(BODY),
        "body_sha256": hashlib.sha256(BODY.encode()).hexdigest(),
    }
    assert "placeholders" not in beta
    assert "advertised" not in private


async def test_no_listing_and_no_report_holds_a_path_or_a_body(server: Local) -> None:
    a = await server.session()
    server.write("alpha", "The changed body.")
    report = await server.http.post(f"/v1/sessions/{a}/skills-reload")
    told = [report.text]
    for path in ("/v1/commands", "/v1/skills", f"/v1/sessions/{a}/expansions", f"/v1/sessions/{a}/model-view"):
        told += [(await server.http.get(path, params={"session_id": one})).text for one in ("", a)]
    for text in told:
        assert str(server.root) not in text
        assert "body." not in text
        assert "Do what" not in text


async def test_a_report_has_counts_and_no_zeros(server: Local) -> None:
    a = await server.session()
    path = f"/v1/sessions/{a}/skills-reload"
    same = (await server.http.post(path)).json()
    assert same == {"status": "unchanged", "generation": 2, "skills": 4, "skipped": 1}
    server.write("alpha", "V2")
    server.write("gamma", "V1")
    (server.skills / "beta" / "SKILL.md").unlink()
    moved = (await server.http.post(path)).json()
    assert moved == {
        "status": "reloaded",
        "generation": 3,
        "skills": 4,
        "added": 1,
        "changed": 1,
        "removed": 1,
        "skipped": 1,
    }


@pytest.mark.parametrize(
    ("text", "name", "becomes"),
    [
        ("/alpha the words", "alpha", "Do what alpha says: the words"),
        ("/ALPHA x", "alpha", "Do what alpha says: x"),
        ("/beta x", "beta", "The beta body.\n\nArguments:\nx"),
        ("/private", "private", "The private body."),
        ("/hidden", "", "/hidden"),
        ("/broken", "", "/broken"),
        ("/nothing at all", "", "/nothing at all"),
        ("plain words", "", "plain words"),
        ("/etc/passwd", "", "/etc/passwd"),
        ("", "", None),
        ("\x1b/alpha", "", "\x1b/alpha"),
    ],
)
async def test_a_dry_run_says_what_a_text_becomes(server: Local, text: str, name: str, becomes: str | None) -> None:
    a = await server.session()
    before = await server.everything(a)
    answer = await server.http.post(f"/v1/sessions/{a}/expand", json={"text": text})
    assert answer.status_code == 200
    told = answer.json()
    assert (told.get("name", ""), told.get("text"), told["generation"]) == (name, becomes, 1)
    assert await server.everything(a) == before


async def test_what_a_dry_run_says_is_what_the_model_is_shown(server: Local) -> None:
    a = await server.session()
    told = (await server.client.expand(a, "/alpha the words")).text
    await server.run(a, "/alpha the words")
    (message, _) = server.inside(a).messages
    assert message.text == told


async def test_a_dry_run_on_a_slow_disk_holds_nobody_up(server: Local) -> None:
    a = await server.session()
    go = threading.Event()
    is_read = server.slow_disk(a, go)
    expand = asyncio.create_task(server.client.expand(a, "/alpha x"))
    try:
        await until(is_read.is_set)
        assert (await server.http.get("/v1/info")).status_code == 200
        assert not expand.done()
    finally:
        go.set()
    assert (await expand).text == "Do what alpha says: x"


async def test_one_skill_whole(server: Local) -> None:
    (server.skills / "alpha" / "notes.md").write_text("twelve bytes")
    a = await server.session()
    told = await got(server, f"/v1/sessions/{a}/skills/alpha")
    assert told == {
        "name": "alpha",
        "generation": 1,
        "declared_name": "alpha",
        "description": "About alpha.",
        "origin": "explicit",
        "body": BODY,
        "assets": [{"name": "notes.md", "size": 12}],
        "path": str(server.skills / "alpha" / "SKILL.md"),
    }


async def test_its_owner_may_read_any_skill_by_name_in_any_case(server: Local) -> None:
    a = await server.session()
    for name, wanted in (("hidden", "hidden"), ("private", "private"), ("ALPHA", "alpha"), ("%61lpha", "alpha")):
        told = await got(server, f"/v1/sessions/{a}/skills/{name}")
        assert told["name"] == wanted


async def test_a_path_is_told_over_the_private_socket_only(tmp_path: Path) -> None:
    async with opened(tmp_path, skills=SKILLS, token="t", on_port=True) as server:
        a = await server.session()
        answer = await server.http.get(f"/v1/sessions/{a}/skills/alpha")
        assert answer.json()["body"] == BODY
        assert "path" not in answer.json()
        assert str(tmp_path) not in answer.text


@pytest.mark.parametrize(
    "name",
    ["nothing", "broken", "flat.md", "x" * 10_000, "%00", "%2e%2e", "alpha%20", "a%0Ab", "%ff", "SKILL.md"],
)
async def test_a_skill_that_is_not_there(server: Local, name: str) -> None:
    a = await server.session()
    assert kind_of(await server.http.get(f"/v1/sessions/{a}/skills/{name}")) == NOT_FOUND


async def test_the_text_before_the_last_reload_stays_readable(server: Local) -> None:
    a = await server.session()
    path = f"/v1/sessions/{a}/skills/alpha"
    assert kind_of(await server.http.get(f"{path}?generation=previous")) == NOT_FOUND
    server.write("alpha", "V2")
    server.write("gamma", "V1")
    await server.client.reload_skills(a)
    now, before = await got(server, f"{path}?generation=current"), await got(server, f"{path}?generation=previous")
    assert (now["body"], now["generation"]) == ("V2", 2)
    assert (before["body"], before["generation"]) == (BODY, 1)
    gamma = f"/v1/sessions/{a}/skills/gamma?generation=previous"
    assert kind_of(await server.http.get(gamma)) == NOT_FOUND
    await server.client.reload_skills(a)
    assert (await got(server, f"{path}?generation=previous"))["body"] == "V2"


@pytest.mark.parametrize("generation", ["1", "next", "CURRENT", "0", "previous,current"])
async def test_a_generation_is_current_or_previous(server: Local, generation: str) -> None:
    a = await server.session()
    answer = await server.http.get(f"/v1/sessions/{a}/skills/alpha", params={"generation": generation})
    assert kind_of(answer) == (400, "invalid_argument")


async def test_a_skill_whose_folder_has_gone_is_still_told(server: Local) -> None:
    (server.skills / "alpha").rename(server.root / "away")
    a = await server.session()
    told = await got(server, f"/v1/sessions/{a}/skills/alpha")
    assert told["body"] == BODY
    assert "assets" not in told
    assert (await server.client.expand(a, "/alpha x")).text == "Do what alpha says: x"


async def test_the_model_view_is_what_was_sent(tmp_path: Path) -> None:
    rules = [rule("go", [call("Skill", name="alpha")], [say("done")])]
    async with opened(tmp_path, rules=rules, skills=SKILLS) as server:
        a = await server.session()
        path = f"/v1/sessions/{a}/model-view"
        fresh = await got(server, path)
        assert "requests" not in fresh
        await server.run(a, "go")
        server.write("gamma", "V1")
        await server.client.reload_skills(a)
        await server.run(a, "go")
        view = await got(server, path)
        canonical = server.inside(a).pin.tools.canonical
        assert view["tools_sha256"] == fresh["tools_sha256"] == hashlib.sha256(canonical).hexdigest()
        assert view["tools_bytes"] == len(canonical)
        assert [row["turn"] for row in view["requests"]] == [1, 2, 3, 4]
        assert [row["generation"] for row in view["requests"]] == [1, 1, 2, 2]
        assert {row["tools_sha256"] for row in view["requests"]} == {view["tools_sha256"]}
        assert [tool["name"] for tool in view["tools"]] == [tool["name"] for tool in json.loads(canonical)]
        skill = view["tools"][-1]
        assert (skill["name"], skill["input_schema"]["required"]) == ("Skill", ["name"])
        assert "- alpha: About alpha." in skill["description"]
        assert "gamma" not in skill["description"]


async def test_a_session_that_began_without_skills_has_no_skill_tool_ever(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        assert await got(server, "/v1/commands") == {}
        assert await got(server, "/v1/skills") == {"generation": 1}
        assert await got(server, f"/v1/sessions/{a}/expansions") == {"generation": 1}
        server.write("alpha", "V1")
        assert (await server.client.reload_skills(a)).added == 1
        view = await got(server, f"/v1/sessions/{a}/model-view")
        assert "tools" not in view
        assert [row.name for row in (await server.client.commands(a)).commands] == ["alpha"]
        (row,) = (await server.client.skills(a)).skills
        assert not row.advertised


async def test_the_start_is_listed_without_a_session_whatever_was_reloaded(server: Local) -> None:
    before = [await server.http.get(path) for path in ("/v1/skills", "/v1/commands")]
    a = await server.session()
    server.write("gamma", "V1")
    await server.client.reload_skills(a)
    after = [await server.http.get(path) for path in ("/v1/skills", "/v1/commands")]
    assert [answer.content for answer in after] == [answer.content for answer in before]


async def test_what_a_server_says_of_itself(server: Local) -> None:
    told = await got(server, "/v1/compatibility")
    assert told["api_major"] == 1
    assert told["capabilities"] == {"slash_commands": True, "skills": True, "skills_reload": True}
    info = await got(server, "/v1/info")
    assert info["server_implementation"] == "mecatui"
    assert info["build_id"]
