"""What an operator decides, once, when the server starts."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the server listens: a UNIX socket, or a host and port."""

    uds: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0

    @property
    def is_private_socket(self) -> bool:
        """The socket file's permissions are the credential; no token is asked for."""
        return self.uds is not None


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """Where skills may come from, and whether the project's are admitted."""

    directories: tuple[Path, ...] = ()
    conventional: bool = True
    trust_project: bool = False
    deadline_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model answers. With nothing set it is the offline one, which needs no key and no network."""

    name: str = ""
    base_url: str = ""
    offline: bool = False
    script: Path | None = None
    """A script for the offline model: `engine/models/script.py` gives its form."""
    record: Path | None = None
    """A file that the offline model appends each request to, one JSON object a line."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings that keep one session from harming the others."""

    private_engines: int = 1024
    sessions: int = 10_000
    turns: int = 50
    request_bytes: int = 32 * 1024 * 1024
    log_entries: int = 50_000
    """Events kept per session for replay."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of the person that the server runs for."""

    home: Path
    config_home: Path
    state_home: Path

    @property
    def trust_file(self) -> Path:
        """The operator's standing decisions on trust."""
        return self.state_home / "mecatui" / "trust.json"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The whole configuration of one server process: one workspace, one model, one set of sources."""

    workspace: Path
    folders: Folders
    listen: Listen = field(default_factory=Listen)
    skills: SkillSettings = field(default_factory=SkillSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    limits: Limits = field(default_factory=Limits)
    token: str = ""
    """The bearer token that callers must show; empty only on a private socket."""
    embedded: bool = False
    """A child of the app: says when it is ready on standard output, ends when standard input does."""
