"""Handlers of skills: the palette, the expansion table, listings, one body, and the reload."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from client.contract import commands, paths
from server_stub.api import projection
from server_stub.api.answers import answer, caller, read, read_nothing, session_id
from server_stub.api.listings import Listings, detail
from server_stub.errors import InvalidArgument
from server_stub.sessions.reload import SkillReload
from server_stub.sessions.service import SessionService


class SkillRoutes:
    """Handlers of skills. `with_paths` is true on a private socket only."""

    def __init__(self, service: SessionService, reload: SkillReload, *, with_paths: bool) -> None:
        self._service = service
        self._reload = reload
        self._with_paths = with_paths
        self._listings = Listings()

    def routes(self) -> list[Route]:
        """The routes of this noun."""
        return [
            Route(paths.COMMANDS, self.commands, methods=["GET"]),
            Route(paths.SKILLS, self.skills, methods=["GET"]),
            Route(paths.SKILL, self.skill, methods=["GET"]),
            Route(paths.EXPANSIONS, self.expansions, methods=["GET"]),
            Route(paths.EXPAND, self.expand, methods=["POST"]),
            Route(paths.SKILLS_RELOAD, self.reload, methods=["POST"]),
        ]

    async def reload(self, request: Request) -> Response:
        """`POST …/skills-reload`: reload this session's skills; nothing can be chosen by the caller."""
        self._service.get(session_id(request), caller(request))
        await read_nothing(request)
        report = await self._reload.reload_session_skills(session_id(request), caller(request))
        return answer(projection.reload_report(report))

    async def commands(self, request: Request) -> Response:
        """`GET /v1/commands?session_id=`: the palette."""
        table = self._service.expansions(caller(request), _queried_session(request))
        return _json(await run_in_threadpool(self._listings.palette, table))

    async def skills(self, request: Request) -> Response:
        """`GET /v1/skills`, of a session or of the start."""
        inventory = self._service.inventory(caller(request), _queried_session(request))
        return _json(await run_in_threadpool(self._listings.skills, inventory))

    async def expansions(self, request: Request) -> Response:
        """`GET …/expansions`: the expansion table."""
        session = self._service.get(session_id(request), caller(request))
        installed = session.installed
        table = installed.engine.expansions
        return _json(await run_in_threadpool(self._listings.expansions, table, session.pin, installed.generation))

    async def expand(self, request: Request) -> Response:
        """`POST …/expand`: what a text would become; nothing is run."""
        session = self._service.get(session_id(request), caller(request))
        wish = await read(request, commands.Expand)
        installed = session.installed
        # In a thread, since the files bundled with a skill are looked up on disk.
        expansion = await run_in_threadpool(installed.engine.expansions.expand, wish.text)
        text, name = (expansion.text, expansion.name) if expansion else (wish.text, "")
        return answer(commands.Expanded(text=text, name=name, generation=installed.generation))

    async def skill(self, request: Request) -> Response:
        """`GET …/skills/{name}`: one skill whole, for its owner."""
        session = self._service.get(session_id(request), caller(request))
        which = request.query_params.get("generation", "current")
        if which not in {"current", "previous"}:
            raise InvalidArgument("generation is current or previous")
        previous = which == "previous"
        name = request.path_params["name"]
        skill = self._service.skill(session_id(request), caller(request), name, previous=previous)
        generation = session.installed.generation - previous
        return answer(await run_in_threadpool(detail, skill, generation, with_path=self._with_paths))


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def _queried_session(request: Request) -> str:
    return request.query_params.get("session_id", "")
