"""Sessions: one conversation each, and what a server says of itself."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from client.contract.base import Request, Response, WireIntEnum, WireStrEnum
from client.contract.events import ToolCall, ToolResult, Usage


class PermissionMode(WireIntEnum):
    """What the agent may do without asking."""

    UNSPECIFIED = 0
    DEFAULT = 1
    PLAN = 2
    ACCEPT_EDITS = 3


def _known(value: Any) -> Any:
    """Refuse what is no mode: read leniently, a mode of a newer client would be taken for the default one."""
    if type(value) not in {int, PermissionMode} or value not in set(PermissionMode):
        raise PydanticCustomError("mode", "it is 1 (default), 2 (plan) or 3 (accept edits)")
    return value


RequestedMode = Annotated[PermissionMode, BeforeValidator(_known)]
"""A mode in a request: one of this version, as its number."""


class SessionState(WireStrEnum):
    """Where a session stands. All but `running` and `awaiting` are inactive."""

    UNKNOWN = ""
    IDLE = "idle"
    RUNNING = "running"
    AWAITING = "awaiting"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Capabilities(Response):
    """What a server can do; a client offers nothing beyond it."""

    slash_commands: bool = False
    skills: bool = False
    agents: bool = False
    memory: bool = False
    mcp: bool = False
    learned_skills: bool = False
    model_selection: bool = False
    steer: bool = False
    skills_reload: bool = False


class Compatibility(Response):
    """The answer of `GET /v1/compatibility`."""

    api_major: int = 0
    features: tuple[str, ...] = ()
    capabilities: Capabilities = Capabilities()


class Info(Response):
    """The answer of `GET /v1/info`."""

    build_id: str = ""
    server_implementation: str = ""


class CreateSession(Request):
    """What `POST /v1/sessions` takes; every field may be left out."""

    mode: RequestedMode = PermissionMode.UNSPECIFIED
    provider_id: str = ""
    model_id: str = ""
    profile: str = ""
    """`""` or `"no-fs"`: no file or shell tools; skills stay."""
    reasoning_effort: str = ""


class TitleMetadata(Response):
    """A session's title, and who gave it (`user` or `prompt`)."""

    title: str = ""
    source: str = ""


class SessionCreated(Response):
    """The answer of create and of clear."""

    session_id: str = ""
    resolved_model: str = ""
    placement: str = ""


class SessionInfo(Response):
    """One session in full."""

    session_id: str = ""
    skills_generation: int = 0
    state: SessionState = SessionState.UNKNOWN
    mode: PermissionMode = PermissionMode.UNSPECIFIED
    turns: int = 0
    tool_calls: int = 0
    created_at_unix: int = 0
    modified_at_unix: int = 0
    resolved_model: str = ""
    placement: str = ""
    title_metadata: TitleMetadata = TitleMetadata()
    token_usage: Usage = Usage()
    latest_context_occupancy: float = 0.0
    """Share of the model's context in use, 0 to 1; 0 when unknown."""


class SessionSummary(Response):
    """One row of the list of sessions."""

    session_id: str = ""
    modified_at_unix: int = 0
    created_at_unix: int = 0
    state: SessionState = SessionState.UNKNOWN
    turns: int = 0
    model_id: str = ""
    title_metadata: TitleMetadata = TitleMetadata()
    token_usage: Usage = Usage()


class SessionList(Response):
    """A page of sessions, latest change first."""

    sessions: tuple[SessionSummary, ...] = ()
    next_cursor: str = ""
    total_count: int = 0


class RenameSession(Request):
    """What `POST …/rename` takes."""

    title: str


class SetMode(Request):
    """What `POST …/mode` takes."""

    mode: RequestedMode


class Prompt(Request):
    """What `POST …/prompt` takes; `/name args` is expanded by the server."""

    text: str


class TranscriptMessage(Response):
    """One message of a conversation, as a person sees it: what was typed, not what it expanded to."""

    role: str = ""
    """`user`, `assistant` or `tool`."""
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None


class Transcript(Response):
    """A conversation so far."""

    session_id: str = ""
    messages: tuple[TranscriptMessage, ...] = ()
    complete: bool = False
    """False while a run is still writing to it."""
