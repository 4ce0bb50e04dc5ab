"""Start-up, memory and idling of the app with its embedded server, as ratios against a bare Textual app."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.floors import BARE, Quick, Tree, compiled, mecatui, table

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ROUNDS = 9
IDLE_SECONDS = 10.0
SETTLE_SECONDS = 5.0


def test_first_key_is_echoed_soon_after_that_of_a_bare_app(tmp_path: Path) -> None:
    """Targets 1 and 2: from exec to an echoed key, and resident memory when all has come to rest."""
    commands = {"bare Textual app": BARE, "mecatui": mecatui(tmp_path)}
    usable: dict[str, list[float]] = {name: [] for name in commands}
    memory: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(1 + ROUNDS):
        for name, command in commands.items():
            with Quick.run(command, compiled(tmp_path)) as terminal:
                seconds = terminal.seconds_to_usable()
                terminal.read_for(1.0 if turn else SETTLE_SECONDS)
                if turn:  # the first run compiles
                    usable[name].append(seconds * 1e3)
                    memory[name].append(Tree(terminal.pid).mebibytes())
    start = table("exec to an echoed key (at most 1.6, aim 1.3)", usable.items(), floor="bare Textual app")
    resident = table("resident, app and server (at most 3)", memory.items(), floor="bare Textual app", unit="MiB")
    assert start["mecatui"] < 3
    assert resident["mecatui"] < 4


def test_nothing_is_done_while_nothing_happens(tmp_path: Path) -> None:
    """Target 3: processor time, wake-ups and bytes to the terminal while nobody types."""
    commands = {"bare Textual app": BARE, "mecatui": mecatui(tmp_path)}
    print(f"\n{IDLE_SECONDS:g} s idle {'':20}{'processor ms':>14}{'%':>8}{'wake-ups':>10}{'bytes':>8}")
    written = {}
    for name, command in commands.items():
        with Quick.run(command) as terminal:
            terminal.seconds_to_usable()
            terminal.read_for(SETTLE_SECONDS)
            tree = Tree(terminal.pid)
            spent, woken = tree.processor_seconds(), tree.wake_ups()
            written[name] = terminal.read_for(IDLE_SECONDS)
            spent, woken = tree.processor_seconds() - spent, tree.wake_ups() - woken
            print(f"{name:27}{spent * 1e3:14.1f}{spent / IDLE_SECONDS:8.2%}{woken:10}{written[name]:8}")
    assert written["mecatui"] == 0


def test_version_is_told_about_as_soon_as_python_starts(tmp_path: Path) -> None:
    """`--version` within 1.5 times of `python -c pass`."""
    installed = str(Path(sys.executable).with_name("mecatui"))
    commands = {"python -c pass": [sys.executable, "-c", "pass"], "mecatui --version": [installed, "--version"]}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(1 + 3 * ROUNDS):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=compiled(tmp_path))
            if turn:
                taken[name].append((time.perf_counter() - began) * 1e3)
    assert table("the version (at most 1.5)", taken.items(), floor="python -c pass")["mecatui --version"] < 3
