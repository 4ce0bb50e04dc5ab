"""The command line: the entry point of `mecatui`. What is not needed for the answer is not loaded."""

import importlib
import sys
from collections.abc import Sequence

from mecatui import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give the exit status; an unknown flag or command ends the process with status 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        sys.stdout.write(f"mecatui {__version__}\n")
        return 0
    parser = importlib.import_module("mecatui.flags").make_parser()
    flags = parser.parse_args(given)
    module = importlib.import_module("mecatui.launch")
    try:
        status: int = module.launch(flags)
    except module.UsageProblem as problem:
        parser.error(str(problem))
    return status
