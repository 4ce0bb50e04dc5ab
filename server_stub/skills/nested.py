"""Skill files where none is looked for: found within bounds, for advice only."""

import os
import stat
from collections.abc import Iterator

from server_stub.skills.document import FILE_NAME

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How folders are opened: never through a link, never blocking."""

_PRUNED = frozenset(["node_modules"])
_LEVELS = 2
_MOST_FOLDERS = 64
_LINKS_OF_A_LEAF = 2


def is_pruned(name: str) -> bool:
    """Whether a folder is never looked into: hidden ones and installed dependencies."""
    return name[0] == "." or name in _PRUNED


def nested_skill_files(name: str, parent: int | None) -> tuple[str, ...]:
    """Folders below `name` that hold a SKILL.md, slash-relative to it, sorted; two levels, 64 folders at most."""
    if _has_no_folders(name, parent):
        return ()
    return tuple(sorted(_search(name, parent, "", [_MOST_FOLDERS])))


def _search(name: str, parent: int | None, prefix: str, budget: list[int]) -> Iterator[str]:
    """Nothing is reported for what cannot be read: this is advice."""
    try:
        descriptor = os.open(name, FOLDER_FLAGS, dir_fd=parent)
    except OSError:
        return
    try:
        with os.scandir(descriptor) as entries:
            folders = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False) and not is_pruned(e.name))
        for folder in folders[: budget[0]]:
            budget[0] -= 1
            if _holds_file(f"{folder}/{FILE_NAME}", descriptor):
                yield prefix + folder
            elif prefix.count("/") + 1 < _LEVELS and not _has_no_folders(folder, descriptor):
                yield from _search(folder, descriptor, f"{prefix}{folder}/", budget)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _holds_file(path: str, descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(path, dir_fd=descriptor, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _has_no_folders(name: str, parent: int | None) -> bool:
    """Known for certain: where a file system counts links to folders, two are the folder itself."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_nlink == _LINKS_OF_A_LEAF
    except OSError:
        return True
