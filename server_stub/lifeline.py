"""The lifeline of an embedded server: its standard input ends when the app that started it is gone, however it went."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from server_stub.cli import UsageError


class Lifeline:
    """Watches standard input from the moment it is made, so that a start that hangs ends with the app as well."""

    def __init__(self) -> None:
        """Begin to watch.

        Raises:
            UsageError: the process was started without a standard input.
        """
        if sys.stdin is None:
            raise UsageError("--embedded ends with its standard input, and there is none: give it a pipe")
        self._lock = threading.Lock()
        self._is_cut = False
        self._stop: Callable[[], None] | None = None
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()

    def when_cut(self, stop: Callable[[], None]) -> None:
        """Call `stop`, on another thread, instead of ending the process at once."""
        with self._lock:
            self._stop = stop

    def _watch(self) -> None:
        with suppress(OSError):
            while os.read(0, 4096):
                pass
        with self._lock:
            stop = self._stop
        if stop is None:
            os._exit(0)
        stop()
