"""The embedded server as a child process: it starts, ends with the app, and says why when it cannot."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from mecatui.embedded import EmbeddedServer, ServerFlags, ServerNotStarted, private_folder, state_folder

_WAIT_SECONDS = 20.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    started = EmbeddedServer.start(ServerFlags(tmp_path, ("--no-conventional-skills",)))
    yield started
    started.stop()


def test_server_listens_on_a_private_socket(server: EmbeddedServer) -> None:
    address = server.wait_ready()
    path = Path(address.removeprefix("unix:"))
    assert path.is_socket()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(os.fsencode(path)) <= 100
    server.stop()
    assert not path.parent.exists()
    assert not psutil.pid_exists(server.pid)
    server.stop()


def test_log_is_private_and_emptied_when_it_has_grown(tmp_path: Path) -> None:
    folder = state_folder()
    folder.mkdir(parents=True)
    (folder / "server.log").write_bytes(b"x" * 1_000_001)
    server = EmbeddedServer.start(ServerFlags(tmp_path))
    server.stop()
    log = folder / "server.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.stat().st_size < 100_000


def test_log_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = state_folder()
    folder.mkdir(parents=True)
    (folder / "server.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ServerNotStarted):
        EmbeddedServer.start(ServerFlags(tmp_path))
    assert not (tmp_path / "elsewhere").exists()


def test_server_that_cannot_start_gives_its_last_words(tmp_path: Path) -> None:
    server = EmbeddedServer.start(ServerFlags(tmp_path, ("--mock-script", str(tmp_path / "absent.json"))))
    with pytest.raises(ServerNotStarted, match="absent"):
        server.wait_ready()
    assert not psutil.pid_exists(server.pid)


def test_modules_of_the_workspace_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "starlette.py").write_text("raise SystemExit('imported from the workspace')\n")
    monkeypatch.chdir(tmp_path)
    server = EmbeddedServer.start(ServerFlags(tmp_path))
    assert server.wait_ready().startswith("unix:")
    server.stop()


def test_end_of_the_server_is_noticed(server: EmbeddedServer) -> None:
    server.wait_ready()
    os.kill(server.pid, signal.SIGKILL)
    assert server.wait_ended() == -signal.SIGKILL
    assert server.last_words() == "it was ended by signal 9"


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_server_never_outlives_the_app(tmp_path: Path, ending: signal.Signals) -> None:
    program = (
        "import sys, pathlib\n"
        "from mecatui.embedded import EmbeddedServer, ServerFlags\n"
        f"server = EmbeddedServer.start(ServerFlags(pathlib.Path({str(tmp_path)!r})))\n"
        "server.wait_ready()\n"
        "print(server.pid, flush=True)\n"
        "server.wait_ended()\n"
    )
    root = Path(__file__).parents[2]
    app = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=root)
    assert app.stdout is not None
    child = psutil.Process(int(app.stdout.readline()))
    app.send_signal(ending)
    app.wait()
    app.stdout.close()
    child.wait(_WAIT_SECONDS)


def test_folders_of_apps_that_were_killed_are_swept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / "mecatui" / f"{gone.pid}-0123abcd"
    left.mkdir(parents=True)
    (tmp_path / "mecatui").chmod(0o700)
    ours = private_folder()
    assert not left.exists()
    assert private_folder().parent == ours.parent == tmp_path / "mecatui"
    assert ours.exists()


def test_runtime_folder_with_a_long_name_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runtime = tmp_path / ("x" * 100)
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.delenv("TMPDIR", raising=False)
    folder = private_folder()
    assert folder.parent == Path("/tmp") / f"mecatui-{os.getuid()}"
    folder.rmdir()


def test_folder_that_is_open_to_others_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "mecatui").mkdir()
    (tmp_path / "mecatui").chmod(0o777)
    folder = private_folder()
    assert folder.parent != tmp_path / "mecatui"
    folder.rmdir()


def test_start_does_not_wait_for_the_server(tmp_path: Path) -> None:
    start = time.monotonic()
    server = EmbeddedServer.start(ServerFlags(tmp_path))
    assert time.monotonic() - start < 5
    server.stop()
