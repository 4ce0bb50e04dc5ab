"""The events of a run as the wire has them, turned into those of the screen."""

from typing import assert_never

from client.contract import events as wire
from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.control import Emit
from mecatui.plain_text import one_line
from mecatui.wire_values import arguments_text, ask_of, target_of, usage_of


class RunTranslator:
    """Follows one run. Knows how far it has come, so that a replay of the same run goes on where it broke off."""

    def __init__(self, session_id: str, emit: Emit) -> None:
        self._session_id = session_id
        self._emit = emit
        self._run_id = ""
        self._last_seq = 0
        self._replayed_run = ""
        self.has_ended = False

    @property
    def has_begun(self) -> bool:
        """The server told of the run."""
        return bool(self._run_id)

    def take(self, event: wire.Event) -> None:
        """Tell of one event."""
        if isinstance(event, wire.UnknownEvent):
            return
        if isinstance(event, wire.SessionInit):
            self._run_id = event.run_id
        self._last_seq = max(self._last_seq, event.seq)
        told = _translate(self._session_id, event)
        if told is not None:
            self._emit(told)
        self.has_ended = self.has_ended or isinstance(event, wire.RunEnded)

    def take_again(self, event: wire.Event) -> None:
        """Tell of one event of a replay, unless it belongs to another run or was told before."""
        if isinstance(event, wire.SessionInit):
            self._replayed_run = event.run_id
            self._run_id = self._run_id or event.run_id
        if self._replayed_run == self._run_id and event.seq > self._last_seq:
            self.take(event)


def _translate(session_id: str, event: wire.KnownEvent) -> ev.SessionEvent | None:
    match event:
        case wire.SessionInit(run_id=run_id):
            return runs.RunStarted(session_id, run_id)
        case wire.TurnStart():
            return None
        case wire.TurnEnd(usage=usage):
            return runs.TurnEnded(session_id, usage_of(usage))
        case wire.MessageDelta(text=text):
            return runs.TextAdded(session_id, text)
        case wire.ReasoningDelta(text=text):
            return runs.ReasoningAdded(session_id, text)
        case wire.ToolCalled() | wire.ToolReturned() | wire.PermissionAsked() | wire.PermissionRetracted():
            return _translate_tool(session_id, event)
        case wire.RunEnded(result=result):
            return runs.RunEnded(session_id, result.stop.value, one_line(result.error))
        case wire.TitleChanged(title=title):
            return ev.TitleChanged(session_id, one_line(title))
        case wire.SkillsReloaded(generation=generation):
            return ev.InventoryOutdated(session_id, generation)
        case _:
            assert_never(event)


def _translate_tool(
    session_id: str, event: wire.ToolCalled | wire.ToolReturned | wire.PermissionAsked | wire.PermissionRetracted
) -> runs.RunEvent:
    match event:
        case wire.ToolCalled(tool_call=call):
            arguments = arguments_text(call.args)
            return runs.ToolStarted(session_id, call.id, one_line(call.name), target_of(call.args), arguments)
        case wire.ToolReturned(tool_result=result):
            return runs.ToolFinished(session_id, result.call_id, not result.is_error, result.content)
        case wire.PermissionAsked(ask=ask):
            return runs.Asked(session_id, ask_of(ask))
        case wire.PermissionRetracted(ask_id=ask_id):
            return runs.AskClosed(session_id, ask_id)
        case _:
            assert_never(event)
