"""The whole HTTP surface as one ASGI application."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from client.contract import paths
from client.contract.sessions import Capabilities, Compatibility, Info
from server_stub.api.answers import answer
from server_stub.api.door import Door
from server_stub.api.failures import on_crash, on_http_error, on_server_error
from server_stub.api.run_routes import RunRoutes
from server_stub.api.session_routes import SessionRoutes
from server_stub.api.skill_routes import SkillRoutes
from server_stub.config import ServerConfig
from server_stub.errors import ServerError
from server_stub.sessions.reload import SkillReload
from server_stub.sessions.service import SessionService

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


def make_app(config: ServerConfig, service: SessionService, reload: SkillReload, build_id: str) -> ASGIApp:
    """Routes, failures and the door, around the use cases."""
    private = config.listen.is_private_socket
    routes = [
        *_about(build_id),
        *SessionRoutes(service).routes(),
        *RunRoutes(service).routes(),
        *SkillRoutes(service, reload, with_paths=private).routes(),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            ServerError: on_server_error,
            HTTPException: on_http_error,
            Exception: on_crash,
        },
    )
    # A redirect would tell the caller a URL made of the host that the caller named.
    app.router.redirect_slashes = False
    return Door(
        app,
        service=service,
        hosts=None if private else _LOOPBACK | {config.listen.host.lower()},
        token=config.token,
        body_limit=config.limits.request_bytes,
    )


def _about(build_id: str) -> list[Route]:
    compatibility = Compatibility(
        api_major=1,
        features=("skills_reload", "expansions", "expand", "model_view", "transcript"),
        capabilities=Capabilities(slash_commands=True, skills=True, skills_reload=True),
    )
    info = Info(build_id=build_id, server_implementation="mecatui")

    async def get_compatibility(_: Request) -> Response:
        return answer(compatibility)

    async def get_info(_: Request) -> Response:
        return answer(info)

    return [Route(paths.COMPATIBILITY, get_compatibility), Route(paths.INFO, get_info)]
