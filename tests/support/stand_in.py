"""A server that answers what a test tells it to, over a real socket, and keeps what it was asked."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    """Undecoded, with the query."""
    headers: dict[str, str]
    body: bytes


@dataclass
class StandIn:
    """Answers every request with `answer`, or by `handler`."""

    answer: bytes = b"{}"
    status: int = 200
    media_type: str = "application/json"
    handler: Handler | None = None
    asked: list[Asked] = field(default_factory=list)

    async def respond(self, request: Request) -> Response:
        raw = request.scope["raw_path"].decode()
        query = request.scope["query_string"].decode()
        path = f"{raw}?{query}" if query else raw
        self.asked.append(Asked(request.method, path, dict(request.headers), await request.body()))
        if self.handler:
            return await self.handler(request)
        return Response(self.answer, status_code=self.status, media_type=self.media_type)

    @property
    def app(self) -> Starlette:
        methods = ["GET", "POST", "DELETE"]
        return Starlette(routes=[Route("/{path:path}", self.respond, methods=methods)])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @property
    def port(self) -> int:
        return int(self.servers[0].sockets[0].getsockname()[1])


@asynccontextmanager
async def serving(app: Starlette, at: Path | None = None) -> AsyncIterator[str]:
    """Serve `app` by uvicorn on a UNIX socket, or on a free loopback port; gives the address."""
    where = {"uds": str(at)} if at else {"host": "127.0.0.1", "port": 0}
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1, **where)
    server = _Server(config)
    task = asyncio.create_task(server.serve())
    await server.ready.wait()
    try:
        yield f"unix:{at}" if at else f"http://127.0.0.1:{server.port}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def raw_server(
    at: Path, talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> AsyncIterator[str]:
    """A server whose bytes a test writes itself; `talk` begins when a request's head has arrived."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_unix_server(connected, str(at))
    try:
        yield f"unix:{at}"
    finally:
        server.close()
        await server.wait_closed()
