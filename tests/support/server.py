"""The real server as a child process, in a folder of its own, and clients of it."""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from client.http_client import HttpClient
from tests.support.privileges import can_drop, give_to_nobody, is_ordinary
from tests.support.script import Rule, write_script

_ROOT = Path(__file__).parents[2]
_START_SECONDS = 30.0
_STOP_SECONDS = 10.0


class ServerProcess:
    """A server that embeds as the app does: it says when it is ready, and ends when its standard input does.

    `root` holds everything: `home/`, `project/` (the workspace), `script.json`, `record.jsonl` (what the model was
    shown, one request a line) and `server.log` (standard error). Folders that are there already are kept.
    """

    def __init__(self, root: Path, process: subprocess.Popen[bytes], sockets: Path) -> None:
        self.root = root
        self.process = process
        self.address = ""
        """What the server gave as its address; empty until it is ready."""
        self._sockets = sockets

    @classmethod
    def start(
        cls,
        root: Path,
        *flags: str,
        script: Sequence[Rule] = (),
        home: Path | None = None,
        workspace: Path | None = None,
        as_nobody: bool = False,
        env: dict[str, str] | None = None,
    ) -> Self:
        """Start a server and wait until it is ready.

        `flags` are added to the command line. With `as_nobody` the server runs as an ordinary user, for whom
        permissions hold also where the suite runs as root; where that cannot be, the test is skipped.

        Raises:
            AssertionError: the server ended, or was not ready in time; the text has its log.
        """
        home, workspace = home or root / "home", workspace or root / "project"
        for folder in (home, workspace):
            folder.mkdir(parents=True, exist_ok=True)
        # A path of its own, since that of a socket may have 107 bytes.
        sockets = Path(tempfile.mkdtemp(prefix="mecatui-"))
        command = ["--uds", str(sockets / "s"), "--workspace", str(workspace), "--embedded"]
        command += ["--mock", "--mock-record", str(root / "record.jsonl")]
        if script:
            command += ["--mock-script", str(write_script(root / "script.json", *script))]
        launcher = _launcher(as_nobody=as_nobody, folders=[root, sockets])
        with (root / "server.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *launcher, *command, *flags],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=_ROOT,
                env={**_environment(home), **(env or {})},
            )
        server = cls(root, process, sockets)
        server._await_ready()
        return server

    @property
    def log(self) -> str:
        """What the server wrote on standard error."""
        return (self.root / "server.log").read_text(errors="replace")

    @property
    def recorded(self) -> list[Any]:
        """The requests that the model was shown, oldest first."""
        path = self.root / "record.jsonl"
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self._forget()

    def stop(self) -> int:
        """End it as the app does, by closing its standard input; gives its exit status."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the server outlived its standard input:\n{self.log}") from None
        finally:
            self._forget()
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop()
        else:
            self.kill()

    def _await_ready(self) -> None:
        assert self.process.stdout
        readable, _, _ = select.select([self.process.stdout], [], [], _START_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            self.kill()
            raise AssertionError(f"the server did not start:\n{self.log}")
        ready = json.loads(line)
        assert ready["ready"] is True
        self.address = ready["address"]

    def _forget(self) -> None:
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        shutil.rmtree(self._sockets, ignore_errors=True)


@asynccontextmanager
async def client_for(server: ServerProcess) -> AsyncIterator[HttpClient]:
    """A client of a running server."""
    async with HttpClient.connect(server.address) as client:
        yield client


def _launcher(*, as_nobody: bool, folders: Sequence[Path]) -> list[str]:
    if not as_nobody or is_ordinary():
        return ["-m", "server_stub"]
    if not can_drop():
        pytest.skip("needs an ordinary user, and this one can become none")
    for folder in folders:
        give_to_nobody(folder)
    return ["-m", "tests.support.privileges", "server_stub"]


def _environment(home: Path) -> dict[str, str]:
    """The test's environment with this home, and no other folder of a person."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "default"}
