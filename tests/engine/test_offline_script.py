"""Scripts for the offline model: their form, and what is said of one that has another."""

import json
from pathlib import Path

import pytest

from server_stub.engine.models import script
from server_stub.engine.models.script import Script, ScriptInvalid


def read(folder: Path, content: str | bytes) -> Script:
    path = folder / "script.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Script.read(path)


def said_of(folder: Path, content: str | bytes) -> str:
    with pytest.raises(ScriptInvalid) as invalid:
        read(folder, content)
    said = str(invalid.value)
    assert said.startswith(f"the script {folder}/script.json is wrong at ")
    assert "\n" not in said
    return said.partition(" is wrong at ")[2]


def of_step(folder: Path, step: object) -> str:
    return said_of(folder, json.dumps([{"when": "", "turns": [[step]]}]))


def test_every_kind_of_step_is_read(tmp_path: Path) -> None:
    steps = [
        {"text": "a"},
        {"text": "b", "chunk": 2},
        {"reasoning": "hm"},
        {"tool": "Skill", "args": {"name": "x"}},
        {"tool": "Bare"},
        {"ask": "rm"},
        {"pause": 0.5},
        {"wait_for": "/go"},
        {"fail": "no"},
    ]
    assert read(tmp_path, json.dumps([{"when": "", "turns": [steps]}])).steps("any", 0) == (
        script.Text(text="a"),
        script.Text(text="b", chunk=2),
        script.Reasoning(reasoning="hm"),
        script.Call(tool="Skill", args={"name": "x"}),
        script.Call(tool="Bare", args={}),
        script.AskFor(ask="rm"),
        script.Pause(pause=0.5),
        script.WaitFor(wait_for=Path("/go")),
        script.Fail(fail="no"),
    )


def test_first_rule_that_fits_answers_each_turn(tmp_path: Path) -> None:
    rules = [
        {"when": "one", "turns": [[{"text": "1"}], [{"text": "2"}]]},
        {"when": "", "turns": [[{"text": "else"}]]},
        {"when": "never reached", "turns": []},
    ]
    played = read(tmp_path, json.dumps(rules))
    assert played.steps("this one", 0) == (script.Text(text="1"),)
    assert played.steps("this one", 1) == (script.Text(text="2"),)
    assert played.steps("this one", 2) is None
    assert played.steps("other", 0) == (script.Text(text="else"),)
    assert Script().steps("any", 0) is None
    assert read(tmp_path, "[]").steps("any", 0) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "its start: Invalid JSON: EOF while parsing"),
        ("{", "its start: Invalid JSON"),
        ("[1]", "0: Input should be an object"),
        ("{}", "its start: Input should be a valid array"),
        ("[{}]", "0.when: Field required"),
        ('[{"when": "x"}]', "0.turns: Field required"),
        ('[{"when": "x", "turns": [], "more": 1}]', "0.more: Extra inputs are not permitted"),
        ('[{"when": 1, "turns": []}]', "0.when: Input should be a valid string"),
        ('[{"when": "x", "turns": [{"text": "a"}]}]', "0.turns.0: Input should be a valid array"),
        ('[{"when": "\\ud800", "turns": []}]', "its start: Invalid JSON: unexpected end of hex escape"),
        (b"[\xff]", "its start: Invalid JSON"),
        ("[" * 5000, "its start: Invalid JSON: recursion limit exceeded"),
    ],
)
def test_script_of_another_form(content: str | bytes, said: str, tmp_path: Path) -> None:
    assert said_of(tmp_path, content).startswith(said)


KINDS = "a step is an object with one of text, reasoning, tool, ask, pause, wait_for, fail"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({}, f"0.turns.0.0: {KINDS}"),
        ({"say": "x"}, f"0.turns.0.0: {KINDS}"),
        ("text", f"0.turns.0.0: {KINDS}"),
        ({"text": 1}, "0.turns.0.0.text.text: Input should be a valid string"),
        ({"text": "x", "chunk": -1}, "0.turns.0.0.text.chunk: Input should be greater than or equal to 0"),
        ({"text": "x", "pause": 1}, "0.turns.0.0.text.pause: Extra inputs are not permitted"),
        ({"pause": -1}, "0.turns.0.0.pause.pause: Input should be greater than or equal to 0"),
        ({"pause": 1e300}, "0.turns.0.0.pause.pause: Input should be less than or equal to 86400"),
        ({"pause": float("nan")}, "0.turns.0.0.pause.pause: Input should be"),
        ({"tool": "x", "args": []}, "0.turns.0.0.tool.args: Input should be an object"),
    ],
)
def test_step_of_another_form(step: object, said: str, tmp_path: Path) -> None:
    assert of_step(tmp_path, step).startswith(said)


def test_script_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ScriptInvalid, match=r"cannot read the script .*absent: No such file or directory"):
        Script.read(tmp_path / "absent")
    with pytest.raises(ScriptInvalid, match="Is a directory"):
        Script.read(tmp_path)
