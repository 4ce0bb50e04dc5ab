import json
import os
import re
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.script import ask, rule, say, write_script
from tests.support.server import ServerProcess, client_for
from tests.support.skills import write_skill
from tests.support.terminal import Terminal

PROGRAM = """
import sys, termios, tty, os, signal
before = termios.tcgetattr(0)
tty.setraw(0)
def size(*_):
    os.write(1, b"\\x1b[2J\\x1b[H%d by %d" % os.get_terminal_size()[::-1])
signal.signal(signal.SIGWINCH, size)
size()
os.write(1, b"\\x1b[?2026$p\\x1b[c")
seen = b""
while b"q" not in seen:
    seen += os.read(0, 100)
    os.write(1, b"\\r\\n" + ascii(seen).encode())
termios.tcsetattr(0, termios.TCSANOW, before)
sys.exit(3)
"""


def test_terminal_shows_answers_resizes_and_ends() -> None:
    with Terminal.spawn([sys.executable, "-c", PROGRAM], size=(12, 60)) as terminal:
        terminal.wait_for("12 by 60")
        terminal.wait_for(r"\x1b[?2026;2$y\x1b[?62;22c")
        terminal.type("é")
        terminal.wait_for(re.compile(r"\\xc3\\xa9'$", re.MULTILINE))
        terminal.resize(20, 100)
        terminal.wait_for(lambda lines: lines[0] == "20 by 100")
        terminal.press("up", "ctrl+p", "q")
        assert terminal.wait_for_exit() == 3
        assert b"\\x1b[A\\x10q" in terminal.raw
        assert len(terminal.screen) == 20


def test_terminal_says_what_it_saw_when_a_text_does_not_come() -> None:
    with Terminal.spawn([sys.executable, "-c", "print('here'); input()"]) as terminal:
        with pytest.raises(AssertionError, match="here"):
            terminal.wait_for("there", timeout=0.5)
        terminal.kill(signal.SIGTERM)
        with pytest.raises(AssertionError, match="ended with -15"):
            terminal.wait_for("there")


def test_machine_has_a_poisoned_home_and_nothing_of_the_persons(machine: Path) -> None:
    assert Path.home() == machine
    assert (machine / ".agents/skills/poison/SKILL.md").exists()
    assert os.environ["XDG_CONFIG_HOME"].startswith(str(machine))
    assert not [name for name in os.environ if name.endswith("_API_KEY")]


async def test_server_process_serves_plays_a_script_and_records(tmp_path: Path) -> None:
    write_skill(tmp_path / "home/.agents/skills", "review", body="# Review\n\nLook closely.")
    rules = [rule("hello", [say("good day")])]
    with ServerProcess.start(tmp_path, script=rules) as server:
        async with client_for(server) as client:
            session = await client.create_session()
            events = [event async for event in client.prompt(session.session_id, "hello")]
            listing = await client.skills(session.session_id)
        assert [row.name for row in listing.skills] == ["review"]
        assert events[-1].type == "result"
        assert "hello" in server.recorded[-1]["body"]
        assert server.stop() == 0
    assert not psutil.pid_exists(server.process.pid)


def test_server_process_tells_why_it_did_not_start(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="--nonsense"):
        ServerProcess.start(tmp_path, "--nonsense")


async def test_server_process_runs_as_an_ordinary_user(open_ground: Path) -> None:
    with ServerProcess.start(open_ground, as_nobody=True) as server:
        assert psutil.Process(server.process.pid).uids().effective != 0
        async with client_for(server) as client:
            session = await client.create_session()
            assert [event async for event in client.prompt(session.session_id, "hello")][-1].type == "result"
            assert (await client.reload_skills(session.session_id)).generation == 2


def test_script_is_written_as_rules(tmp_path: Path) -> None:
    path = write_script(tmp_path / "s.json", rule("go", [ask("rm"), say("done", chunk=2)], [say("end")]))
    assert json.loads(path.read_text()) == [
        {"when": "go", "turns": [[{"ask": "rm"}, {"text": "done", "chunk": 2}], [{"text": "end", "chunk": 0}]]}
    ]
