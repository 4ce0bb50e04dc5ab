"""The servers that an app can speak to: one of its own, as a child, or one at an address."""

import importlib
import threading
from dataclasses import dataclass

from mecatui.control import BackendUnavailable, Control, Emit
from mecatui.embedded import EmbeddedServer, ServerFlags, ServerNotStarted
from mecatui.session_events import ServerGone


def _open_control(address: str, emit: Emit, model: str, *, is_watched: bool) -> Control:
    """Load the client, which takes longer than the first frame may, and make a controller."""
    wiring = importlib.import_module("mecatui.wiring")
    control: Control = wiring.open_control(address, emit, model, is_watched=is_watched)
    return control


class EmbeddedBackend:
    """A server of this app's own. Made before the screen, so that it starts while the screen is drawn."""

    def __init__(self, flags: ServerFlags) -> None:
        self._flags = flags
        self._server: EmbeddedServer | None = None
        self._failure = ""
        self._is_closing = False
        self.start()

    def start(self) -> None:
        """Start the child; a failure is told when it is asked for."""
        try:
            self._server = EmbeddedServer.start(self._flags)
        except ServerNotStarted as failure:
            self._server, self._failure = None, str(failure)

    def connect(self, emit: Emit) -> Control:
        """Wait for the child and load the client.

        Raises:
            BackendUnavailable: the child could not be started or ended before it listened.
        """
        server = self._server
        if server is None:
            raise BackendUnavailable(self._failure)
        try:
            control = _open_control(server.wait_ready(), emit, "", is_watched=True)
        except ServerNotStarted as failure:
            raise BackendUnavailable(str(failure)) from failure
        threading.Thread(target=self._watch, args=(server, emit), name="server-watch", daemon=True).start()
        return control

    def restart(self) -> None:
        """Start the child again, if it has ended."""
        self.close()
        self._is_closing = False
        self.start()

    def close(self) -> None:
        """End the child and reap it."""
        self._is_closing = True
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _watch(self, server: EmbeddedServer, emit: Emit) -> None:
        """Tell when the child ends by itself. Blocks in the kernel: nothing wakes up while the app is idle."""
        server.wait_ended()
        if server is self._server and not self._is_closing:
            emit(ServerGone(server.last_words()))


@dataclass(frozen=True, slots=True)
class RemoteBackend:
    """A server that somebody else runs."""

    address: str
    model: str = ""

    def connect(self, emit: Emit) -> Control:
        """Load the client.

        Raises:
            BackendUnavailable: the address cannot be used.
        """
        return _open_control(self.address, emit, self.model, is_watched=False)

    def restart(self) -> None:
        """There is nothing to start: the next call tries the address again."""

    def close(self) -> None:
        """There is nothing to end."""
