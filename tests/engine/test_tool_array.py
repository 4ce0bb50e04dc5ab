"""The tools array: serialised once, the same bytes for the same tools."""

import json
from itertools import permutations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from server_stub.engine.factory import EngineFactory
from server_stub.engine.tool_spec import ToolArray, ToolSpec
from server_stub.engine.tools.offline_action import OfflineAction
from server_stub.skills.resolve import SkillOptions, resolve
from server_stub.skills.snapshot import SkillSnapshot
from tests.engine.parts import Playing, skill, snapshot
from tests.support.skills import write_skill

FACTORY = EngineFactory(Playing([]), (OfflineAction(),), (), "system")


def options(root: Path, *explicit: Path) -> SkillOptions:
    return SkillOptions(
        workspace=root,
        explicit=explicit,
        conventional=False,
        trust_project=False,
        execution_local=True,
        home=root,
        config_home=root,
        trust_file=root / "trust.json",
    )


def test_array_is_the_same_whatever_order_the_files_were_written_in(tmp_path: Path) -> None:
    arrays = set()
    for order in permutations(["zeta", "alpha", "größe", "Beta"]):
        folder = tmp_path / "-".join(order)
        for name in order:
            write_skill(folder, name)
        arrays.add(FACTORY.pin(resolve(options(tmp_path, folder)).snapshot).tools.canonical)
    assert len(arrays) == 1
    assert [line[2:].partition(":")[0] for line in json.loads(arrays.pop())[1]["description"].splitlines()[-4:]] == [
        "Beta", "alpha", "größe", "zeta",
    ]  # fmt: skip


def test_array_is_serialised_once_and_shared_by_every_engine_of_the_pin() -> None:
    first, second = snapshot(skill("a")), snapshot(skill("b"))
    pin = FACTORY.pin(first)
    one, other = FACTORY.build(pin, first), FACTORY.build(pin, second)
    assert one.tools.canonical is one.tools.canonical
    assert one.tools.canonical == other.tools.canonical == pin.tools.canonical
    assert one.tools.sha256 == other.tools.sha256


def test_array_without_skills_has_no_skill_tool_and_gets_none_later() -> None:
    pin = FACTORY.pin(SkillSnapshot())
    assert [row["name"] for row in json.loads(pin.tools.canonical)] == ["OfflineAction"]
    later = FACTORY.build(pin, snapshot(skill("a")))
    assert later.tools.canonical == pin.tools.canonical
    assert later.catalog.get("Skill") is None
    assert FACTORY.pin(snapshot(skill("a", model_invocable=False))).tools.canonical == pin.tools.canonical


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_told_as_it_is_without_spaces_between(name: str, description: str) -> None:
    schema = {"type": "object", "b": description, "a": [name]}
    array = ToolArray((ToolSpec.of(name, description, schema), ToolSpec.of("x", "", {})))
    rows = json.loads(array.canonical)
    assert rows[0] == {"name": name, "description": description, "input_schema": schema}
    assert list(rows[0]) == ["name", "description", "input_schema"]
    assert list(rows[0]["input_schema"]) == ["type", "b", "a"]
    assert array.canonical == json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
