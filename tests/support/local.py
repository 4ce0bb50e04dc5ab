"""The real server in the test's own process, on a real socket, with small limits or with a part of the test's own."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp

from client.contract.events import Event
from client.http_client import HttpClient
from server_stub.api.app import make_app
from server_stub.build import Built, build, skill_options
from server_stub.config import Folders, Limits, Listen, ModelSettings, ServerConfig, SkillSettings
from server_stub.engine.factory import EngineFactory
from server_stub.engine.models.offline import OfflineModel
from server_stub.sessions.engines import Engines
from server_stub.sessions.lease import Leases, SoleProcess
from server_stub.sessions.reload import SkillReload
from server_stub.sessions.runs import Runs
from server_stub.sessions.service import Ceilings, SessionService
from server_stub.sessions.session import Session
from server_stub.sessions.store import MemoryStore
from server_stub.skills.resolve import Resolution
from server_stub.skills.resolver import SkillResolver
from tests.support.script import Rule, write_script
from tests.support.session import Session as RecordedSession
from tests.support.skills import write_skill

DEADLINE = 10.0
"""Seconds within which anything that a test waits for has happened."""


@dataclass
class Local:
    """A server that listens, its service, and two ways to it: our client, and HTTP without it."""

    root: Path
    config: ServerConfig
    service: SessionService
    address: str
    client: HttpClient
    http: httpx.AsyncClient

    @property
    def skills(self) -> Path:
        """The folder given with `--skills-dir`."""
        return self.root / "skills"

    def write(self, name: str, body: str, **more: Any) -> None:
        write_skill(self.skills, name, body=body, **more)

    async def session(self) -> str:
        return (await self.client.create_session()).session_id

    async def recorded(self) -> RecordedSession:
        """A new session, and what its model is shown; not of a server with a factory of the test's own."""
        return await RecordedSession.begin(self.client, self.root / "record.jsonl")

    def inside(self, session_id: str) -> Session:
        """The server's own record of a session."""
        return next(one for one in self.service._store.everyone() if one.session_id == session_id)

    def slow_disk(self, session_id: str, go: threading.Event) -> threading.Event:
        """Let no look at the files bundled with a session's skills end before `go`; gives what says that one began."""
        is_read = threading.Event()

        def slow(*_: object) -> list[tuple[str, int]]:
            is_read.set()
            assert go.wait(DEADLINE)
            return []

        session = self.inside(session_id)
        engine = session.installed.engine
        slowed = replace(engine, expansions=replace(engine.expansions, assets=slow))
        session.installed = replace(session.installed, engine=slowed)
        return is_read

    async def run(self, session_id: str, text: str) -> list[Event]:
        """A prompt's events to its end."""
        async with aclosing(self.client.prompt(session_id, text)) as events:
            return [event async for event in events]

    async def everything(self, session_id: str) -> dict[str, bytes]:
        """The bytes of every answer about a session that a refusal must leave as they were."""
        base = f"/v1/sessions/{session_id}"
        places = [base, f"{base}/transcript", f"{base}/model-view", f"{base}/expansions"]
        places += [f"/v1/commands?session_id={session_id}", f"/v1/skills?session_id={session_id}"]
        return {place: (await self.http.get(place)).content for place in places}


def config_of(root: Path, **changes: Any) -> ServerConfig:
    """A configuration whose folders are all below `root`; `changes` are fields of it."""
    home, workspace = root / "home", root / "project"
    for folder in (home, workspace, root / "skills"):
        folder.mkdir(parents=True, exist_ok=True)
    config = ServerConfig(
        workspace=workspace,
        folders=Folders(home, home / ".config", home / ".local" / "state"),
        listen=Listen(uds=root / "s"),
        skills=SkillSettings((root / "skills",), conventional=False),
    )
    return replace(config, **changes)


Sources = Callable[[Callable[[], Resolution]], Callable[[], Resolution]]
"""Puts something of a test between a reload and its resolution."""


def composed(config: ServerConfig, factory: EngineFactory, leases: Leases, sources: Sources | None = None) -> Built:
    """The composition root's wiring, over a factory and leases of the test's own."""
    resolver = SkillResolver(skill_options(config))
    resolve = sources(resolver) if sources else resolver
    store, limits = MemoryStore(), config.limits
    engines = Engines(factory, resolver.at_startup(), limits.private_engines)
    ceilings = Ceilings(limits.sessions, limits.log_entries)
    service = SessionService(store=store, engines=engines, leases=leases, runs=Runs(limits.turns), ceilings=ceilings)
    reload = SkillReload(
        store=store,
        engines=engines,
        leases=leases,
        resolve=resolve,
        workers=ThreadPoolExecutor(4),
        deadline_seconds=9,
        take_work=service.take_work,
    )
    return Built(make_app(config, service, reload, "test"), service)


def plain_factory() -> EngineFactory:
    """Engines with the offline model, no tools but `Skill`, and no command files."""
    return EngineFactory(model=OfflineModel(), base_tools=(), command_files=(), system="Be brief.")


@asynccontextmanager
async def opened(
    root: Path,
    *,
    rules: Sequence[Rule] = (),
    limits: Limits | None = None,
    token: str = "",
    on_port: bool = False,
    factory: EngineFactory | None = None,
    leases: Leases | None = None,
    sources: Sources | None = None,
    skills: Mapping[str, str] | None = None,
) -> AsyncIterator[Local]:
    """A server whose `--skills-dir` holds `skills` (name to body), on a UNIX socket or on a port of the loopback host.

    With a `factory`, `leases` or `sources` it is wired by `composed`, otherwise by the composition root itself.
    """
    config = config_of(root, limits=limits or Limits(), token=token)
    if on_port:
        config = replace(config, listen=Listen())
    script = write_script(root / "script.json", *rules) if rules else None
    config = replace(config, model=ModelSettings(script=script, record=root / "record.jsonl"))
    for name, body in (skills or {}).items():
        write_skill(root / "skills", name, body=body)
    own = factory or leases or sources
    parts = (factory or plain_factory(), leases or SoleProcess(), sources)
    built = composed(config, *parts) if own else build(config)
    async with listening(built.app, config.listen.uds) as address:
        try:
            async with HttpClient.connect(address, token=token or None) as client, _http(address, token) as http:
                yield Local(root, config, built.service, address, client, http)
        finally:
            await built.service.drain()


@asynccontextmanager
async def listening(app: ASGIApp, at: Path | None = None) -> AsyncIterator[str]:
    """Serve an application by uvicorn on a UNIX socket, or on a free loopback port; gives the address.

    It stops at once, where uvicorn's own way takes some tenths of a second. Streams have to end by themselves.
    """
    where: dict[str, Any] = {"uds": str(at)} if at else {"host": "127.0.0.1", "port": 0}
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", **where)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    try:
        yield f"unix:{at}" if at else f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        for listener in server.servers:
            listener.close()
        for connection in list(server.server_state.connections):
            connection.shutdown()
        while server.server_state.tasks:
            await asyncio.wait(list(server.server_state.tasks), timeout=DEADLINE)


def _http(address: str, token: str) -> httpx.AsyncClient:
    socket = address.removeprefix("unix:") if address.startswith("unix:") else None
    headers = {"authorization": f"Bearer {token}"} if token else {}
    # No certificates: to load them takes longer than all the rest.
    transport = httpx.AsyncHTTPTransport(uds=socket, verify=False)
    return httpx.AsyncClient(
        transport=transport, base_url="http://localhost" if socket else address, headers=headers, timeout=DEADLINE
    )


async def connected(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection whose bytes a test writes itself."""
    if address.startswith("unix:"):
        return await asyncio.open_unix_connection(address.removeprefix("unix:"))
    host, _, port = address.removeprefix("http://").rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def exchange(address: str, *pieces: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send bytes as they are and read one answer: status, headers by lower-case name, body."""
    reader, writer = await connected(address)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return await answer_of(reader)
    finally:
        writer.close()


async def answer_of(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Read one answer that states its length."""
    async with asyncio.timeout(DEADLINE):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        return int(head[0].split()[1]), headers, await reader.readexactly(int(headers.get("content-length", 0)))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it never is.
    """
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - what tests wait for has no event of its own
            await asyncio.sleep(0.002)
