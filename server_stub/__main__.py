"""`mecatui-server`: serve sessions, or keep the operator's decisions on trust."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from server_stub.build import build
from server_stub.cli import UsageError, configure, folders, parse
from server_stub.errors import ServerError
from server_stub.serve import serve
from server_stub.skills.trust import grant


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0 when all went well and 2 when a flag could not be followed."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    flags = parse(arguments)
    try:
        if flags.command == "trust":
            return _trust(flags.path)
        config = configure(flags)
        serve(config, build(config))
    except ServerError as failure:
        sys.stderr.write(f"mecatui-server: {failure}\n")
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


def _trust(path: Path) -> int:
    """Trust a folder, and say what that means from now on."""
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such folder")
    folder = path.resolve()
    try:
        is_new = grant(folder, folders().trust_file)
    except OSError as unwritten:
        raise UsageError(f"the trust file cannot be written: {unwritten.strerror}") from unwritten
    what = "its skills are admitted at the next start or reload" if is_new else "it was trusted before"
    sys.stdout.write(f"trusted {folder}: {what}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
