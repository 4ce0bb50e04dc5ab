"""A person's sitting with the app in a real terminal: start, browse, invoke, edit, reload, read the verdict, invoke."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.support.script import ask, rule, say, wait_for, write_script
from tests.support.skills import write_raw_skill, write_skill
from tests.support.terminal import Terminal

SIZES = [(24, 80), (12, 40), (50, 200)]


@dataclass
class Desk:
    """A project, its skills, and how the app is started there."""

    root: Path

    @property
    def skills(self) -> Path:
        return self.root / "skills"

    def write(self, name: str, body: str, description: str = "A skill of this test") -> None:
        write_skill(self.skills, name, description=description, body=body)

    def recorded(self) -> list[dict[str, str]]:
        path = self.root / "record.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def sit_down(self, size: tuple[int, int] = (24, 80), *flags: str) -> Terminal:
        home = self.root / "home"
        (self.root / "project").mkdir(exist_ok=True)
        home.mkdir(exist_ok=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")} | {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": "",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        command = [sys.executable, "-m", "mecatui", "--skills-dir", str(self.skills)]
        command += ["--mock-record", str(self.root / "record.jsonl"), *flags]
        return Terminal.spawn(command, environment, size=size, cwd=self.root / "project")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.write("code-review", "# Review one\nLook at $ARGUMENTS.\n", "Review code for faults")
    made.write("release-notes", "# Notes\n", "Write release notes")
    made.write("old-habit", "# Habit\n", "To be removed")
    made.write("fragile", "# Fragile\n", "To be broken")
    return made


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[1]}x{size[0]}")
def terminal(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    with desk.sit_down(request.param) as made:
        made.wait_for("❯")
        _wait_for_state(made, "idle")
        yield made


def _wait_for_state(terminal: Terminal, state: str) -> None:
    terminal.wait_for(lambda lines: lines[-1].startswith(f" {state}"))


def _wait_for_card(terminal: Terminal, keys: str) -> None:
    """The approval card is there and its last line begins so."""
    terminal.wait_for(lambda lines: any(line.startswith(f"▌ {keys}") for line in map(str.strip, lines)))


def _send(terminal: Terminal, text: str) -> None:
    terminal.type(text)
    terminal.wait_for(lambda lines: any(line.startswith(f" ❯ {text}"[: terminal.columns - 2]) for line in lines))
    terminal.press("enter")


def _read_down(terminal: Terminal, last: str) -> str:
    """All that can be read from here on until a text comes into sight, paging down as a person would."""
    said = ""
    while last not in terminal.text:
        said += terminal.text
        shown = terminal.text
        terminal.press("pagedown")
        terminal.wait_for(lambda lines, shown=shown: "\n".join(lines) != shown)
    return " ".join((said + terminal.text).split())


def test_skills_are_browsed_run_edited_and_reloaded(terminal: Terminal, desk: Desk) -> None:
    terminal.type("/cod")
    terminal.wait_for("/code-review")
    terminal.press("tab")
    terminal.type("auth.py")
    terminal.press("enter")
    terminal.wait_for("Review one")
    _wait_for_state(terminal, "idle")

    desk.write("code-review", "# Review two\nLook at $ARGUMENTS.\n", "Review code for faults")
    desk.write("release-notes", "# Notes\n", "Write better release notes")
    desk.write("brand-new", "# New\n", "Just added")
    (desk.skills / "old-habit" / "SKILL.md").unlink()
    write_raw_skill(desk.skills / "fragile", b"---\nname: [\n---\n")
    _send(terminal, "/reload-skills")
    terminal.wait_for("Reloaded 3 skills")
    said = _read_down(terminal, "prompt cache is")
    for name in ("brand-new", "code-review", "release-notes", "old-habit", "fragile"):
        assert name in said, name
    _wait_for_state(terminal, "idle")

    _send(terminal, "/code-review auth.py")
    terminal.wait_for("Review two")
    _wait_for_state(terminal, "idle")
    _send(terminal, "/brand-new")
    terminal.wait_for("New")
    _wait_for_state(terminal, "idle")
    _send(terminal, "/old-habit")
    terminal.wait_for("is gone")

    requests = desk.recorded()
    assert len(requests) == 3
    assert len({request["tools"] for request in requests}) == 1
    assert "Review two" in requests[1]["body"]
    assert "brand-new" not in requests[2]["tools"]
    before, after = requests[0]["body"], requests[1]["body"]
    assert after.startswith(before.removesuffix("]}"))


def test_a_second_reload_says_that_nothing_changed(desk: Desk) -> None:
    with desk.sit_down() as terminal:
        _wait_for_state(terminal, "idle")
        _send(terminal, "/reload-skills")
        terminal.wait_for("nothing changed")


def test_a_reload_is_refused_while_a_run_is_active_and_while_it_waits(desk: Desk, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = write_script(
        tmp_path / "script.json",
        rule("slow", [say("thinking aloud "), wait_for(go), say("done with it")]),
        rule("careful", [ask("paint")], [say("painted")]),
    )
    with desk.sit_down((24, 80), "--mock-script", str(script)) as terminal:
        _wait_for_state(terminal, "idle")
        _send(terminal, "slow please")
        terminal.wait_for("thinking aloud")
        _send(terminal, "/reload-skills")
        terminal.wait_for("is active")
        terminal.press("ctrl+r")
        go.touch()
        terminal.wait_for("done with it")
        terminal.wait_for("nothing changed")
        _send(terminal, "careful please")
        _wait_for_card(terminal, "a once")
        terminal.press("escape")
        _wait_for_state(terminal, "idle")
        _send(terminal, "careful please")
        _wait_for_card(terminal, "a once")
        terminal.press("tab")
        _wait_for_card(terminal, "tab, then a once")
        _send(terminal, "/reload-skills")
        terminal.wait_for("awaits your approval")
        terminal.press("tab")
        _wait_for_card(terminal, "a once")
        terminal.settle()
        terminal.press("a")
        terminal.wait_for("painted")


def test_the_server_ends_with_the_app_and_its_own_end_is_told(desk: Desk) -> None:
    with desk.sit_down() as terminal:
        _wait_for_state(terminal, "idle")
        server = psutil.Process(terminal.pid).children(recursive=True)[0]
        terminal.type("a draft worth keeping")
        terminal.wait_for("a draft worth keeping")
        server.kill()
        terminal.wait_for("server gone")
        assert "a draft worth keeping" in terminal.text
        terminal.press("ctrl+r")
        _wait_for_state(terminal, "idle")
        assert "a draft worth keeping" in terminal.text
        second = psutil.Process(terminal.pid).children(recursive=True)[0]
        terminal.kill(signal.SIGKILL)
        gone, alive = psutil.wait_procs([second], timeout=10)
        assert not alive
        assert gone == [second]
