"""The embedded server: a child process on a private UNIX socket that never outlives the app.

The app holds the write end of the child's standard input and nothing else does: when the app ends, however it
ends, the child reads end-of-file and stops.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_SOCKET_PATH_LIMIT = 100
"""Bytes; the kernels' own limits are 104 and 108."""
_LOG_LIMIT = 1_000_000
_TAIL = 4096
_PATIENCE_SECONDS = 5.0


class ServerNotStarted(Exception):
    """The child ended before it listened, or could not be started; the text is its last word."""


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """What is passed on to the server, as it was given to the app."""

    workspace: Path
    extra: tuple[str, ...] = ()

    def command(self, socket: Path) -> list[str]:
        """The whole command line. `-P` keeps Python from importing what lies in the current folder."""
        head = [sys.executable, "-P", "-m", "server_stub", "--uds", str(socket)]
        return [*head, "--workspace", str(self.workspace), "--embedded", *self.extra]


class EmbeddedServer:
    """One child process. `start` makes it; `stop` ends and reaps it and removes its socket."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, log: Path, log_start: int) -> None:
        self._process = process
        self._folder = folder
        self._log = log
        self._log_start = log_start

    @classmethod
    def start(cls, flags: ServerFlags) -> "EmbeddedServer":
        """Start the child; does not wait for it.

        Raises:
            ServerNotStarted: it could not be started.
        """
        try:
            folder = private_folder()
            log, start, stream = _open_log()
        except OSError as error:
            raise ServerNotStarted(f"no place for the server's socket or log: {error}") from error
        with stream:
            return cls._spawn(flags, folder, (log, start, stream))

    @classmethod
    def _spawn(cls, flags: ServerFlags, folder: Path, log: tuple[Path, int, BinaryIO]) -> "EmbeddedServer":
        path, start, stream = log
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module; no shell
                flags.command(folder / "s"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                env=child_environment(),
                start_new_session=True,
            )
        except OSError as error:
            _remove_folder(folder)
            raise ServerNotStarted(str(error)) from error
        return cls(process, folder, path, start)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def wait_ready(self) -> str:
        """Block until the child listens; give its address.

        Raises:
            ServerNotStarted: it ended first.
        """
        output = self._process.stdout
        line = output.readline() if output else b""
        with suppress(ValueError, TypeError):
            told = json.loads(line)
            if isinstance(told, dict) and told.get("ready") is True:
                return str(told["address"])
        self.stop()
        raise ServerNotStarted(self.last_words())

    def wait_ended(self) -> int:
        """Block until the child has ended; give its exit status."""
        return self._process.wait()

    def last_words(self) -> str:
        """Why the child ended: the signal, or the last line of its log as it is, or its exit status."""
        status = self._process.poll()
        if status is not None and status < 0:
            return f"it was ended by signal {-status}"
        with suppress(OSError), self._log.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(min(self._log_start, size), size - _TAIL))
            lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
            if lines:
                return lines[-1]
        return f"it ended with status {status}"

    def stop(self) -> None:
        """End the child and reap it: by end-of-file, then by signal."""
        with suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        for insist in (self._process.terminate, self._process.kill, None):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE_SECONDS)
                break
            if insist:
                insist()
        if self._process.stdout:
            self._process.stdout.close()
        _remove_folder(self._folder)


def private_folder() -> Path:
    """A new folder that only this user may enter, for a socket whose path every kernel accepts.

    Raises:
        OSError: none can be made.
    """
    name = f"{os.getpid()}-{os.urandom(4).hex()}"
    failure = OSError("no folder for the socket")
    for parent in _socket_parents():
        folder = parent / name
        if len(os.fsencode(folder / "s")) > _SOCKET_PATH_LIMIT:
            continue
        try:
            parent.mkdir(mode=0o700, exist_ok=True)
            _sweep(parent)
            folder.mkdir(mode=0o700)
        except OSError as error:
            failure = error
            continue
        return folder
    raise failure


def child_environment() -> dict[str, str]:
    """This environment, with our own folder on the path when the app runs from a source tree."""
    environment = dict(os.environ)
    root = Path(__file__).resolve().parents[1]
    if root.name not in {"site-packages", "dist-packages"}:
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), known] if known else [str(root)])
    return environment


def state_folder() -> Path:
    """Where the app keeps its log; made on first use."""
    told = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (told if told.is_absolute() else Path.home() / ".local" / "state") / "mecatui"


def run_server_command(arguments: Sequence[str]) -> int:
    """Run the server's program in the foreground and give its exit status."""
    command = [sys.executable, "-P", "-m", "server_stub", *arguments]
    return subprocess.run(command, env=child_environment(), check=False).returncode  # noqa: S603 - our own module


def _socket_parents() -> list[Path]:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    shared = Path("/", "tmp")
    private = [parent / f"mecatui-{os.getuid()}" for parent in (Path(os.environ.get("TMPDIR") or shared), shared)]
    return [runtime / "mecatui", *private] if runtime.is_absolute() and runtime.is_dir() else private


def _sweep(parent: Path) -> None:
    """Remove what apps left that were killed; refuse a folder that another user owns."""
    status = parent.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{parent} is open to others")
    for folder in parent.iterdir():
        pid = folder.name.partition("-")[0]
        if pid.isdecimal() and not _is_alive(int(pid)):
            _remove_folder(folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):
        (folder / "s").unlink(missing_ok=True)
        folder.rmdir()


def _open_log() -> tuple[Path, int, BinaryIO]:
    """The log, private to this user; emptied first when it has grown large."""
    folder = state_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "server.log"
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    os.fchmod(descriptor, 0o600)
    if os.fstat(descriptor).st_size > _LOG_LIMIT:
        os.ftruncate(descriptor, 0)
    return path, os.fstat(descriptor).st_size, os.fdopen(descriptor, "ab", buffering=0)
