"""The socket that a server listens on."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from server_stub.cli import UsageError
from server_stub.config import Listen
from server_stub.listener import Listener


@contextmanager
def bound(listen: Listen) -> Iterator[Listener]:
    listener = Listener.bind(listen)
    with closing(listener.socket):
        yield listener


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def test_socket_listens_at_once_for_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    before = os.umask(0)
    try:
        with bound(Listen(path)) as listener:
            assert listener.address == f"unix:{path}"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert connects(path)
            listener.remove()
            assert not path.exists()
            listener.remove()
    finally:
        os.umask(before)


def test_socket_of_a_server_that_was_killed_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with bound(Listen(path)):
        pass
    assert path.is_socket()
    assert not connects(path)
    with bound(Listen(path)):
        assert connects(path)


def test_socket_of_a_live_server_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with bound(Listen(path)):
        with pytest.raises(UsageError, match="another server listens there; stop it, or give another --uds"):
            Listener.bind(Listen(path))
        assert connects(path)


def test_socket_of_a_server_that_is_busy_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(str(path))
        busy.listen(0)
        waiting.connect(str(path))
        inode = path.stat().st_ino
        with pytest.raises(UsageError, match="another server listens there"):
            Listener.bind(Listen(path))
        assert path.stat().st_ino == inode


def test_socket_that_another_server_has_put_in_the_place_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with bound(Listen(path)) as first:
        path.rename(tmp_path / "moved")
        with bound(Listen(path)):
            first.remove()
            assert connects(path)


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_socket_is_left_alone(make: object, tmp_path: Path) -> None:
    path = tmp_path / "s"
    make(path)
    with pytest.raises(UsageError, match="a file of this name is there already; remove it"):
        Listener.bind(Listen(path))
    assert path.lstat()
    assert not path.is_socket()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("x" * 120, "may have about a hundred bytes; give --uds a shorter one"),
        ("absent/s", "there is no such folder; make it first"),
        ("file/s", "there is no such folder; make it first"),
    ],
)
def test_path_that_cannot_be_had(place: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=said):
        Listener.bind(Listen(tmp_path / place))


def test_port_that_is_in_use() -> None:
    with bound(Listen(host="127.0.0.1", port=0)) as listener:
        port = listener.socket.getsockname()[1]
        assert listener.address == f"http://127.0.0.1:{port}"
        said = (
            rf"cannot listen on 127\.0\.0\.1:{port}: address already in use; give another --port, or 0 for any free one"
        )
        with pytest.raises(UsageError, match=said):
            Listener.bind(Listen(host="127.0.0.1", port=port))
        listener.remove()


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_address_of_ipv6_has_brackets() -> None:
    try:
        listener = Listener.bind(Listen(host="::1", port=0))
    except UsageError as refused:
        pytest.skip(f"this machine has no IPv6 loopback: {refused}")
    with closing(listener.socket):
        assert listener.address == f"http://[::1]:{listener.socket.getsockname()[1]}"
