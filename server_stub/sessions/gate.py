"""The gate of one run: asks a person where the session's permissions say so, and makes the session *awaiting*."""

import asyncio
import secrets
from typing import assert_never

from server_stub.engine.conversation import ToolRequest
from server_stub.engine.events import Asked, Retracted
from server_stub.engine.permissions import Ruling, Verdict
from server_stub.engine.tools.tool import Tool, ToolOutput
from server_stub.sessions.run import PendingAsk, Run
from server_stub.sessions.session import Session
from server_stub.sessions.state import SessionState


class PersonGate:
    """A `Gate` that parks the run until the ask is answered, however long that takes."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session = session
        self._run = run

    async def admit(self, tool: Tool, request: ToolRequest) -> ToolOutput | None:
        """None when the call may run, otherwise the refusal that the model is shown."""
        match self._session.permissions.rule(request.name, tool.access(request.args)):
            case Ruling.ALLOW:
                return None
            case Ruling.REFUSE:
                return ToolOutput(
                    "permission_denied: plan mode changes nothing; describe the change instead", is_error=True
                )
            case Ruling.ASK:
                verdict = await self._ask(request)
                if self._session.permissions.learn(request.name, verdict):
                    return None
                return ToolOutput("permission_denied: the user refused this call", is_error=True)
            case never:
                assert_never(never)

    async def _ask(self, request: ToolRequest) -> Verdict:
        ask = PendingAsk(secrets.token_hex(8), request, asyncio.get_running_loop().create_future())
        self._run.asks[ask.ask_id] = ask
        self._session.step(SessionState.AWAITING)
        self._session.emit(self._run, Asked(ask.ask_id, request.name, request.args, "this tool asks first"))
        try:
            verdict = await ask.answer
            self._session.step(SessionState.RUNNING)
            return verdict
        finally:
            del self._run.asks[ask.ask_id]
            self._session.emit(self._run, Retracted(ask.ask_id))
