"""The `Skill` tool: what a model gets for what it asks, to the letter."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from server_stub.engine.skill_tool import CALL_CAP, SkillTool
from server_stub.engine.tool_spec import ToolSpec
from server_stub.engine.tools.tool import Access
from server_stub.skills.skill import Skill
from tests.engine.parts import skill, snapshot
from tests.support.skills import write_skill

SPEC = ToolSpec.of("Skill", "as pinned", {})


def tool(*skills: Skill, advertised: tuple[str, ...] | None = None) -> SkillTool:
    names = [one.name for one in skills] if advertised is None else advertised
    return SkillTool(SPEC, dict.fromkeys(names, "told"), snapshot(*skills))


async def loaded(subject: SkillTool, **args: object) -> str:
    output = await subject.run(args)
    assert not output.is_error, output.content
    return output.content


async def failed(subject: SkillTool, **args: object) -> dict[str, Any]:
    output = await subject.run(args)
    assert output.is_error, output.content
    error: dict[str, Any] = json.loads(output.content)
    return error


async def test_body_comes_under_its_name_untouched() -> None:
    body = "# A\n\n${HOME} $ARGUMENTS $1 {{x}} %s\n"
    assert await loaded(tool(skill("a", body=body)), name="a") == f"Skill: a\n\n{body}"


async def test_header_tells_what_goes_with_the_body(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", files={"z.txt": "zz", "scripts/run.py": "x", ".hidden": "no"})
    one = skill("a", body="B", folder=str(folder), compatibility="needs git", allowed_tools=("Read", "Shell"))
    assert await loaded(tool(one), name="a") == (
        "Skill: a\n"
        "Compatibility: needs git\n"
        "Declared tools (no permission is given by this): Read, Shell\n"
        "Bundled files, read with `asset`: scripts/run.py (1 bytes), z.txt (2 bytes)\n"
        "\n"
        "B"
    )


async def test_only_the_first_bundled_files_are_listed(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", files={f"{number:03}.txt": "" for number in range(60)})
    content = await loaded(tool(skill("a", folder=str(folder))), name="a")
    assert "049.txt (0 bytes), more not shown\n" in content
    assert "050.txt" not in content


@pytest.mark.parametrize("body", ["x" * 60_000, "é" * 30_000, "🙂" * 20_000, "a" + "€" * 25_000])
async def test_long_body_comes_in_pieces_that_join_to_the_whole(body: str) -> None:
    subject, got, offset = tool(skill("a", body=body)), "", 0
    while True:
        content = await loaded(subject, name="a", offset=offset)
        head, _, piece = content.partition("\n\n")
        assert head == ("Skill: a" if offset == 0 else f"Skill: a, from byte {offset}")
        piece, _, rest = piece.partition("\n\n[cut here: ")
        assert len(piece.encode()) <= CALL_CAP
        got += piece
        offset += len(piece.encode())
        if not rest:
            break
        assert rest == f"{len(body.encode()) - offset} bytes remain; call again with offset {offset}]"
    assert got == body


async def test_offset_within_a_character_begins_after_it() -> None:
    assert await loaded(tool(skill("a", body="é!")), name="a", offset=1) == "Skill: a, from byte 1\n\n!"


async def test_offset_at_the_end_is_empty_and_past_it_an_error() -> None:
    subject = tool(skill("a", body="é"))
    assert await loaded(subject, name="a", offset=2) == "Skill: a, from byte 2\n\n"
    for offset in (3, 10**30):
        error = await failed(subject, name="a", offset=offset)
        assert (error["error_type"], error["message"]) == (
            "validation_error",
            "`offset` is past the end: the body has 2 bytes",
        )


@pytest.mark.parametrize("name", [None, "", 7, True, ["a"], {"name": "a"}])
async def test_name_that_is_none(name: object) -> None:
    error = await failed(tool(skill("a")), name=name)
    assert (error["error_type"], error["message"]) == ("validation_error", "give the skill's name as `name`")


@pytest.mark.parametrize(
    "args",
    [
        {"offset": -1},
        {"offset": 1.0},
        {"offset": "0"},
        {"offset": True},
        {"asset": 1},
        {"asset": ["x"]},
        {"tool": 1},
        {"tool": "t", "asset": "x"},
    ],
)
async def test_argument_of_the_wrong_kind(args: dict[str, object]) -> None:
    assert (await failed(tool(skill("a")), name="a", **args))["error_type"] == "validation_error"


async def test_arguments_that_are_null_count_as_left_out() -> None:
    args = {"asset": None, "tool": None, "input": None, "offset": None}
    assert (await loaded(tool(skill("a", body="B")), name="a", **args)).endswith("B")


async def test_tool_that_the_skill_does_not_have() -> None:
    error = await failed(tool(skill("a")), name="a", tool="lint", input={})
    assert (error["error_type"], error["skill_name"], error["tool_name"]) == ("tool_activation_failure", "a", "lint")


async def test_name_is_found_without_case_where_that_is_clear() -> None:
    subject = tool(skill("Größe"), skill("twin"), skill("TWIN"))
    assert (await loaded(subject, name="GRÖSSE")).startswith("Skill: Größe\n")
    assert (await loaded(subject, name="gro\u0308ße")).startswith("Skill: Größe\n")
    assert (await loaded(subject, name="TWIN")).startswith("Skill: TWIN\n")
    assert (await failed(subject, name="Twin"))["error_type"] == "skill_not_found"


@pytest.mark.parametrize("name", ["../a", "a/SKILL.md", "user/a", " a", "a\n", "/a", "a" * 10_000])
async def test_name_is_never_a_path(name: str) -> None:
    error = await failed(tool(skill("a")), name=name)
    assert (error["error_type"], error["skill_name"]) == ("skill_not_found", name[:200])


async def test_unknown_name_is_answered_with_what_was_told_and_can_be_loaded() -> None:
    subject = tool(
        skill("added"),
        skill("now-hidden", model_invocable=False),
        skill("there"),
        advertised=("now-hidden", "removed", "there"),
    )
    error = await failed(subject, name="removed")
    assert error == {
        "error_type": "skill_not_found",
        "message": "no skill of this name is available; available: there",
        "details": {},
        "skill_name": "removed",
        "tool_name": None,
    }
    assert (await loaded(subject, name="added")).startswith("Skill: added\n")


async def test_unknown_name_where_nothing_that_was_told_is_left() -> None:
    error = await failed(tool(skill("added"), advertised=("removed",)), name="x")
    assert error["message"] == "no skill of this name is available; no listed skill is available now"


async def test_names_that_are_suggested_are_counted() -> None:
    error = await failed(tool(*(skill(f"s{number:02}") for number in range(30))), name="x")
    assert error["message"].endswith("s18, s19 and 10 more")


async def test_skill_that_only_a_person_may_call() -> None:
    subject = tool(skill("a", body="SECRET", model_invocable=False))
    for args in ({}, {"asset": "x"}, {"tool": "t"}):
        output = await subject.run({"name": "a", **args})
        assert json.loads(output.content)["error_type"] == "permission_denied"
        assert "SECRET" not in output.content


async def test_asset_is_read_from_disk_as_it_is_now(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", files={"x/y.txt": "one"})
    subject = tool(skill("a", folder=str(folder)))
    assert await loaded(subject, name="a", asset="x/y.txt") == "one"
    (folder / "x/y.txt").write_text("two, at length")
    assert await loaded(subject, name="a", asset="x/y.txt", offset=5) == "at length"
    (folder / "x/y.txt").unlink()
    assert (await failed(subject, name="a", asset="x/y.txt"))["error_type"] == "resolution_failure"


@pytest.mark.parametrize("asset", ["", "..", "../other", "/etc/hostname", "out", "x\0y", "fifo", ".hidden", "a" * 5000])
async def test_asset_that_is_not_the_skills_own(asset: str, tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", files={".hidden": "SECRET"})
    (tmp_path / "other").write_text("SECRET")
    (folder / "out").symlink_to(tmp_path / "other")
    os.mkfifo(folder / "fifo")
    output = await tool(skill("a", folder=str(folder))).run({"name": "a", "asset": asset})
    assert json.loads(output.content)["error_type"] == "resolution_failure"
    assert "SECRET" not in output.content
    assert str(tmp_path) not in output.content


def test_loading_counts_as_reading() -> None:
    assert tool().access({"name": "a", "tool": "x"}) is Access.READ
