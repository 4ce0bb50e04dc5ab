"""Domain values to wire values: the one place that knows both, and the barrier that keeps paths and bodies in.

No listing or reload type has a field that could carry a path or a body; the one type that can, a skill's detail,
gets its path only where the caller of this module says so.
"""

import json
from typing import assert_never

from client.contract import events as wire_events
from client.contract import model_view as wire_view
from client.contract import sessions as wire_sessions
from client.contract import skills as wire_skills
from server_stub.engine import events as run_events
from server_stub.engine.conversation import AssistantMessage, Message, ToolMessage, ToolRequest, UserMessage
from server_stub.engine.models.model import TokenUsage
from server_stub.engine.permissions import Mode
from server_stub.sessions.log import Entry, Followed
from server_stub.sessions.reload import ReloadReport
from server_stub.sessions.session import Session

MODES = {
    Mode.DEFAULT: wire_sessions.PermissionMode.DEFAULT,
    Mode.PLAN: wire_sessions.PermissionMode.PLAN,
    Mode.ACCEPT_EDITS: wire_sessions.PermissionMode.ACCEPT_EDITS,
}
MODES_BY_NUMBER = {number: mode for mode, number in MODES.items()}


def usage(value: TokenUsage) -> wire_events.Usage:
    """Token counts."""
    return wire_events.Usage(
        input_tokens=value.input_tokens,
        output_tokens=value.output_tokens,
        cache_read_tokens=value.cache_read_tokens,
        cache_write_tokens=value.cache_write_tokens,
        reasoning_tokens=value.reasoning_tokens,
    )


def session_created(session: Session, model: str) -> wire_sessions.SessionCreated:
    """A new session."""
    return wire_sessions.SessionCreated(session_id=session.session_id, resolved_model=model, placement="local")


def session_info(session: Session, model: str) -> wire_sessions.SessionInfo:
    """A session in full."""
    return wire_sessions.SessionInfo(
        session_id=session.session_id,
        skills_generation=session.installed.generation,
        state=wire_sessions.SessionState(session.state.value),
        mode=MODES[session.permissions.mode],
        turns=session.turns,
        tool_calls=session.tool_calls,
        created_at_unix=int(session.created_at),
        modified_at_unix=int(session.modified_at),
        resolved_model=model,
        placement="local",
        title_metadata=wire_sessions.TitleMetadata(title=session.title.text, source=session.title.source),
        token_usage=usage(session.usage),
    )


def session_summary(session: Session, model: str) -> wire_sessions.SessionSummary:
    """A row of the list of sessions."""
    return wire_sessions.SessionSummary(
        session_id=session.session_id,
        modified_at_unix=int(session.modified_at),
        created_at_unix=int(session.created_at),
        state=wire_sessions.SessionState(session.state.value),
        turns=session.turns,
        model_id=model,
        title_metadata=wire_sessions.TitleMetadata(title=session.title.text, source=session.title.source),
        token_usage=usage(session.usage),
    )


def transcript(session: Session) -> wire_sessions.Transcript:
    """A conversation as a person sees it: what was typed, not what it expanded to."""
    return wire_sessions.Transcript(
        session_id=session.session_id,
        messages=tuple(_message(message) for message in session.messages),
        complete=session.run is None,
    )


def _message(message: Message) -> wire_sessions.TranscriptMessage:
    match message:
        case UserMessage(typed=typed):
            return wire_sessions.TranscriptMessage(role="user", text=typed)
        case AssistantMessage(text=text, reasoning=reasoning, tool_requests=requests):
            calls = tuple(_tool_call(request) for request in requests)
            return wire_sessions.TranscriptMessage(role="assistant", text=text, reasoning=reasoning, tool_calls=calls)
        case ToolMessage(call_id=call_id, content=content, is_error=is_error):
            result = wire_events.ToolResult(call_id=call_id, content=content, is_error=is_error)
            return wire_sessions.TranscriptMessage(role="tool", tool_result=result)
        case _:
            assert_never(message)


def _tool_call(request: ToolRequest) -> wire_events.ToolCall:
    return wire_events.ToolCall.model_validate({"id": request.call_id, "name": request.name, "args": request.args})


def reload_report(report: ReloadReport) -> wire_skills.SkillsReload:
    """The answer of a reload: a status and counts."""
    return wire_skills.SkillsReload(
        status=wire_skills.ReloadStatus(report.status.value),
        generation=report.generation,
        skills=report.skills,
        added=report.added,
        changed=report.changed,
        removed=report.removed,
        skipped=report.skipped,
        shadowed=report.shadowed,
    )


def model_view(session: Session) -> wire_view.ModelView:
    """What the session's model is told, and what it was told at each request."""
    tools = session.pin.tools
    return wire_view.ModelView(
        tools_sha256=tools.sha256,
        tools_bytes=len(tools.canonical),
        tools=tuple(
            wire_view.ToolSpecRow(
                name=spec.name, description=spec.description, input_schema=json.loads(spec.input_schema)
            )
            for spec in tools.specs
        ),
        system_sha256=session.installed.engine.system_sha256,
        requests=tuple(
            wire_view.RequestRow(
                turn=facts.turn,
                tools_sha256=facts.tools_sha256,
                generation=facts.generation,
                input_tokens=facts.usage.input_tokens,
                cache_read_tokens=facts.usage.cache_read_tokens,
                cache_write_tokens=facts.usage.cache_write_tokens,
            )
            for facts in session.requests
        ),
    )


def watched(followed: Followed, session_id: str) -> wire_events.Watched:
    """One event of a watch."""
    if followed.entry is None:
        return wire_events.Watched(cursor=str(followed.cursor), phase=wire_events.Phase.GAP)
    phase = wire_events.Phase.LIVE if followed.live else wire_events.Phase.REPLAY
    return wire_events.Watched(event=event(followed.entry, session_id), cursor=str(followed.cursor), phase=phase)


def event(entry: Entry, session_id: str) -> wire_events.KnownEvent:
    """One event of a run."""
    seq, turn = entry.seq, entry.turn
    match entry.event:
        case run_events.RunStarted(run_id=run_id):
            return wire_events.SessionInit(seq=seq, turn=turn, session_id=session_id, run_id=run_id)
        case run_events.TurnStarted():
            return wire_events.TurnStart(seq=seq, turn=turn)
        case run_events.TurnEnded(usage=tokens, duration_ms=duration_ms):
            return wire_events.TurnEnd(seq=seq, turn=turn, usage=usage(tokens), duration_ms=duration_ms)
        case run_events.TextStreamed(text=text):
            return wire_events.MessageDelta(seq=seq, turn=turn, text=text)
        case run_events.ReasoningStreamed(text=text):
            return wire_events.ReasoningDelta(seq=seq, turn=turn, text=text)
        case run_events.ToolCalled(request=request):
            return wire_events.ToolCalled(seq=seq, turn=turn, tool_call=_tool_call(request))
        case run_events.ToolReturned(call_id=call_id, content=content, is_error=is_error):
            result = wire_events.ToolResult(call_id=call_id, content=content, is_error=is_error)
            return wire_events.ToolReturned(seq=seq, turn=turn, tool_result=result)
        case rest:
            return _rarer_event(rest, seq, turn)


def _rarer_event(
    told: run_events.Asked
    | run_events.Retracted
    | run_events.RunFinished
    | run_events.TitleGiven
    | run_events.SkillsInstalled,
    seq: int,
    turn: int,
) -> wire_events.KnownEvent:
    match told:
        case run_events.Asked(ask_id=ask_id, tool=tool, args=args, reason=reason):
            ask = wire_events.Ask.model_validate({"ask_id": ask_id, "tool": tool, "args": args, "reason": reason})
            return wire_events.PermissionAsked(seq=seq, turn=turn, ask=ask)
        case run_events.Retracted(ask_id=ask_id):
            return wire_events.PermissionRetracted(seq=seq, turn=turn, ask_id=ask_id)
        case run_events.RunFinished(stop=stop, text=text, usage=tokens, error=error):
            result = wire_events.RunResult(
                stop=wire_events.Stop(stop.value), text=text, usage=usage(tokens), error=error
            )
            return wire_events.RunEnded(seq=seq, turn=turn, result=result)
        case run_events.TitleGiven(title=title):
            return wire_events.TitleChanged(seq=seq, turn=turn, title=title)
        case run_events.SkillsInstalled(generation=generation):
            return wire_events.SkillsReloaded(seq=seq, turn=turn, generation=generation)
        case _:
            assert_never(told)
