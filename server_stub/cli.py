"""The command line of `mecatui-server`: flags become a configuration."""

import argparse
import logging
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from server_stub.config import Folders, Listen, ModelSettings, ServerConfig, SkillSettings
from server_stub.errors import ServerError
from server_stub.version import build_id

_log = logging.getLogger(__name__)

_LONGEST_TOKEN = 4096
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class UsageError(ServerError):
    """A flag that cannot be followed; the text says which and why."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, which is all that an app shows of it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"mecatui-server: {message}; see mecatui-server --help\n")


def parser() -> argparse.ArgumentParser:
    """All flags of the server."""
    made = _Parser(
        prog="mecatui-server",
        description="Serves agent sessions with Agent Skills for one workspace.",
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"mecatui-server {build_id()}")
    where = made.add_argument_group("where it listens")
    where.add_argument("--uds", type=Path, metavar="PATH", help="a UNIX socket of this path, for this user only")
    where.add_argument("--host", default="127.0.0.1", help="the host to bind when there is no --uds")
    where.add_argument("--port", type=int, default=8642, help="the port to bind when there is no --uds")
    where.add_argument("--auth-token-file", type=Path, metavar="FILE", help="the file that holds the bearer token")
    skills = made.add_argument_group("skills")
    skills.add_argument("--workspace", type=Path, default=Path(), help="the project's folder (default: this one)")
    skills.add_argument(
        "--skills-dir", type=Path, action="append", default=[], metavar="DIR", help="a folder of skills; repeatable"
    )
    skills.add_argument("--no-conventional-skills", action="store_true", help="look in --skills-dir alone")
    skills.add_argument("--trust-project", action="store_true", help="admit the skills of the workspace")
    model = made.add_argument_group("model")
    model.add_argument("--model", default="", metavar="NAME", help="the model (default: offline, without a key)")
    model.add_argument("--base-url", default="", metavar="URL", help="an endpoint of that model's protocol")
    model.add_argument("--mock", action="store_true", help="the offline model, whatever keys there are")
    model.add_argument("--mock-script", type=Path, metavar="FILE", help="what the offline model says and does")
    model.add_argument("--mock-record", type=Path, metavar="FILE", help="where the offline model notes its requests")
    made.add_argument("--embedded", action="store_true", help="say when ready; end when standard input does")
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    trust = commands.add_parser("trust", help="trust a folder: its skills and commands are admitted from now on")
    trust.add_argument("path", type=Path, nargs="?", default=Path(), help="the folder (default: this one)")
    return made


def configure(flags: argparse.Namespace) -> ServerConfig:
    """Make the configuration.

    Raises:
        UsageError: a folder is not there, or listening so would be open to others without a token.
    """
    if not 0 <= flags.port <= 65535:  # noqa: PLR2004 - the range of a port
        raise UsageError("--port is a number from 0 to 65535")
    listen = Listen(_absolute(flags.uds) if flags.uds else None, flags.host, flags.port)
    if not listen.is_private_socket and flags.host not in _LOOPBACK:
        raise UsageError(f"--host {flags.host}: nothing is encrypted, so give a loopback host such as 127.0.0.1")
    token = _token(flags.auth_token_file)
    if not listen.is_private_socket and not token:
        raise UsageError("a port is open to everyone on this machine: give --auth-token-file, or --uds instead")
    return ServerConfig(
        workspace=_workspace(flags.workspace),
        folders=folders(),
        listen=listen,
        skills=SkillSettings(
            tuple(map(_absolute, flags.skills_dir)),
            conventional=not flags.no_conventional_skills,
            trust_project=flags.trust_project,
        ),
        model=ModelSettings(flags.model, flags.base_url, flags.mock, flags.mock_script, flags.mock_record),
        token=token,
        embedded=flags.embedded,
    )


def folders() -> Folders:
    """This person's folders, by the XDG rules: a variable that is not absolute does not count.

    Raises:
        UsageError: there is no home. A relative one would make the person's folders those of any project.
    """
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise UsageError("there is no home folder: set HOME to an absolute path")
    return Folders(
        home,
        _folder("XDG_CONFIG_HOME", home / ".config"),
        _folder("XDG_STATE_HOME", home / ".local" / "state"),
    )


def _folder(variable: str, otherwise: Path) -> Path:
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else otherwise


def _absolute(path: Path) -> Path:
    try:
        return path.absolute()
    except OSError as gone:
        raise UsageError(f"{path}: the current folder is gone; give an absolute path") from gone


def _workspace(path: Path) -> Path:
    try:
        real = path.resolve()
        if real.is_dir():
            return real
    except (OSError, RuntimeError) as unusable:
        raise UsageError(f"--workspace {path}: the folder cannot be entered; give another") from unusable
    raise UsageError(f"--workspace {path}: there is no such folder")


def _token(path: Path | None) -> str:
    """The bearer token of a file, or none where none is named."""
    if path is None:
        return ""
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_TOKEN + 1).decode()
            is_shared = bool(stat.S_IMODE(os.fstat(file.fileno()).st_mode) & (stat.S_IRGRP | stat.S_IROTH))
    except (OSError, UnicodeDecodeError) as unread:
        raise UsageError(f"--auth-token-file {path}: it cannot be read as text") from unread
    token = text.strip()
    if not token:
        raise UsageError(f"--auth-token-file {path}: it is empty; write a long random word into it")
    if len(text) > _LONGEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"--auth-token-file {path}: it is to hold one word of ASCII and nothing else")
    if is_shared:
        _log.warning("%s can be read by other users: run chmod 600 on it", path)
    return token


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; an unknown flag or command ends the process with status 2."""
    return parser().parse_args(arguments)
