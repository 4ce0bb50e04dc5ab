"""Trust: whether a workspace may bring skills of its own. An operator's standing decision, read anew each time."""

import contextlib
import errno
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from server_stub.errors import ServerError

VERSION = 1
"""The form of the trust file: `{"version": 1, "trusted": [real paths]}`."""

_LARGEST = 1024 * 1024


class TrustFileUnusable(ServerError):
    """The trust file cannot be read or understood; it is left as it is."""


@dataclass(frozen=True, slots=True)
class TrustDecision:
    """Whether a workspace is trusted, and a sentence where the trust file could not be used."""

    is_trusted: bool
    notice: str = ""


def is_trusted(workspace: Path, *, standing: bool, trust_file: Path) -> TrustDecision:
    """Decide by the operator's flag, else by the trust file. A file that cannot be used means untrusted."""
    if standing:
        return TrustDecision(is_trusted=True)
    try:
        return TrustDecision(os.path.realpath(workspace) in _read(trust_file))
    except TrustFileUnusable as unusable:
        return TrustDecision(is_trusted=False, notice=f"{unusable}; the project's skills stay out")


def grant(workspace: Path, trust_file: Path) -> bool:
    """Trust a workspace from now on, by its real path; False when it was trusted already.

    The file is replaced at once, readable by its owner only.

    Raises:
        TrustFileUnusable: there is a file that is not a trust file of this version; it is not overwritten.
        OSError: the file or its folder cannot be written.
    """
    real = os.path.realpath(workspace)
    trust_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _only_writer(trust_file.parent):
        trusted = _read(trust_file)
        if real in trusted:
            return False
        _replace(trust_file, sorted({*trusted, real}))
    return True


def _read(trust_file: Path) -> frozenset[str]:
    try:
        text = _contents(trust_file)
        store = json.loads(text) if text is not None else {"version": VERSION, "trusted": []}
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown error"
        raise TrustFileUnusable(f"the trust file cannot be read ({reason})") from error
    except (ValueError, RecursionError) as error:
        raise TrustFileUnusable("the trust file is damaged; put it right or remove it") from error
    if not isinstance(store, dict) or not isinstance(store.get("version"), int):
        raise TrustFileUnusable("the trust file is damaged; put it right or remove it")
    if store["version"] != VERSION:
        raise TrustFileUnusable("the trust file is of another version of this program")
    trusted = store.get("trusted")
    if not isinstance(trusted, list) or not all(isinstance(path, str) for path in trusted):
        raise TrustFileUnusable("the trust file is damaged; put it right or remove it")
    return frozenset(trusted)


def _contents(trust_file: Path) -> bytes | None:
    """The bytes of the file, None where there is none. A pipe or device neither blocks nor counts."""
    try:
        descriptor = os.open(trust_file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def _replace(trust_file: Path, trusted: list[str]) -> None:
    data = json.dumps({"version": VERSION, "trusted": trusted}, indent=2)
    # `mkstemp` makes the file readable and writable by its owner only.
    descriptor, temporary = tempfile.mkstemp(dir=trust_file.parent, prefix=f".{trust_file.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(data + "\n")
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, trust_file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Two grants at once must not lose one of the two."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
