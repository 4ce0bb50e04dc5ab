"""Command files: one Markdown file for each `/name`, read once when the server starts."""

import codecs
import logging
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.document import Document, split_document
from server_stub.skills.fields import Fields
from server_stub.skills.frontmatter import read_mapping
from server_stub.skills.identity import identify
from server_stub.skills.reading import Absent, Contents, Linked, Unread, read_file
from server_stub.skills.rejected import Rejected
from server_stub.skills.repair import repair
from server_stub.skills.text import clean_line, clip_graphemes
from server_stub.skills.tier import Tier

_log = logging.getLogger(__name__)

_MOST = 1000
"""Command files that one folder may hold; the rest is left out."""
_DESCRIPTION_SHOWN = 1024
_HINT_SHOWN = 200


@dataclass(frozen=True, slots=True)
class CommandFile:
    """What one command file says; the file's name is the command's."""

    name: str
    description: str
    """On one line; the body's first line when the file describes itself in no other way."""
    body: str
    body_sha256: str
    body_bytes: int
    origin: Tier
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()


def read_command_files(workspace: Path, config_home: Path, *, trusted: bool) -> tuple[CommandFile, ...]:
    """All command files, sorted by name; the first folder wins a name. The workspace's only when it is trusted.

    A file or folder that cannot be used is left out, and the server's log says why.
    """
    folders = [(config_home / "mecatl" / "commands", Tier.USER)]
    if trusted:
        project = [workspace / ".mecatl" / "commands", workspace / ".claude" / "commands"]
        folders = [*((folder, Tier.PROJECT) for folder in project), *folders]
    found: dict[str, CommandFile] = {}
    for folder, origin in folders:
        for path in _candidates(folder):
            command = _read(path, origin, workspace)
            if command is not None:
                found.setdefault(command.name, command)
    return tuple(found[name] for name in sorted(found))


def parse_command(raw: bytes, stem: str, origin: Tier) -> CommandFile:
    """A command from its file's bytes and name. Frontmatter may be missing.

    Raises:
        Rejected: the file is no such text, or nothing of the name can be typed.
    """
    document = _document(raw)
    try:
        mapping, warnings = read_mapping(document.frontmatter)
    except Rejected as failure:
        mapping, warnings = repair(document.frontmatter, failure)
    fields = Fields(mapping, warnings)
    shown = clean_line(stem.encode(errors="replace").decode())
    name, _ = identify(shown, shown)
    body = document.body.encode()
    return CommandFile(
        name=name,
        description=clip_graphemes(fields.line("description") or _first_line(document.body), _DESCRIPTION_SHOWN),
        body=document.body,
        body_sha256=sha256(body).hexdigest(),
        body_bytes=len(body),
        origin=origin,
        argument_hint=clip_graphemes(fields.hint("argument-hint"), _HINT_SHOWN),
        arguments=fields.variables("arguments"),
    )


def _document(raw: bytes) -> Document:
    try:
        return split_document(raw)
    except Rejected as rejected:
        if rejected.code is not SkipCode.NO_FRONTMATTER:
            raise
        return split_document(b"---\n---\n" + raw.removeprefix(codecs.BOM_UTF8))


def _candidates(folder: Path) -> list[Path]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        _log.warning("command files of %s are left out: %s", folder, error.strerror)
        return []
    if len(names) > _MOST:
        _log.warning("%s holds more than %d command files; the rest is left out", folder, _MOST)
    return [folder / name for name in names[:_MOST]]


def _read(path: Path, origin: Tier, workspace: Path) -> CommandFile | None:
    try:
        read = _command_in(path, origin, workspace)
    except Rejected as rejected:
        read = rejected.reason
    except (OSError, RuntimeError) as error:
        read = f"it cannot be read: {error}"
    if isinstance(read, CommandFile):
        return read
    _log.warning("the command file %s is left out: %s", path, read)
    return None


def _command_in(path: Path, origin: Tier, workspace: Path) -> CommandFile | str:
    """The command, or why there is none."""
    real = path.resolve()
    if origin is Tier.PROJECT and not real.is_relative_to(workspace.resolve()):
        return "it leads out of the workspace"
    match read_file(str(real), None):
        case Contents(data=data):
            return parse_command(data, path.stem, origin)
        case Unread(code=SkipCode.NOT_A_FILE):
            return "it is not a regular file"
        case Unread(reason=reason):
            return reason
        case Absent() | Linked():
            return "it leads nowhere"


def _first_line(body: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in body.splitlines())
    return clean_line(next((line for line in lines if line), ""))
