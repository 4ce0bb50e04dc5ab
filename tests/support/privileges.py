"""Runs a module as the user `nobody`, with everything imported before the privileges are gone.

Started as `python -m tests.support.privileges MODULE ARGUMENTS…`. The interpreter may live where only root can read,
so whatever the module may import later is imported first.
"""

import importlib
import os
import pkgutil
import pwd
import stat
import sys
from pathlib import Path

_LATER = (
    "anyio._backends._asyncio",
    "concurrent.futures.thread",
    "encodings.idna",
    "starlette.responses",
    "uvicorn.lifespan.off",
    "uvicorn.loops.auto",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.auto",
)


def can_drop() -> bool:
    """Whether this process may become another user."""
    return os.geteuid() == 0


def is_ordinary() -> bool:
    """Whether permissions bind this process: root reads everything."""
    return os.geteuid() != 0


def give_to_nobody(root: Path) -> None:
    """Make a tree nobody's.

    Raises:
        AssertionError: nobody could not reach it; the fixture `open_ground` gives a folder that can be.
    """
    nobody = pwd.getpwnam("nobody")
    for path in [root, *root.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    closed = [str(parent) for parent in root.parents if parent.stat().st_mode & stat.S_IXOTH == 0]
    assert not closed, f"nobody cannot pass {closed}; use the fixture `open_ground`"


def main() -> None:
    """Import, drop, run."""
    module, arguments = sys.argv[1], sys.argv[2:]
    package = importlib.import_module(module.partition(".")[0])
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
    for name in _LATER:
        importlib.import_module(name)
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
    sys.exit(importlib.import_module(f"{module}.__main__").main(arguments))


if __name__ == "__main__":
    main()
