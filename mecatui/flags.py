"""The flags of the command line."""

import argparse
from pathlib import Path

from mecatui import __version__


def make_parser() -> argparse.ArgumentParser:
    """All flags and commands of the app."""
    parser = argparse.ArgumentParser(
        prog="mecatui", description="A terminal client for agent sessions that use Agent Skills."
    )
    parser.add_argument(
        "--version", action="version", version=f"mecatui {__version__}", help="show the version and end"
    )
    parser.add_argument("--theme", default="", metavar="T", help="the colours of the screen")
    parser.add_argument("--model", default="", metavar="M", help="the model (default: offline, without a key)")
    server = parser.add_argument_group("the embedded server")
    server.add_argument("--workspace", type=Path, default=Path(), metavar="DIR", help="the project (default: here)")
    server.add_argument(
        "--skills-dir", type=Path, action="append", default=[], metavar="DIR", help="a folder of skills; repeatable"
    )
    server.add_argument("--no-conventional-skills", action="store_true", help="look in --skills-dir alone")
    server.add_argument("--trust-project", action="store_true", help="admit the skills of the project")
    server.add_argument("--base-url", default="", metavar="U", help="an endpoint of the model's protocol")
    server.add_argument("--mock-script", type=Path, metavar="F", help="what the offline model says and does")
    server.add_argument("--mock-record", type=Path, metavar="F", help="where the offline model notes its requests")
    commands = parser.add_subparsers(dest="command", metavar="{connect,trust}")
    connect = commands.add_parser("connect", help="use a server that is already running")
    connect.add_argument("address", help="http://host:port or unix:/path")
    trust = commands.add_parser("trust", help="admit the skills of a project from now on")
    trust.add_argument("path", type=Path, nargs="?", default=Path(), help="the project's folder (default: here)")
    return parser
