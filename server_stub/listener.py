"""The socket that a server listens on: bound for this user alone, and removed when the server ends."""

import errno
import socket
from dataclasses import dataclass
from pathlib import Path

from server_stub.cli import UsageError
from server_stub.config import Listen

_BACKLOG = 512
_PRIVATE_FILE = 0o600
_PROBE_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound socket and the address to tell."""

    socket: socket.socket
    address: str
    path: Path | None = None
    """The file of a UNIX socket."""
    inode: int = 0

    @classmethod
    def bind(cls, listen: Listen) -> "Listener":
        """Take the socket or port.

        Raises:
            UsageError: it cannot be had; the text says what can be done.
        """
        return _on_path(listen.uds) if listen.uds is not None else _on_port(listen.host, listen.port)

    def remove(self) -> None:
        """Remove the socket's file, unless another server has put its own there meanwhile."""
        if self.path is not None and _inode(self.path) == self.inode:
            self.path.unlink(missing_ok=True)


def _on_port(host: str, port: int) -> Listener:
    is_six = ":" in host
    place = f"[{host}]:{port}" if is_six else f"{host}:{port}"
    listener = None
    try:
        listener = socket.socket(socket.AF_INET6 if is_six else socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as failure:
        if listener is not None:
            listener.close()
        raise UsageError(
            f"cannot listen on {place}: {_say(failure)}; give another --port, or 0 for any free one"
        ) from failure
    return Listener(listener, f"http://{f'[{host}]' if is_six else host}:{listener.getsockname()[1]}")


def _on_path(path: Path) -> Listener:
    """Bind, over a socket that nobody serves any more. Nobody can connect before the permissions are right."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and _is_stale(path):
            path.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(_PRIVATE_FILE)
        listener.listen(_BACKLOG)
    except OSError as failure:
        listener.close()
        raise UsageError(f"cannot listen on {path}: {_advice(path, failure)}") from failure
    return Listener(listener, f"unix:{path}", path, _inode(path))


def _is_stale(path: Path) -> bool:
    """Whether nobody listens any more. Who is only busy, or not ours to ask, is not stale."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:
            return False
        return False


def _inode(path: Path) -> int:
    try:
        return path.lstat().st_ino
    except OSError:
        return 0


def _advice(path: Path, failure: OSError) -> str:
    match failure.errno:
        case None:
            return "the path of a socket may have about a hundred bytes; give --uds a shorter one"
        case errno.ENOENT | errno.ENOTDIR:
            return "there is no such folder; make it first"
        case errno.EADDRINUSE if path.is_socket():
            return "another server listens there; stop it, or give another --uds"
        case errno.EADDRINUSE:
            return "a file of this name is there already; remove it, or give another --uds"
        case _:
            return f"{_say(failure)}; give another --uds"


def _say(failure: OSError) -> str:
    return (failure.strerror or str(failure)).lower()
