"""One value of each wire type with every field set to something that is not its zero."""

from client.contract.approvals import Approve, Verdict
from client.contract.base import Request, Response
from client.contract.commands import (
    CommandKind,
    CommandRow,
    Expand,
    Expanded,
    Expansion,
    ExpansionTable,
    Palette,
)
from client.contract.errors import ErrorBody, ErrorCode, RefusalReason
from client.contract.events import (
    Ask,
    MessageDelta,
    PermissionAsked,
    PermissionRetracted,
    Phase,
    ReasoningDelta,
    RunEnded,
    RunResult,
    SessionInit,
    SkillsReloaded,
    Stop,
    StreamFault,
    TitleChanged,
    ToolCall,
    ToolCalled,
    ToolResult,
    ToolReturned,
    TurnEnd,
    TurnStart,
    UnknownEvent,
    Usage,
    Watched,
)
from client.contract.model_view import ModelView, RequestRow, ToolSpecRow
from client.contract.sessions import (
    Capabilities,
    Compatibility,
    CreateSession,
    Info,
    PermissionMode,
    Prompt,
    RenameSession,
    SessionCreated,
    SessionInfo,
    SessionList,
    SessionState,
    SessionSummary,
    SetMode,
    TitleMetadata,
    Transcript,
    TranscriptMessage,
)
from client.contract.skills import (
    AssetRow,
    CapabilitySummary,
    NearMissRow,
    ReloadStatus,
    ShadowedRow,
    SkillDetail,
    SkillListing,
    SkillMetadata,
    SkillRow,
    SkillsReload,
    SkippedRow,
)

_DIGEST = "0f" * 32
_SESSION = "0123456789abcdef0123456789abcdef"
_USAGE = Usage(input_tokens=1200, output_tokens=34, cache_read_tokens=1100, cache_write_tokens=56, reasoning_tokens=7)
_TITLE = TitleMetadata(title="Größe ändern", source="user")
_CALL = ToolCall(id="c1", name="Skill", args={"name": "review", "offset": 3, "deep": [None, True, {"x": 1.5}]})
_RETURN = ToolResult(call_id="c1", content="Zeile 1\nZeile 2 — ✓", is_error=True)
_ASK = Ask(ask_id="a1", tool="Shell", args={"command": "rm -r build"}, reason="it writes")
_SUMMARY = CapabilitySummary(total=3, read_only_tools=2, write_tools=1, has_side_effects=True)
_METADATA = SkillMetadata(
    name="review",
    description="Reads code",
    version="1.2.3",
    tool_count=3,
    capability_summary=_SUMMARY,
    source_types=("python", "mcp"),
    writes=True,
    read_only=False,
)
_SKILL = SkillRow(
    name="review",
    description="Reads code",
    agent_owned=True,
    owner_agent="critic",
    active_version="v2",
    origin="project",
    advertised=True,
    description_stale=True,
    in_inventory=True,
    user_invocable=True,
    model_invocable=True,
    body_sha256=_DIGEST,
    body_bytes=1234,
    warnings=("the declared name differs from the folder's",),
    metadata=_METADATA,
)
_SKIPPED = SkippedRow(name="broken", origin="user", code="parse_error", reason="bad YAML, line 3")
_SHADOWED = ShadowedRow(name="review", origin="user", by="project")
_NEAR_MISS = NearMissRow(name="notes", origin="project", fix="rename skill.md to SKILL.md")
_EXPANSION = Expansion(
    name="review",
    kind=CommandKind.SKILL,
    origin="project",
    advertised=True,
    argument_hint="[file]",
    placeholders=True,
    read_only=True,
    writes=True,
    body_bytes=1234,
    body_sha256=_DIGEST,
)
_CAPABILITIES = Capabilities(**dict.fromkeys(Capabilities.model_fields, True))
_SESSION_ROW = SessionSummary(
    session_id=_SESSION,
    modified_at_unix=1_800_000_001,
    created_at_unix=1_800_000_000,
    state=SessionState.AWAITING,
    turns=4,
    model_id="mock/offline",
    title_metadata=_TITLE,
    token_usage=_USAGE,
)
_TOOL = ToolSpecRow(name="Skill", description="Loads a skill", input_schema={"type": "object", "required": ["name"]})
_REQUEST = RequestRow(
    turn=2, tools_sha256=_DIGEST, generation=3, input_tokens=12, cache_read_tokens=10, cache_write_tokens=2
)
_MESSAGE = TranscriptMessage(
    role="assistant", text="Done", reasoning="Because", tool_calls=(_CALL,), tool_result=_RETURN
)
_RESULT = RunResult(stop=Stop.BUDGET, text="Out of budget", usage=_USAGE, error="no tokens left")

SAMPLES: tuple[Request | Response, ...] = (
    Approve(ask_id="a1", verdict=Verdict.ALLOW_ALWAYS),
    _EXPANSION,
    CommandRow(name="review", description="Reads code"),
    Palette(commands=(CommandRow(name="review", description="Reads code"), CommandRow(name="x"))),
    ExpansionTable(generation=2, expansions=(_EXPANSION, Expansion(name="x", kind=CommandKind.COMMAND))),
    Expand(text="/review src/größe.py"),
    Expanded(text="# Review\n\nsrc/größe.py", name="review", generation=2),
    ErrorBody(
        error="the session awaits an answer",
        code=ErrorCode.FAILED_PRECONDITION,
        reason=RefusalReason.SESSION_AWAITING,
        ask_id="a1",
        run_id="r1",
    ),
    _USAGE,
    _CALL,
    _RETURN,
    _ASK,
    _RESULT,
    SessionInit(seq=1, turn=1, session_id=_SESSION, run_id="r1"),
    TurnStart(seq=2, turn=1),
    TurnEnd(seq=3, turn=1, usage=_USAGE, duration_ms=12.5),
    MessageDelta(seq=4, turn=1, text="Grüße\n\u2028 \U0001f44b"),
    ReasoningDelta(seq=5, turn=1, text="hm"),
    ToolCalled(seq=6, turn=1, tool_call=_CALL),
    ToolReturned(seq=7, turn=1, tool_result=_RETURN),
    PermissionAsked(seq=8, turn=1, ask=_ASK),
    PermissionRetracted(seq=9, turn=1, ask_id="a1"),
    RunEnded(seq=10, turn=1, result=_RESULT),
    TitleChanged(seq=11, turn=1, title="Größe ändern"),
    SkillsReloaded(seq=12, turn=1, generation=3),
    UnknownEvent(type="moon.phase", seq=13, turn=1),
    StreamFault(code="internal", error="it broke"),
    Watched(event=MessageDelta(seq=4, turn=1, text="Grüße"), cursor="r1:4", phase=Phase.REPLAY),
    _TOOL,
    _REQUEST,
    ModelView(tools_sha256=_DIGEST, tools_bytes=99, tools=(_TOOL,), system_sha256=_DIGEST, requests=(_REQUEST,)),
    _CAPABILITIES,
    Compatibility(api_major=1, features=("skills",), capabilities=_CAPABILITIES),
    Info(build_id="abc", server_implementation="mecatui-server"),
    CreateSession(
        mode=PermissionMode.PLAN, provider_id="mock", model_id="offline", profile="no-fs", reasoning_effort="low"
    ),
    _TITLE,
    SessionCreated(session_id=_SESSION, resolved_model="mock/offline", placement="local"),
    SessionInfo(
        session_id=_SESSION,
        skills_generation=3,
        state=SessionState.COMPLETED,
        mode=PermissionMode.ACCEPT_EDITS,
        turns=4,
        tool_calls=2,
        created_at_unix=1_800_000_000,
        modified_at_unix=1_800_000_001,
        resolved_model="mock/offline",
        placement="local",
        title_metadata=_TITLE,
        token_usage=_USAGE,
        latest_context_occupancy=0.25,
    ),
    _SESSION_ROW,
    SessionList(sessions=(_SESSION_ROW,), next_cursor="c2", total_count=51),
    RenameSession(title="Größe ändern"),
    SetMode(mode=PermissionMode.DEFAULT),
    Prompt(text="/review src\n  indented"),
    _MESSAGE,
    Transcript(session_id=_SESSION, messages=(_MESSAGE,), complete=True),
    SkillsReload(
        status=ReloadStatus.RELOADED, generation=2, skills=14, added=1, changed=2, removed=3, skipped=4, shadowed=5
    ),
    _SUMMARY,
    _METADATA,
    _SKILL,
    _SKIPPED,
    _SHADOWED,
    _NEAR_MISS,
    SkillListing(
        generation=2,
        skills=(_SKILL,),
        skipped=(_SKIPPED,),
        shadowed=(_SHADOWED,),
        near_misses=(_NEAR_MISS,),
        withheld=2,
        notices=("a source could not be read",),
    ),
    AssetRow(name="scripts/run.py", size=88),
    SkillDetail(
        name="review",
        generation=2,
        declared_name="Review!",
        description="Reads code",
        origin="project",
        body="# Review\n",
        assets=(AssetRow(name="scripts/run.py", size=88),),
        tools=("lint",),
        warnings=("slugged",),
        path="/home/me/skills/review/SKILL.md",
    ),
)
