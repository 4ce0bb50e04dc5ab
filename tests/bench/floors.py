"""What the benches share: programs in a pseudo-terminal that is read as fast as it can be, floors, and tables."""

import os
import statistics
import sys
import termios
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import psutil

from tests.support.terminal import Terminal

BARE_APP = """
from textual.app import App
from textual.widgets import Input, Static

class Bare(App):
    CSS = "Input { dock: bottom; }"

    def compose(self):
        yield Static("> ready")
        field = Input()
        field.cursor_blink = False
        yield field

Bare().run()
"""
"""The floor of all that is drawn: a text and a field to type in, and no blinking cursor."""

BARE = [sys.executable, "-c", BARE_APP]
PROBE = "\u03a9"
"""A character that nothing but the echo of a key writes."""
_PROBE_EVERY = 0.01
_LIMIT = 60.0


def mecatui(workspace: Path, *flags: str) -> list[str]:
    """The app's command line with an embedded server that looks at no skills but the given ones."""
    return [sys.executable, "-m", "mecatui", "--workspace", str(workspace), "--no-conventional-skills", *flags]


def compiled(folder: Path) -> dict[str, str]:
    """This environment, but compiled modules are kept, as those of an installed program are; a first run is slow."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}


class _NoScreen:
    def feed(self, data: bytes) -> None:
        pass


class Quick(Terminal):
    """A terminal that only keeps what was written: to work out a screen would take longer than what is measured."""

    def __init__(self, pid: int, descriptor: int, size: tuple[int, int]) -> None:
        super().__init__(pid, descriptor, size)
        self.began = time.perf_counter()
        self._stream = _NoScreen()
        echoing = termios.tcgetattr(descriptor)
        echoing[3] &= ~(termios.ECHO | termios.ECHONL)  # else the kernel would echo keys before the program does
        termios.tcsetattr(descriptor, termios.TCSANOW, echoing)

    @classmethod
    def run(cls, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Self:
        """Start a program on a screen of 36 by 120."""
        began = time.perf_counter()
        terminal = cls.spawn(command, environment, size=(36, 120))
        terminal.began = began
        return terminal

    def seconds_to(self, wanted: str, start: int) -> float:
        """Wait for a text after the first `start` bytes; the seconds that it took from now."""
        began = time.perf_counter()
        sought = wanted.encode()
        self._read_until(lambda: self.raw.find(sought, start) >= 0, _LIMIT, repr(wanted))
        return time.perf_counter() - began

    def seconds_to_key(self, key: str, wanted: str) -> float:
        """Press a key; the seconds until a text is written."""
        start = len(self.raw)
        self.press(key)
        return self.seconds_to(wanted, start)

    def seconds_to_usable(self) -> float:
        """Type one character every 10 ms from the first byte of a screen on; the seconds from the start to its echo."""
        self.wait_for_raw(b"\x1b[?1049h", _LIMIT)
        sought = PROBE.encode()
        while sought not in self.raw:
            self.type(PROBE)
            until = time.perf_counter() + _PROBE_EVERY
            while sought not in self.raw and (left := until - time.perf_counter()) > 0:
                self._read(left)
            assert time.perf_counter() - self.began < _LIMIT, "no key was ever echoed"
        return time.perf_counter() - self.began

    def read_for(self, seconds: float) -> int:
        """Read for so long; the number of bytes that came."""
        start, until = len(self.raw), time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self._read(left)
        return len(self.raw) - start


class Tree:
    """A process and its children as they are now."""

    def __init__(self, pid: int) -> None:
        process = psutil.Process(pid)
        self._processes = [process, *process.children(recursive=True)]

    def mebibytes(self) -> float:
        """Resident memory."""
        return sum(process.memory_info().rss for process in self._processes) / 2**20

    def processor_seconds(self) -> float:
        """Time on a processor so far, counted in nanoseconds by the scheduler."""
        return sum(int(text.split()[0]) for text in self._of_threads("schedstat")) / 1e9

    def wake_ups(self) -> int:
        """How often a thread went to sleep by itself so far, which is how often it woke up."""
        lines = (line for text in self._of_threads("status") for line in text.splitlines())
        return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

    def _of_threads(self, name: str) -> Iterable[str]:
        for process in self._processes:
            for thread in Path(f"/proc/{process.pid}/task").iterdir():
                yield (thread / name).read_text()


def table(title: str, rows: Iterable[tuple[str, Sequence[float]]], *, floor: str, unit: str = "ms") -> dict[str, float]:
    """Print the median, least and greatest of each row, and the median's ratio to the floor's; give the ratios."""
    taken = {name: sorted(values) for name, values in rows}
    medians = {name: statistics.median(values) for name, values in taken.items()}
    ratios = {name: median / medians[floor] for name, median in medians.items()}
    print(f"\n{title}\n{'':34}{'median':>9}{'least':>9}{'greatest':>10} {unit:8}{'x floor':>8}")
    for name, values in taken.items():
        print(f"{name:34}{medians[name]:9.1f}{values[0]:9.1f}{values[-1]:10.1f} {'':8}{ratios[name]:8.2f}")
    return ratios
