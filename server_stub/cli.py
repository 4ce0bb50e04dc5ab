"""The command line of `mecatui-server`: flags become a configuration."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from server_stub.config import Folders, Listen, ModelSettings, ServerConfig, SkillSettings
from server_stub.errors import ServerError


class UsageError(ServerError):
    """A flag that cannot be followed; the text says which and why."""


def parser() -> argparse.ArgumentParser:
    """All flags of the server."""
    made = argparse.ArgumentParser(
        prog="mecatui-server", description="Serves agent sessions with Agent Skills for one workspace."
    )
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
    commands = made.add_subparsers(dest="command", metavar="")
    trust = commands.add_parser("trust", help="trust a folder: its skills and commands are admitted from now on")
    trust.add_argument("path", type=Path, nargs="?", default=Path(), help="the folder (default: this one)")
    return made


def configure(flags: argparse.Namespace) -> ServerConfig:
    """Make the configuration.

    Raises:
        UsageError: a folder is not there, or listening so would be open to others without a token.
    """
    workspace = flags.workspace.resolve()
    if not workspace.is_dir():
        raise UsageError(f"--workspace {flags.workspace}: there is no such folder")
    if not 0 <= flags.port <= 65535:  # noqa: PLR2004 - the range of a port
        raise UsageError("--port is a number from 0 to 65535")
    token = _token(flags.auth_token_file)
    listen = Listen(flags.uds.absolute() if flags.uds else None, flags.host, flags.port)
    if not listen.is_private_socket and not token:
        raise UsageError("a port is open to everyone on this machine: give --auth-token-file, or --uds instead")
    if not listen.is_private_socket and flags.host not in {"127.0.0.1", "localhost", "::1"}:
        raise UsageError(f"--host {flags.host}: only the loopback host can be served, since nothing is encrypted")
    return ServerConfig(
        workspace=workspace,
        folders=folders(),
        listen=listen,
        skills=SkillSettings(
            tuple(path.absolute() for path in flags.skills_dir),
            conventional=not flags.no_conventional_skills,
            trust_project=flags.trust_project,
        ),
        model=ModelSettings(flags.model, flags.base_url, flags.mock, flags.mock_script, flags.mock_record),
        token=token,
        embedded=flags.embedded,
    )


def folders() -> Folders:
    """This person's folders, by the XDG rules: a variable that is not absolute does not count."""
    home = Path.home()
    return Folders(
        home,
        _folder("XDG_CONFIG_HOME", home / ".config"),
        _folder("XDG_STATE_HOME", home / ".local" / "state"),
    )


def _folder(variable: str, otherwise: Path) -> Path:
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else otherwise


def _token(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as unread:
        raise UsageError(f"--auth-token-file {path}: it cannot be read as text") from unread
    if not token:
        raise UsageError(f"--auth-token-file {path}: it is empty")
    return token


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; an unknown flag or command ends the process with status 2."""
    return parser().parse_args(arguments)
