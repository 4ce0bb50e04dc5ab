"""A program in a pseudo-terminal, and the screen that a person would see."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import pyte

WAIT_SECONDS = 20.0
"""The longest wait for anything; a test never waits a fixed time."""

_CELL = (10, 20)
"""Pixels of a cell, as told to a program that asks."""

_KEYS = {
    "enter": b"\r",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "shift+enter": b"\x1b[13;2u",
    "space": b" ",
    "f1": b"\x1bOP",
}

_QUERY = re.compile(
    rb"\x1b(?:\[>?0?c|\[(?P<status>[56])n|\[\?(?P<mode>\d+)\$p|\[(?P<window>1[468])t"
    rb"|\](?P<colour>1[01]);\?(?:\x07|\x1b\\)|\[\?u|\[>0?q)"
)

_COLOURS = {b"10": b"cccc/cccc/cccc", b"11": b"0000/0000/0000"}
"""Of text and of what is behind it: a dark terminal."""

_FIXED_ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    b"\x1b[>c": b"\x1b[>1;4000;0c",
    b"\x1b[>0c": b"\x1b[>1;4000;0c",
    b"\x1b[5n": b"\x1b[0n",
    b"\x1b[16t": b"\x1b[6;%d;%dt" % (_CELL[1], _CELL[0]),
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b[>q": b"\x1bP>|test(1)\x1b\\",
    b"\x1b[>0q": b"\x1bP>|test(1)\x1b\\",
}


class _Screen(pyte.Screen):
    """pyte's screen, which does not know the private forms of a few sequences."""

    def report_device_attributes(self, *_: object, **__: object) -> None:
        pass

    def report_device_status(self, *_: object, **__: object) -> None:
        pass

    def select_graphic_rendition(self, *attributes: int, private: bool = False) -> None:
        if not private:
            super().select_graphic_rendition(*attributes)


class Terminal:
    """A program in a pseudo-terminal of `rows` by `columns`. Closed by `close` or by leaving `with`."""

    def __init__(self, pid: int, descriptor: int, size: tuple[int, int]) -> None:
        rows, columns = size
        self.pid = pid
        self.raw = bytearray()
        """Everything that the program wrote, unread by any terminal."""
        self.status: int | None = None
        """The exit status, or minus the signal that ended it; None while it runs."""
        self._descriptor = descriptor
        self._screen = _Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._answered = 0

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        size: tuple[int, int] = (24, 80),
        cwd: Path | None = None,
    ) -> Self:
        """Start a program, by default in the test's own environment."""
        pid, descriptor = pty.fork()
        if pid == 0:
            try:
                os.chdir(cwd or ".")
                termios.tcsetwinsize(0, size)
                os.execvpe(argv[0], argv, {**(os.environ if env is None else env)})
            finally:
                os._exit(127)
        terminal = cls(pid, descriptor, size)
        terminal._set_size(size)
        return terminal

    @property
    def screen(self) -> list[str]:
        """The lines now on the screen, blanks at their ends removed."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def columns(self) -> int:
        """How wide the screen is."""
        return self._screen.columns

    @property
    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.screen)

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 0."""
        return self._screen.cursor.y, self._screen.cursor.x

    def type(self, text: str) -> None:
        """Type characters as a person would."""
        self._write(text.encode())

    def paste(self, text: str) -> None:
        """Paste in one go, marked as a paste."""
        self._write(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def press(self, *keys: str) -> None:
        """Press keys by name: `enter`, `escape`, `ctrl+p`, `alt+b`, or one character."""
        for key in keys:
            self._write(_bytes_of(key))

    def resize(self, rows: int, columns: int) -> None:
        """Change the size; the program is told."""
        self._screen.resize(rows, columns)
        self._set_size((rows, columns))

    def wait_for(
        self, wanted: str | re.Pattern[str] | Callable[[list[str]], bool], timeout: float = WAIT_SECONDS
    ) -> None:
        """Read until the screen holds a text, or a pattern fits it, or a predicate of its lines is true.

        Raises:
            AssertionError: it did not come in time, or the program ended first; the text shows the screen.
        """
        self._read_until(lambda: _is_there(wanted, self.screen), timeout, f"{wanted!r} to appear")

    def wait_for_raw(self, wanted: bytes, timeout: float = WAIT_SECONDS) -> None:
        """Read until the program has written these bytes."""
        self._read_until(lambda: wanted in self.raw, timeout, f"{wanted!r} to be written")

    def wait_for_exit(self, timeout: float = WAIT_SECONDS) -> int:
        """Read until the program ends; gives its exit status, or minus the signal that ended it."""
        self._read_until(lambda: self.status is not None, timeout, "the program to end")
        assert self.status is not None
        return self.status

    def settle(self, quiet: float = 0.3, timeout: float = WAIT_SECONDS) -> None:
        """Read until nothing has been written for `quiet` seconds."""
        deadline = time.monotonic() + timeout
        while self._read(min(quiet, deadline - time.monotonic())):
            assert time.monotonic() < deadline, f"the screen never came to rest:\n{self.text}"

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the program a signal."""
        os.kill(self.pid, number)

    def close(self) -> None:
        """Hang up, and end the program if that does not."""
        if self.status is None:
            self.kill()
            self._reap(os.waitpid(self.pid, 0)[1])
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_until(self, is_done: Callable[[], bool], timeout: float, wish: str) -> None:
        deadline = time.monotonic() + timeout
        while not is_done():
            left = deadline - time.monotonic()
            assert left > 0, f"waited {timeout:g} s for {wish}; the screen:\n{self.text}"
            self._read(left)
            if self.status is not None and not is_done():
                raise AssertionError(f"the program ended with {self.status} before {wish}; the screen:\n{self.text}")

    def _read(self, timeout: float) -> bool:
        """Read what is there within `timeout` seconds, answer what it asks; False when nothing came."""
        if self.status is not None or not select.select([self._descriptor], [], [], max(timeout, 0))[0]:
            return False
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            data = b""
        if not data:
            self._reap(os.waitpid(self.pid, 0)[1])
            return False
        self.raw += data
        self._stream.feed(data)
        for answer in self._answers():
            self._write(answer)
        return True

    def _answers(self) -> Iterator[bytes]:
        """What a terminal says to the queries since the last time, also to one that came in two reads."""
        for match in _QUERY.finditer(self.raw, self._answered):
            self._answered = match.end()
            yield self._answer(match)

    def _answer(self, match: re.Match[bytes]) -> bytes:
        rows, columns = self._screen.lines, self._screen.columns
        if match["status"] == b"6":
            return b"\x1b[%d;%dR" % (self._screen.cursor.y + 1, self._screen.cursor.x + 1)
        if match["window"] == b"14":
            return b"\x1b[4;%d;%dt" % (rows * _CELL[1], columns * _CELL[0])
        if match["window"] == b"18":
            return b"\x1b[8;%d;%dt" % (rows, columns)
        if match["mode"]:
            return b"\x1b[?%s;2$y" % match["mode"]
        if match["colour"]:
            return b"\x1b]%s;rgb:%s\x1b\\" % (match["colour"], _COLOURS[match["colour"]])
        return _FIXED_ANSWERS[match[0]]

    def _write(self, data: bytes) -> None:
        """Write all, reading meanwhile, so that two full buffers cannot stop each other."""
        while data and self.status is None:
            readable, writable, _ = select.select([self._descriptor], [self._descriptor], [], WAIT_SECONDS)
            assert readable or writable, f"the program takes no input; the screen:\n{self.text}"
            if writable:
                data = data[os.write(self._descriptor, data[:1024]) :]
            elif not self._read(0):
                return

    def _set_size(self, size: tuple[int, int]) -> None:
        rows, columns = size
        pixels = struct.pack("HHHH", rows, columns, columns * _CELL[0], rows * _CELL[1])
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, pixels)

    def _reap(self, status: int) -> None:
        self.status = os.waitstatus_to_exitcode(status)


def _bytes_of(key: str) -> bytes:
    if key in _KEYS:
        return _KEYS[key]
    modifier, _, rest = key.rpartition("+")
    if modifier == "ctrl" and len(rest) == 1:
        return bytes([ord(rest.upper()) & 0x1F])
    if modifier == "alt":
        return b"\x1b" + _bytes_of(rest)
    assert len(key) == 1, f"no such key: {key}"
    return key.encode()


def _is_there(wanted: str | re.Pattern[str] | Callable[[list[str]], bool], lines: list[str]) -> bool:
    if isinstance(wanted, str):
        return any(wanted in line for line in lines)
    if isinstance(wanted, re.Pattern):
        return wanted.search("\n".join(lines)) is not None
    return wanted(lines)
