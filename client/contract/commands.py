"""The palette and the expansion table: what a person may type after a slash."""

from client.contract.base import Request, Response, WireStrEnum


class CommandKind(WireStrEnum):
    """Where a `/name` comes from."""

    UNKNOWN = ""
    COMMAND = "command"
    SKILL = "skill"
    MCP_PROMPT = "mcp_prompt"


class CommandRow(Response):
    """One row of the palette."""

    name: str = ""
    description: str = ""


class Palette(Response):
    """The answer of `GET /v1/commands`, sorted by name, without bodies."""

    commands: tuple[CommandRow, ...] = ()


class Expansion(Response):
    """One name that `/name` resolves, without its body."""

    name: str = ""
    kind: CommandKind = CommandKind.UNKNOWN
    origin: str = ""
    advertised: bool = False
    argument_hint: str = ""
    placeholders: bool = False
    """The body has a place for arguments; otherwise they are appended."""
    read_only: bool = False
    writes: bool = False
    body_bytes: int = 0
    body_sha256: str = ""


class ExpansionTable(Response):
    """The answer of `GET …/expansions`, sorted by name."""

    generation: int = 0
    expansions: tuple[Expansion, ...] = ()


class Expand(Request):
    """What `POST …/expand` takes."""

    text: str


class Expanded(Response):
    """What a typed text becomes; nothing is run. `name` is empty when it is no command."""

    text: str = ""
    name: str = ""
    generation: int = 0
