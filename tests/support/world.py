"""One server whose reloads and runs stop where a test says, and what each of its sessions must be."""

import asyncio
import json
import shutil
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from client.contract.events import Event, RunEnded, ToolReturned
from client.contract.skills import SkillsReload
from client.errors import ServerRefused
from server_stub.engine.engine import Engine
from server_stub.engine.models.recorder import Recorder
from server_stub.engine.models.script import Script
from server_stub.sessions.session import Session
from server_stub.skills.diagnostic import SourceFault
from server_stub.skills.resolve import Resolution
from server_stub.skills.tier import Tier
from tests.support.local import DEADLINE, Local, opened, until
from tests.support.parts import LeaseDesk, Workshop
from tests.support.script import ask, call, rule, say, wait_for, write_script
from tests.support.skills import write_raw_skill, write_skill

NAMES = ("alpha", "beta", "gamma")
SLOTS = 3
"""As many sessions may there be at once."""
_BROKEN = b"---\nname: [\n---\n"


@dataclass
class Faults:
    """Stands between a reload and its resolution; while `on`, every resolution has a source that cannot be read."""

    on: bool = False

    def __call__(self, resolve: Callable[[], Resolution]) -> Callable[[], Resolution]:
        def resolved() -> Resolution:
            resolution = resolve()
            fault = SourceFault(Tier.EXPLICIT, "a folder", "cannot be read")
            return replace(resolution, faults=(fault,)) if self.on else resolution

        return resolved


@dataclass
class Talk:
    """A session as it must be."""

    session_id: str
    slot: int
    skills: dict[str, str]
    """The bodies that its names load."""
    told: frozenset[str]
    """The names that its model was told of, for good."""
    generation: int = 1
    state: str = "idle"
    run: "asyncio.Task[list[Event]] | None" = None
    loads: str = ""
    """What the live run will load by the `Skill` tool when it goes on."""


@dataclass
class Held:
    """A reload that stands between its resolution and its swap."""

    talk: Talk
    found: dict[str, str]
    """What its resolution read."""
    answer: "asyncio.Task[SkillsReload]"
    session: Session
    needs_place: bool
    """The session had no private engine when the reload began."""
    is_gone: bool = False
    """The session was deleted meanwhile."""


class World:
    """The server, its disk, and the ways to act on them. Everything goes through the real client and a real socket."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.arrays: dict[str, str] = {}
        """The one tools array of each session that its model was shown, once `check_tools` has seen it."""
        self.disk: dict[str, str] = {}
        self.faults, self.leases = Faults(), LeaseDesk()
        self.record = root / "record.jsonl"
        script = write_script(
            root / "script.json",
            *(rule(f"load:{name}", [call("Skill", name=name)], [say("read")]) for name in NAMES),
            *(
                rule(f"slow{slot}:{name}", [wait_for(self._gate(slot)), call("Skill", name=name)], [say("read")])
                for name in NAMES
                for slot in range(SLOTS)
            ),
            *(rule(f"ask:{name}", [ask("paint"), call("Skill", name=name)], [say("read")]) for name in NAMES),
        )
        self.workshop = Workshop.of(Script.read(script), Recorder.open(self.record))
        self.server: Local
        self._open = AsyncExitStack()

    async def begin(self) -> None:
        for name in NAMES[:2]:
            self.write(name, f"{name} 0")
        self.startup = dict(self.disk)
        self.server = await self._open.enter_async_context(
            opened(self.root, factory=self.workshop, leases=self.leases, sources=self.faults)
        )

    async def end(self) -> None:
        self.workshop.go.set()
        await self._open.aclose()

    def _gate(self, slot: int) -> Path:
        return self.root / f"go{slot}"

    # ------------------------------------------------------------------ the disk

    def write(self, name: str, body: str) -> None:
        write_skill(self.root / "skills", name, description=f"About {name}.", body=body)
        self.disk[name] = body

    def remove(self, name: str) -> None:
        shutil.rmtree(self.root / "skills" / name, ignore_errors=True)
        self.disk.pop(name, None)

    def spoil(self, name: str) -> None:
        write_raw_skill(self.root / "skills" / name, _BROKEN)
        self.disk.pop(name, None)

    # ------------------------------------------------------------------ sessions

    async def create(self, slot: int) -> Talk:
        return Talk(await self.server.session(), slot, dict(self.startup), frozenset(self.startup))

    async def clear(self, talk: Talk, slot: int) -> Talk:
        made = await self.server.client.clear(talk.session_id)
        return Talk(made.session_id, slot, dict(talk.skills), frozenset(talk.skills))

    async def start(self, talk: Talk, name: str, *, asks: bool) -> None:
        """Begin a run that stops in the middle, and wait until it stands there."""
        self._gate(talk.slot).unlink(missing_ok=True)
        text = f"ask:{name}" if asks else f"slow{talk.slot}:{name}"
        talk.run = asyncio.create_task(self.server.run(talk.session_id, text))
        talk.loads, talk.state = name, "awaiting" if asks else "running"
        session = self.server.inside(talk.session_id)
        await until(lambda: session.state == talk.state)

    async def go_on(self, talk: Talk) -> list[Event]:
        self._gate(talk.slot).touch()
        return await self.ended(talk, "completed")

    async def ended(self, talk: Talk, state: str) -> list[Event]:
        """The events of the run that was live, with its one result at the end."""
        assert talk.run is not None
        async with asyncio.timeout(DEADLINE):
            events = await talk.run
        assert [isinstance(event, RunEnded) for event in events].count(True) == 1
        assert isinstance(events[-1], RunEnded)
        talk.run, talk.state = None, state
        return events

    def open_ask(self, talk: Talk) -> str:
        run = self.server.inside(talk.session_id).run
        assert run is not None
        return next(iter(run.asks))

    async def hold_reload(self, talk: Talk) -> Held:
        """Begin a reload, and wait until it has read the disk and stands before its swap."""
        for event in (self.workshop.is_held, self.workshop.go):
            event.clear()
        self.workshop.holds.set()
        found, session = dict(self.disk), self.server.inside(talk.session_id)
        answer = asyncio.create_task(self.server.client.reload_skills(talk.session_id))
        await self.workshop.until_held()
        return Held(talk, found, answer, session, needs_place=not session.installed.is_private)

    async def let_go(self, held: Held) -> SkillsReload:
        self.workshop.go.set()
        async with asyncio.timeout(DEADLINE):
            return await held.answer

    async def leave(self, held: Held) -> None:
        """The client of a held reload goes away; the server goes on with it."""
        held.answer.cancel()
        await asyncio.wait([held.answer])
        self.workshop.go.set()
        await until(lambda: not held.session.reload_in_flight)

    # ------------------------------------------------------------------ what must hold

    async def check(self, talk: Talk, *, is_reloading: bool) -> None:
        """Palette, table, bodies, state and pin of one session are what they must be."""
        client, session_id = self.server.client, talk.session_id
        palette = {row.name for row in (await client.commands(session_id)).commands}
        assert palette == set(talk.skills)
        table = await client.expansions(session_id)
        assert ({row.name for row in table.expansions}, table.generation) == (set(talk.skills), talk.generation)
        for name, body in talk.skills.items():
            assert body in (await client.expand(session_id, f"/{name}")).text
        info = await client.session(session_id)
        assert (info.state, info.skills_generation) == (talk.state, talk.generation)
        view = await client.model_view(session_id)
        assert {row.tools_sha256 for row in view.requests} <= {view.tools_sha256}
        session = self.server.inside(session_id)
        assert session.reload_in_flight == is_reloading
        assert not session.lock.locked()
        assert not self.is_closed(session.installed.engine)

    def is_closed(self, engine: Engine) -> bool:
        return any(engine is closed for closed in self.workshop.closed)

    def check_tools(self) -> None:
        """Each session's model was shown one tools array only, and that names what the session was told of."""
        arrays: dict[str, set[str]] = {}
        for line in self.record.read_text().splitlines():
            row = json.loads(line)
            arrays.setdefault(row["session_id"], set()).add(row["tools"])
        assert all(len(shown) == 1 for shown in arrays.values())
        self.arrays = {session_id: next(iter(shown)) for session_id, shown in arrays.items()}

    def check_told(self, talk: Talk) -> None:
        array = self.arrays.get(talk.session_id, "")
        assert not array or {name for name in NAMES if name in array} == talk.told

    def check_engines(self, talks: list[Talk], held: Held | None) -> None:
        """Places are taken by private engines and by a reload that will need one; no engine was closed twice."""
        taken = sum(self.server.inside(talk.session_id).installed.is_private for talk in talks)
        taken += held is not None and held.needs_place
        assert self.server.service._engines._private == taken
        assert len(self.workshop.closed) == len({id(engine) for engine in self.workshop.closed})


async def refusal(action: Coroutine[Any, Any, object]) -> ServerRefused:
    """The refusal that an action must end in."""
    try:
        answer = await action
    except ServerRefused as refused:
        return refused
    raise AssertionError(f"it was not refused: {answer}")


def loaded(events: list[Event]) -> list[tuple[str, bool]]:
    """What the model got by its tool calls: text, and whether it is an error."""
    results = [event.tool_result for event in events if isinstance(event, ToolReturned)]
    return [(result.content, result.is_error) for result in results]
