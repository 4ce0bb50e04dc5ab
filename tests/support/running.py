"""The server's program started as a person or an app would, on any address, for tests of the process itself."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_START_SECONDS = 30.0
_STOP_SECONDS = 20.0

PROGRAM = ("-m", "server_stub")

HUNG = """
import os, sys, threading
from pathlib import Path

hangs, is_hung = (Path(sys.argv.pop(1)) for _ in range(2))
scandir = os.scandir

def stuck(*arguments):
    if hangs.exists():
        is_hung.touch()
        threading.Event().wait()
    return scandir(*arguments)

os.scandir = stuck
from server_stub.__main__ import main
sys.exit(main())
"""
"""The server on a file system that hangs while the file of the first argument exists; it makes that of the second."""


@dataclass
class Running:
    """A server process that may have begun to listen."""

    process: subprocess.Popen[bytes]
    stderr: Path

    @property
    def log(self) -> str:
        return self.stderr.read_text(errors="replace")

    def ready(self) -> Any:
        """The ready line, decoded."""
        return json.loads(self.ready_line())

    def ready_line(self) -> bytes:
        """The first line on standard output."""
        assert self.process.stdout
        readable, _, _ = select.select([self.process.stdout], [], [], _START_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        assert line, f"the server did not start:\n{self.log}"
        return line

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def cut_standard_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def rest(self) -> bytes:
        """What else it writes on standard output until it has ended."""
        assert self.process.stdout
        return self.process.stdout.read()

    def status(self, within: float = _STOP_SECONDS) -> int:
        """The exit status of a server that ends by itself.

        Raises:
            AssertionError: it does not.
        """
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the server did not end:\n{self.log}") from None


@contextmanager
def running(root: Path, *flags: str, program: Sequence[str] = PROGRAM, **env: str) -> Iterator[Running]:
    """Start the server in `root`, with nothing added to the command line; it is killed at the end."""
    with (root / "stderr.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *program, *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONWARNINGS": "default", **env},
        )
    with process:
        try:
            yield Running(process, root / "stderr.log")
        finally:
            process.kill()
