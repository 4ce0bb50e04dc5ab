"""Reading: one SKILL.md from one descriptor, whole or not at all, never blocking."""

import errno
import os
import stat
from dataclasses import dataclass
from typing import NamedTuple

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.document import LARGEST_FILE

Stamp = tuple[int, int, int, int, int]
"""Device, inode, size, mtime and ctime (nanoseconds): the same stamp is the same content, unless it is racy."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
_TRIES = 4

_ABSENT = frozenset([errno.ENOENT, errno.ENOTDIR])
_REFUSED = frozenset([errno.EACCES, errno.EPERM])
_NO_FILE = frozenset([errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.EOPNOTSUPP])


class Contents(NamedTuple):
    """A file as it was at one moment."""

    data: bytes
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such file."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The file is a symbolic link; it was not followed."""


@dataclass(frozen=True, slots=True)
class Unread:
    """There is something, but not a file that can be read; `reason` is a plain sentence."""

    code: SkipCode
    reason: str


Reading = Contents | Absent | Linked | Unread


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def read_file(path: str, dir_fd: int | None) -> Reading:
    """Read a regular file of at most 1 MiB. One that is being replaced is read again, a few times.

    Raises:
        OSError: an error of the device or the process, not of this file (EIO, ESTALE, ETIMEDOUT, EMFILE …).
    """
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, _FLAGS, dir_fd=dir_fd)
        except OSError as error:
            return unread(error)
        try:
            reading = _read_descriptor(descriptor)
        finally:
            os.close(descriptor)
        if reading is not None:
            return reading
    return Unread(SkipCode.CHANGED_WHILE_READ, "the file changed while it was read; reload again")


def unread(error: OSError) -> Absent | Linked | Unread:
    """What a failure to open says of the one file.

    Raises:
        OSError: `error` itself where it says nothing of this file.
    """
    if error.errno in _ABSENT:
        return Absent()
    if error.errno in _REFUSED:
        return Unread(SkipCode.UNREADABLE, "it cannot be read: permission denied")
    if error.errno == errno.ELOOP:
        return Linked()
    if error.errno in _NO_FILE:
        return Unread(SkipCode.NOT_A_FILE, "SKILL.md is not a regular file")
    if error.errno == errno.ENAMETOOLONG:
        return Unread(SkipCode.UNREADABLE, "it cannot be read: the name is too long")
    raise error


def _read_descriptor(descriptor: int) -> Contents | Unread | None:
    """One attempt; None when the file changed meanwhile."""
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        return Unread(SkipCode.NOT_A_FILE, "SKILL.md is not a regular file")
    if before.st_size > LARGEST_FILE:
        return Unread(SkipCode.TOO_LARGE, "the file is larger than 1 MiB")
    data = os.read(descriptor, before.st_size + 1)
    stamp = stamp_of(before)
    if len(data) != before.st_size or stamp_of(os.fstat(descriptor)) != stamp:
        return None
    return Contents(data, stamp)
