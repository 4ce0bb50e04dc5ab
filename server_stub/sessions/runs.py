"""Starts runs, sees them to their end, and keeps the session's record of them true."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable

from server_stub.engine.conversation import UserMessage
from server_stub.engine.events import RunEvent, RunFinished, RunStarted, Stop, TitleGiven, ToolCalled
from server_stub.engine.loop import RunContext, Sent, run_turns
from server_stub.engine.models.model import ModelFailed, TokenUsage
from server_stub.errors import NoActiveRun, ServerError
from server_stub.sessions.gate import PersonGate
from server_stub.sessions.run import Run
from server_stub.sessions.session import Session, Title
from server_stub.sessions.state import SessionState
from server_stub.skills.text import clean_line, clip_graphemes

_log = logging.getLogger(__name__)

_TITLE_CHARACTERS = 80

_STATE_AFTER = {
    Stop.END_TURN: SessionState.COMPLETED,
    Stop.MAX_TURNS: SessionState.COMPLETED,
    Stop.CANCELLED: SessionState.CANCELLED,
    Stop.ERROR: SessionState.FAILED,
}


class Runs:
    """The runs of one process. A run ends by itself, by cancel or by delete, never because a reader went away."""

    def __init__(self, turns: int, clock: Callable[[], float] = time.time) -> None:
        self._turns = turns
        self._clock = clock

    def start(self, session: Session, text: str, typed: str) -> Run:
        """Begin a run on `text`, which is what became of the `typed` one.

        The caller holds the session's lock and has seen that it is inactive.
        """
        run = Run(secrets.token_hex(8), session.log.end)
        session.messages.append(UserMessage(text, typed))
        session.step(SessionState.RUNNING)
        session.modified_at = self._clock()
        session.run = run
        session.emit(run, RunStarted(run.run_id))
        if not session.title.text:
            session.title = Title(clip_graphemes(clean_line(typed), _TITLE_CHARACTERS), "prompt")
            session.emit(run, TitleGiven(session.title.text))
        usage: list[TokenUsage] = []
        run.task = asyncio.create_task(self._drive(session, run, usage), name=f"run {run.run_id}")
        run.task.add_done_callback(lambda task: self._finish(session, run, task, usage))
        return run

    async def cancel(self, session: Session) -> None:
        """End the live run and wait until it has ended.

        Raises:
            NoActiveRun: there is none.
        """
        if session.run is None or session.run.task is None:
            raise NoActiveRun
        session.run.task.cancel()
        await asyncio.wait([session.run.task])

    async def _drive(self, session: Session, run: Run, usage: list[TokenUsage]) -> tuple[Stop, str]:
        installed = session.installed

        def emit(event: RunEvent) -> None:
            if isinstance(event, ToolCalled):
                session.tool_calls += 1
            session.emit(run, event)

        def next_turn() -> int:
            session.turns += 1
            run.turn = session.turns
            return session.turns

        def sent(facts: Sent) -> None:
            usage.append(facts.usage)
            session.sent(facts)

        return await run_turns(
            RunContext(
                session_id=session.session_id,
                engine=installed.engine,
                pin=session.pin,
                messages=session.messages,
                gate=PersonGate(session, run),
                emit=emit,
                next_turn=next_turn,
                sent=sent,
                turns=self._turns,
            )
        )

    def _finish(
        self, session: Session, run: Run, task: "asyncio.Task[tuple[Stop, str]]", usage: list[TokenUsage]
    ) -> None:
        stop, text, error = _outcome(task)
        session.step(_STATE_AFTER[stop])
        session.run = None
        session.modified_at = self._clock()
        session.emit(run, RunFinished(stop, text, sum(usage, TokenUsage()), error))


def _outcome(task: "asyncio.Task[tuple[Stop, str]]") -> tuple[Stop, str, str]:
    if task.cancelled():
        return Stop.CANCELLED, "", ""
    match task.exception():
        case None:
            stop, text = task.result()
            return stop, text, ""
        case ModelFailed() | ServerError() as told:
            return Stop.ERROR, "", str(told)
        case fault:
            _log.error("a run failed", exc_info=fault)
            return Stop.ERROR, "", "the server failed; its log says why"
