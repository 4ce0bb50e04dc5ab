"""Handlers of runs: prompt, watch, approve, cancel."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from client.contract import approvals, paths, sessions
from server_stub.api import projection
from server_stub.api.answers import caller, nothing, number, read, session_id, stream
from server_stub.engine.events import RunFinished
from server_stub.engine.permissions import Verdict
from server_stub.errors import InvalidArgument
from server_stub.sessions.log import Followed
from server_stub.sessions.run import Run
from server_stub.sessions.service import SessionService
from server_stub.sessions.session import Session

_VERDICTS = {
    approvals.Verdict.DENY: Verdict.DENY,
    approvals.Verdict.ALLOW_ONCE: Verdict.ALLOW_ONCE,
    approvals.Verdict.ALLOW_ALWAYS: Verdict.ALLOW_ALWAYS,
}


class RunRoutes:
    """Handlers of runs."""

    def __init__(self, service: SessionService) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """The routes of this noun."""
        return [
            Route(paths.PROMPT, self.prompt, methods=["POST"]),
            Route(paths.WATCH, self.watch, methods=["GET"]),
            Route(paths.APPROVE, self.approve, methods=["POST"]),
            Route(paths.CANCEL, self.cancel, methods=["POST"]),
        ]

    async def prompt(self, request: Request) -> Response:
        """`POST …/prompt`: begin a run and tell its events. Who goes away does not end it."""
        self._service.get(session_id(request), caller(request))
        wish = await read(request, sessions.Prompt)
        session, run = await self._service.prompt(session_id(request), caller(request), wish.text)
        return stream(_until_result(session, run))

    async def watch(self, request: Request) -> Response:
        """`GET …/watch?cursor=`: the session's events from a cursor on, replayed and then live."""
        events = self._service.follow(session_id(request), caller(request), number(request, "cursor", 0))
        return stream(_watched(events, session_id(request)))

    async def approve(self, request: Request) -> Response:
        """`POST …/approve`."""
        self._service.get(session_id(request), caller(request))
        wish = await read(request, approvals.Approve)
        verdict = _VERDICTS.get(wish.verdict)
        if verdict is None:
            raise InvalidArgument("verdict is 1 (deny), 2 (allow once) or 3 (allow always)")
        self._service.approve(session_id(request), caller(request), wish.ask_id, verdict)
        return nothing()

    async def cancel(self, request: Request) -> Response:
        """`POST …/cancel`."""
        await self._service.cancel(session_id(request), caller(request))
        return nothing()


async def _until_result(session: Session, run: Run) -> AsyncGenerator[list[bytes]]:
    """The events of a run, its result last.

    A reader so slow that the result is no longer kept gets what there is and then the stream's end, which tells
    it that the run ended unseen.
    """
    async with aclosing(session.log.follow(run.first)) as batches:
        async for batch in batches:
            entries = [one.entry for one in batch if one.entry is not None and one.entry.run_id]
            mine = [entry for entry in entries if entry.run_id == run.run_id]
            if mine:
                yield [projection.event(entry, session.session_id).to_json() for entry in mine]
            if len(mine) < len(entries) or any(isinstance(entry.event, RunFinished) for entry in mine):
                return


async def _watched(events: AsyncGenerator[list[Followed]], session_id: str) -> AsyncGenerator[list[bytes]]:
    async with aclosing(events) as batches:
        async for batch in batches:
            yield [projection.watched(one, session_id).to_json() for one in batch]
