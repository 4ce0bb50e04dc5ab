"""The command line of the server: what cannot be followed is told on one line, with what to do instead."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from server_stub.__main__ import main
from server_stub.cli import UsageError, configure, folders, parse
from server_stub.config import ServerConfig

ROOT = Path(__file__).parents[2]


def configured(*flags: str) -> ServerConfig:
    return configure(parse(["--uds", "s", *flags]))


def refused(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """The one line that a command line which cannot be followed gives."""
    try:
        status: object = main(flags)
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    (line,) = said.err.splitlines()
    return line.removeprefix("mecatui-server: ")


def token_file(folder: Path, content: str | bytes, mode: int = 0o600) -> str:
    path = folder / "token"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--nonsense"], "unrecognized arguments: --nonsense; see mecatui-server --help"),
        (["--work=/"], "unrecognized arguments: --work=/; see mecatui-server --help"),
        (["frobnicate"], "argument COMMAND: invalid choice: 'frobnicate' (choose from 'trust')"),
        (["--port"], "argument --port: expected one argument; see mecatui-server --help"),
        (["--port", "many"], "argument --port: invalid int value: 'many'; see mecatui-server --help"),
        (["--port", "65536"], "--port is a number from 0 to 65535"),
        (["--port", "-1"], "--port is a number from 0 to 65535"),
        (["--host", "0.0.0.0"], "--host 0.0.0.0: nothing is encrypted, so give a loopback host such as 127.0.0.1"),
        (["--host", ""], "--host : nothing is encrypted, so give a loopback host such as 127.0.0.1"),
        (["--host", "127.0.0.1.example.com"], "nothing is encrypted"),
        ([], "a port is open to everyone on this machine: give --auth-token-file, or --uds instead"),
        (["--uds", "s", "--workspace", "/no/such"], "--workspace /no/such: there is no such folder"),
        (["--uds", "s", "--workspace", "/dev/null"], "--workspace /dev/null: there is no such folder"),
        (["--uds", "s", "--auth-token-file", "/no/such"], "--auth-token-file /no/such: it cannot be read as text"),
        (["--uds", "s", "--auth-token-file", "/"], "--auth-token-file /: it cannot be read as text"),
        (["--uds", "s", "--model", "gpt"], "leave --model out for the offline model"),
        (["--uds", "s", "--base-url", "http://x"], "the offline model has no endpoint; leave --base-url out"),
        (["--uds", "s", "--mock-script", "/no/such"], "cannot read the script /no/such: No such file or directory"),
        (["--uds", "s", "--mock-record", "/no/such"], "cannot write to the record /no/such: "),
        (["--uds", "/no/such/s"], "cannot listen on /no/such/s: there is no such folder; make it first"),
        (["trust", "/no/such"], "/no/such: there is no such folder"),
    ],
)
def test_flag_that_cannot_be_followed(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refused(capsys, *flags)


def test_workspace_that_is_a_loop_of_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "give another" in refused(capsys, "--uds", "s", "--workspace", f"{tmp_path}/loop")


def test_current_folder_that_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "give an absolute path" in refused(capsys, "--uds", "s")
    assert "--workspace .: " in refused(capsys, "--uds", "/no/such/s")


@pytest.mark.parametrize(
    "content", ["", " \n\t\n", b"\xff\xfe", "two words", "one\nother", "größe", "x\x00y", "x" * 5000]
)
def test_token_file_that_holds_no_token(
    content: str | bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = token_file(tmp_path, content)
    line = refused(capsys, "--auth-token-file", path)
    assert line.startswith(f"--auth-token-file {path}: it ")
    assert "other" not in line


def test_token_is_what_the_file_says_without_the_line_break(tmp_path: Path) -> None:
    assert (
        configured("--auth-token-file", token_file(tmp_path, " a-Long/random+word=\r\n")).token == "a-Long/random+word="
    )


def test_token_may_come_through_a_pipe(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"word\n")
    os.close(writes)
    assert configured("--auth-token-file", f"/dev/fd/{reads}").token == "word"
    os.close(reads)


@pytest.mark.parametrize(("mode", "warnings"), [(0o600, 0), (0o400, 0), (0o640, 1), (0o604, 1)])
def test_token_file_that_others_can_read_is_warned_of(
    mode: int, warnings: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        configured("--auth-token-file", token_file(tmp_path, "secret-word", mode))
    assert sum("chmod 600" in record.message for record in caplog.records) == warnings
    assert "secret-word" not in caplog.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_host_with_a_token_is_served(host: str, tmp_path: Path) -> None:
    config = configure(parse(["--host", host, "--auth-token-file", token_file(tmp_path, "word")]))
    assert (config.listen.host, config.listen.port, config.listen.is_private_socket) == (host, 8642, False)


def test_paths_are_taken_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    config = configured("--workspace", "link", "--skills-dir", "a", "--skills-dir", "/b")
    assert config.listen.uds == tmp_path / "s"
    assert config.workspace == tmp_path / "real"
    assert config.skills.directories == (tmp_path / "a", Path("/b"))


@pytest.mark.parametrize("home", ["project", ".", "./x"])
def test_relative_home_is_refused_since_it_would_be_any_projects(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    with pytest.raises(UsageError, match="set HOME to an absolute path"):
        folders()


def test_relative_xdg_folder_does_not_count(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    monkeypatch.setenv("XDG_STATE_HOME", "")
    assert folders().config_home == machine / ".config"
    assert folders().trust_file == machine / ".local/state/mecatui/trust.json"


def test_trust_is_told_once_and_kept(tmp_path: Path, machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trust", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"trusted {tmp_path}: its skills are admitted at the next start or reload\n"
    assert main(["trust", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"trusted {tmp_path}: it was trusted before\n"


def test_trust_file_that_is_damaged_is_left_as_it_is(
    tmp_path: Path, machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = machine / ".local/state/mecatui/trust.json"
    damaged.parent.mkdir()
    damaged.write_text("{")
    assert "the trust file is damaged; put it right or remove it" in refused(capsys, "trust", str(tmp_path))
    assert damaged.read_text() == "{"


def test_process_ends_with_status_2_and_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "server_stub", "--uds", f"{tmp_path}/{'x' * 120}"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert "give --uds a shorter one" in ended.stderr
