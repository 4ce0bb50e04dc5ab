"""Handlers of sessions: create, list, look, rename, clear, close."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from client.contract import paths, sessions
from server_stub.api import projection
from server_stub.api.answers import answer, caller, nothing, number, read, session_id
from server_stub.engine.permissions import Mode
from server_stub.errors import InvalidArgument
from server_stub.sessions.service import SessionService

_PAGE = 50
_LONGEST_PAGE = 500


class SessionRoutes:
    """Handlers of sessions."""

    def __init__(self, service: SessionService) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """The routes of this noun."""
        return [
            Route(paths.SESSIONS, self.create, methods=["POST"]),
            Route(paths.SESSIONS, self.list, methods=["GET"]),
            Route(paths.SESSION, self.get, methods=["GET"]),
            Route(paths.SESSION, self.delete, methods=["DELETE"]),
            Route(paths.DELETE, self.delete, methods=["POST"]),
            Route(paths.TRANSCRIPT, self.transcript, methods=["GET"]),
            Route(paths.RENAME, self.rename, methods=["POST"]),
            Route(paths.CLEAR, self.clear, methods=["POST"]),
            Route(paths.MODE, self.mode, methods=["POST"]),
            Route(paths.MODEL_VIEW, self.model_view, methods=["GET"]),
        ]

    async def create(self, request: Request) -> Response:
        """`POST /v1/sessions`."""
        wish = await read(request, sessions.CreateSession)
        mode = _mode(wish.mode) if wish.mode else Mode.DEFAULT
        model = wish.model_id or wish.provider_id
        session = await self._service.create(caller(request), mode=mode, profile=wish.profile, model=model)
        return answer(projection.session_created(session, self._service.model_name), 201)

    async def list(self, request: Request) -> Response:
        """`GET /v1/sessions`: a page, latest change first."""
        owned = self._service.sessions(caller(request))
        start = number(request, "cursor", 0)
        size = min(number(request, "page_size", _PAGE) or _PAGE, _LONGEST_PAGE)
        page = owned[start : start + size]
        return answer(
            sessions.SessionList(
                sessions=tuple(projection.session_summary(one, self._service.model_name) for one in page),
                next_cursor=str(start + size) if start + size < len(owned) else "",
                total_count=len(owned),
            )
        )

    async def get(self, request: Request) -> Response:
        """`GET /v1/sessions/{id}`."""
        session = self._service.get(session_id(request), caller(request))
        return answer(projection.session_info(session, self._service.model_name))

    async def transcript(self, request: Request) -> Response:
        """`GET …/transcript`."""
        return answer(projection.transcript(self._service.get(session_id(request), caller(request))))

    async def delete(self, request: Request) -> Response:
        """`DELETE /v1/sessions/{id}` and `POST …/delete`: a session lives in memory, so to close it is to delete it."""
        await self._service.delete(session_id(request), caller(request))
        return nothing()

    async def rename(self, request: Request) -> Response:
        """`POST …/rename`."""
        self._service.get(session_id(request), caller(request))
        wish = await read(request, sessions.RenameSession)
        session = self._service.rename(session_id(request), caller(request), wish.title)
        return answer(projection.session_info(session, self._service.model_name))

    async def clear(self, request: Request) -> Response:
        """`POST …/clear`: a new session on this one's skills, advertised afresh."""
        session = await self._service.clear(session_id(request), caller(request))
        return answer(projection.session_created(session, self._service.model_name), 201)

    async def mode(self, request: Request) -> Response:
        """`POST …/mode`."""
        self._service.get(session_id(request), caller(request))
        wish = await read(request, sessions.SetMode)
        session = self._service.set_mode(session_id(request), caller(request), _mode(wish.mode))
        return answer(projection.session_info(session, self._service.model_name))

    async def model_view(self, request: Request) -> Response:
        """`GET …/model-view`: what the model is told, and the proof that it did not move."""
        return answer(projection.model_view(self._service.get(session_id(request), caller(request))))


def _mode(wire: sessions.PermissionMode) -> Mode:
    mode = projection.MODES_BY_NUMBER.get(wire)
    if mode is None:
        raise InvalidArgument("mode is 1 (default), 2 (plan) or 3 (accept edits)")
    return mode
