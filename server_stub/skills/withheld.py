"""Withheld skills: how many an untrusted project would bring, counted without opening a file."""

import os
import time
from collections.abc import Iterable

from server_stub.skills.document import FILE_NAME
from server_stub.skills.nested import FOLDER_FLAGS, is_pruned

_DEEPEST = 6
_MOST_FOLDERS = 10_000
_MOST_SECONDS = 1.0


def count_withheld(roots: Iterable[str]) -> int:
    """Skill folders below these roots, links not followed. What cannot be listed counts as nothing."""
    counter = _Counter(time.monotonic() + _MOST_SECONDS)
    return sum(counter.below(root, None, 0) for root in dict.fromkeys(roots))


class _Counter:
    """Bounds the walk: in folders and in time."""

    def __init__(self, deadline: float) -> None:
        self._left = _MOST_FOLDERS
        self._deadline = deadline

    def below(self, name: str, parent: int | None, depth: int) -> int:
        self._left -= 1
        if self._left < 0 or time.monotonic() > self._deadline:
            return 0
        try:
            descriptor = os.open(name, FOLDER_FLAGS, dir_fd=parent)
        except OSError:
            return 0
        try:
            return self._within(descriptor, depth)
        except OSError:
            return 0
        finally:
            os.close(descriptor)

    def _within(self, descriptor: int, depth: int) -> int:
        with os.scandir(descriptor) as entries:
            folders = [e.name for e in entries if e.is_dir(follow_symlinks=False) and not is_pruned(e.name)]
        count = 0
        for folder in sorted(folders):
            if _exists(f"{folder}/{FILE_NAME}", descriptor):
                count += 1
            elif depth + 1 < _DEEPEST:
                count += self.below(folder, descriptor, depth + 1)
        return count


def _exists(path: str, descriptor: int) -> bool:
    try:
        os.stat(path, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return True
