"""`mecatui-server`: serve sessions, or keep the operator's decisions on trust."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from server_stub.cli import UsageError, configure, folders, parse
from server_stub.errors import ServerError
from server_stub.lifeline import Lifeline


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0 when all went well and 2 when a flag could not be followed."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    flags = parse(arguments)
    try:
        if flags.command == "trust":
            return _trust(flags.path)
        return _serve(flags)
    except ServerError as failure:
        sys.stderr.write(f"mecatui-server: {failure}\n")
        return 2
    except KeyboardInterrupt:
        return 0


def _serve(flags: argparse.Namespace) -> int:
    """Serve until told to stop."""
    lifeline = Lifeline() if flags.embedded else None
    config = configure(flags)
    from server_stub.build import build  # noqa: PLC0415 - most of a start; `--version` and `trust` do without
    from server_stub.serve import serve  # noqa: PLC0415

    serve(config, build(config), lifeline)
    return 0


def _trust(path: Path) -> int:
    """Trust a folder, and say what that means from now on."""
    from server_stub.skills.trust import grant  # noqa: PLC0415

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
