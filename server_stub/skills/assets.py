"""Assets: the files bundled with a skill, listed and read without ever leaving its folder."""

import codecs
import errno
import os
import stat
from collections.abc import Iterator

from server_stub.errors import ServerError
from server_stub.skills.document import FILE_NAME
from server_stub.skills.nested import FOLDER_FLAGS, is_pruned
from server_stub.skills.skill import Skill
from server_stub.skills.text import clean_line, clean_text

READ_CAP = 25_000
"""Bytes of an asset that one call returns."""

_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
_DEEPEST = 8
_MOST_ENTRIES = 5_000
_PROBED = 8_192

_UTF8 = codecs.getincrementaldecoder("utf-8")
_CONTINUATION = 0x80
_LONGEST_TAIL = 3
"""Bytes of a character after its first, at most: an offset within a character begins after it."""


class AssetUnavailable(ServerError):
    """The asset cannot be read; the text says why, without any path."""


def list_assets(skill: Skill, limit: int) -> tuple[tuple[str, int], ...]:
    """The first `limit` assets in sorted order: slash-relative name, safe to show, and size in bytes.

    Links, hidden files and SKILL.md are left out; a folder that cannot be read holds nothing.
    """
    return tuple((shown, size) for _, shown, size in _first(_walk(skill), limit))


def read_asset(skill: Skill, name: str, offset: int, cap: int = READ_CAP) -> str:
    """At most `cap` bytes of a text asset from byte `offset`; where more remains a last line names the next offset.

    Raises:
        AssetUnavailable: not there, not a regular file, reached through a link, or not UTF-8 text.
    """
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") or is_pruned(part) for part in parts):
        raise AssetUnavailable("there is no such file in this skill; use a name from its list")
    try:
        descriptor = _open(skill, parts)
    except FileNotFoundError as error:
        descriptor = _open_as_shown(skill, name, error)
    except OSError as error:
        raise AssetUnavailable(_say(error)) from error
    try:
        return _read(descriptor, offset, cap)
    except OSError as error:
        raise AssetUnavailable(_say(error)) from error
    finally:
        os.close(descriptor)


def _open(skill: Skill, parts: list[str]) -> int:
    """Open component by component, each relative to the one before, no link followed."""
    folder = os.open(skill.folder, FOLDER_FLAGS)
    try:
        for part in parts[:-1]:
            inner = os.open(part, FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _open_as_shown(skill: Skill, name: str, missing: FileNotFoundError) -> int:
    """A name that was made safe to show is not the one on disk: look for the file that it stands for."""
    try:
        for actual, shown, _ in _walk(skill):
            if shown == name and actual != name:
                return _open(skill, actual.split("/"))
    except OSError as error:
        raise AssetUnavailable(_say(error)) from error
    raise AssetUnavailable("there is no such file in this skill; use a name from its list") from missing


def _read(descriptor: int, offset: int, cap: int) -> str:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise AssetUnavailable("this is not a regular file")
    if offset > found.st_size:
        raise AssetUnavailable(f"`offset` is past the end: the file has {found.st_size} bytes")
    if b"\0" in os.pread(descriptor, _PROBED, 0):
        raise AssetUnavailable(f"this is not a text file ({found.st_size} bytes); it can be used, not read")
    data = os.pread(descriptor, cap, offset)
    end = offset + len(data)
    remaining = max(0, found.st_size - end)
    try:
        text, used = _decode(data, is_last=remaining == 0)
    except UnicodeDecodeError as error:
        raise AssetUnavailable(f"this is not a UTF-8 text file ({found.st_size} bytes)") from error
    if remaining == 0:
        return clean_text(text)
    left = found.st_size - offset - used
    return f"{clean_text(text)}\n\n[cut here: {left} bytes remain; call again with offset {offset + used}]"


def _decode(data: bytes, *, is_last: bool) -> tuple[str, int]:
    """Text of a slice and the bytes that it covers: a character cut at the end is left for the next slice."""
    start = 0
    while start < min(_LONGEST_TAIL, len(data)) and data[start] & 0xC0 == _CONTINUATION:
        start += 1
    decoder = _UTF8()
    text = decoder.decode(data[start:], final=is_last)
    return text, len(data) - len(decoder.getstate()[0])


def _walk(skill: Skill) -> Iterator[tuple[str, str, int]]:
    """Each asset: the name on disk, the name to show, the size."""
    budget = [_MOST_ENTRIES]
    try:
        descriptor = os.open(skill.folder, FOLDER_FLAGS)
    except OSError:
        return
    try:
        yield from _within(descriptor, "", budget)
    finally:
        os.close(descriptor)


def _within(descriptor: int, prefix: str, budget: list[int]) -> Iterator[tuple[str, str, int]]:
    with os.scandir(descriptor) as found:
        entries = sorted(_bounded(found, budget), key=lambda entry: entry.name)
    for entry in entries:
        name = prefix + entry.name
        if is_pruned(entry.name) or name == FILE_NAME:
            continue
        if entry.is_file(follow_symlinks=False):
            size = _size(entry)
            if size is not None:
                yield name, _shown(name), size
        elif entry.is_dir(follow_symlinks=False) and prefix.count("/") < _DEEPEST:
            yield from _folder(entry.name, descriptor, name, budget)


def _folder(name: str, parent: int, prefix: str, budget: list[int]) -> Iterator[tuple[str, str, int]]:
    try:
        descriptor = os.open(name, FOLDER_FLAGS, dir_fd=parent)
    except OSError:
        return
    try:
        yield from _within(descriptor, prefix + "/", budget)
    finally:
        os.close(descriptor)


def _bounded(entries: Iterator[os.DirEntry[str]], budget: list[int]) -> Iterator[os.DirEntry[str]]:
    for entry in entries:
        budget[0] -= 1
        if budget[0] < 0:
            return
        yield entry


def _first(items: Iterator[tuple[str, str, int]], limit: int) -> Iterator[tuple[str, str, int]]:
    for count, item in enumerate(items):
        if count >= limit:
            return
        yield item


def _size(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return None


def _shown(name: str) -> str:
    return clean_line(name.encode(errors="replace").decode())


def _say(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "links are not followed out of or within a skill"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return "there is no such file in this skill; use a name from its list"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "the file cannot be read: permission denied"
    return f"the file cannot be read: {os.strerror(error.errno).lower() if error.errno else 'unknown error'}"
