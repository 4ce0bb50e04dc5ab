"""One server in the test's own process, what each of its sessions must be, and ways to act on both."""

import asyncio
import json
import shutil
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from client.contract.events import Event, RunEnded, SkillsReloaded, ToolReturned, Watched
from client.contract.skills import SkillRow
from client.errors import ServerRefused
from server_stub.api.door import LOCAL_CALLER
from server_stub.config import Limits
from server_stub.engine.models.recorder import Recorder
from server_stub.engine.models.script import Script
from server_stub.sessions.session import Session
from tests.support.local import DEADLINE, Local, opened, until
from tests.support.script import ask, call, rule, say, wait_for, write_script
from tests.support.session import Shown
from tests.support.skills import write_raw_skill, write_skill
from tests.support.stops import Stop, StoppingWorkshop

NAMES = ("alpha", "beta", "gamma")
PLACES = 2
"""Private engines that the server may have: one fewer than there are sessions."""


@dataclass(frozen=True)
class Version:
    """A skill as it was written."""

    description: str
    body: str
    user: bool = True
    """The user may invoke it."""
    model: bool = True
    """The model may."""


@dataclass
class Talk:
    """A session as it must be."""

    session_id: str
    skills: dict[str, Version]
    """What its names load."""
    told: dict[str, str]
    """The names that its model was told of, with their descriptions, for good."""
    is_private: bool = False
    """It has an engine of its own."""
    pin: str = ""
    """The digest of the tools array that it began with."""
    generation: int = 1
    state: str = "idle"
    title: str = ""
    typed: list[str] = field(default_factory=list)
    run: "Live | None" = None
    watch: "Watch" = field(default_factory=lambda: Watch())
    installs: list[int] = field(default_factory=list)
    """Generations that whoever watches was told of."""
    ended: int = 0
    """Runs that are over."""

    @property
    def palette(self) -> dict[str, str]:
        return {name: version.description for name, version in self.skills.items() if version.user}

    def installed(self, found: dict[str, Version]) -> None:
        self.skills, self.is_private, self.generation = found, True, self.generation + 1
        self.installs.append(self.generation)

    def prompted(self, text: str) -> None:
        self.typed.append(text)
        self.title = self.title or text

    def expanded(self, text: str) -> str:
        """What the model is shown for a typed text: with the body of the skill that it invokes."""
        name, _, arguments = text.removeprefix("/").partition(" ")
        if not text.startswith("/") or name not in self.palette:
            return text
        return f"{self.skills[name].body}\n\nArguments:\n{arguments}"

    def check_loaded(self, name: str, result: tuple[str, bool]) -> None:
        """What the model got when it called `Skill{name}`."""
        content, is_error = result
        version = self.skills.get(name) if self.told else None
        if version and version.model:
            assert (content, is_error) == (f"Skill: {name}\n\n{version.body}", False)
            return
        assert is_error
        if self.told:
            error = json.loads(content)
            assert error["error_type"] == ("permission_denied" if version else "skill_not_found")
            there = {one for one in self.told if one in self.skills and self.skills[one].model}
            assert version or {one for one in NAMES if one in error["message"]} == there


@dataclass
class Live:
    """A run that stands still, and what it does when it goes on."""

    reader: "asyncio.Task[list[Event]]"
    loads: str
    go: Path
    is_read: bool = True
    """Its reader has not gone away."""


@dataclass
class Watch:
    """What a reader who watches a session all the time was told."""

    task: "asyncio.Task[None] | None" = None
    seen: list[Watched] = field(default_factory=list)

    @property
    def installs(self) -> list[int]:
        return [one.event.generation for one in self.seen if isinstance(one.event, SkillsReloaded)]

    @property
    def ended(self) -> int:
        return sum(isinstance(one.event, RunEnded) for one in self.seen)


class World:
    """The server, its disk and its sessions. Everything goes through the real client and a real socket."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.disk: dict[str, Version] = {}
        self.broken: set[str] = set()
        self.workshop = StoppingWorkshop.of(Script.read(self._script()), Recorder.open(root / "record.jsonl"))
        self.stops = self.workshop.stops
        self.shown: dict[str, list[Shown]] = defaultdict(list)
        """What the model was shown, by session, as far as `look` has read it."""
        self._read = 0
        self._count = 0
        self._open = AsyncExitStack()
        self.server: Local

    def _script(self) -> Path:
        """Runs that load a skill: at once, when a file is there, or when a person has answered."""
        rules = [rule(f"load:{name}", [call("Skill", name=name)], [say("read")]) for name in NAMES]
        for name in NAMES:
            load = call("Skill", name=name)
            rules.append(rule(f"ask:{name}", [ask("paint"), load], [say("read")]))
            rules += [rule(f"wait{n}:{name}", [wait_for(self._gate(n)), load], [say("read")]) for n in range(10)]
        return write_script(self.root / "script.json", *rules)

    def _gate(self, number: int) -> Path:
        return self.root / f"go{number}"

    async def begin(self) -> None:
        for name in NAMES[:2]:
            self.write(name)
        self.startup = dict(self.disk)
        self.server = await self._open.enter_async_context(
            opened(
                self.root,
                factory=self.workshop,
                leases=self.stops,
                sources=self.stops.sources,
                limits=Limits(private_engines=PLACES),
            )
        )

    async def end(self) -> None:
        await self._open.aclose()

    # ------------------------------------------------------------------ the disk

    def write(self, name: str, *, user: bool = True, model: bool = True) -> None:
        """A version that there was not before."""
        self._count += 1
        version = Version(f"About {name}, {self._count}.", f"Do {name} number {self._count}.", user, model)
        flags: dict[str, object] = {} if user else {"user_invocable": False}
        flags |= {} if model else {"disable_model_invocation": True}
        write_skill(
            self.root / "skills", name, description=version.description, body=version.body, files=None, **flags
        )
        self.disk[name] = version
        self.broken.discard(name)

    def remove(self, name: str) -> None:
        shutil.rmtree(self.root / "skills" / name, ignore_errors=True)
        self.disk.pop(name, None)
        self.broken.discard(name)

    def spoil(self, name: str) -> None:
        write_raw_skill(self.root / "skills" / name, b"---\nname: [\n---\nnot served\n")
        self.disk.pop(name, None)
        self.broken.add(name)

    # ------------------------------------------------------------------ sessions

    async def create(self) -> Talk:
        return await self._met(Talk(await self.server.session(), dict(self.startup), _told(self.startup)))

    async def clear(self, talk: Talk) -> Talk:
        made = await self.server.client.clear(talk.session_id)
        return await self._met(Talk(made.session_id, dict(talk.skills), _told(talk.skills), talk.is_private))

    async def _met(self, talk: Talk) -> Talk:
        view = await self.server.client.model_view(talk.session_id)
        described = [tool.description for tool in view.tools if tool.name == "Skill"]
        assert len(described) == bool(talk.told)
        lines = [line for text in described for line in text.splitlines() if line.startswith("- ")]
        assert lines == [f"- {name}: {talk.told[name]}" for name in sorted(talk.told)]
        talk.pin = view.tools_sha256
        talk.watch.task = asyncio.create_task(self._watch(talk))
        log = self.inside(talk).log
        await until(lambda: bool(log._followers))
        return talk

    async def _watch(self, talk: Talk) -> None:
        async for watched in self.server.client.watch(talk.session_id):
            talk.watch.seen.append(watched)

    def inside(self, talk: Talk) -> Session:
        return self.server.inside(talk.session_id)

    # ------------------------------------------------------------------ runs

    async def run(self, talk: Talk, text: str) -> list[Event]:
        """A run from its prompt to its end; checks what the model was shown of the prompt."""
        return await self.ran(talk, text, await self.server.run(talk.session_id, text))

    async def ran(self, talk: Talk, text: str, events: list[Event]) -> list[Event]:
        """Take in a run that ended by itself."""
        talk.prompted(text)
        self.ended(talk, "completed", events)
        self.look()
        users = [one for one in self.shown[talk.session_id][-1].messages if one["role"] == "user"]
        assert users[-1]["content"] == talk.expanded(text)
        return events

    async def start(self, talk: Talk, name: str, *, asks: bool) -> None:
        """Begin a run that stands still in the middle, and wait until it does."""
        go = next(gate for gate in map(self._gate, range(10)) if not gate.exists())
        self._count += 1
        go = self._gate(self._count % 10)
        go.unlink(missing_ok=True)
        text = f"ask:{name}" if asks else f"wait{self._count % 10}:{name}"
        talk.run = Live(asyncio.create_task(self.server.run(talk.session_id, text)), name, go)
        talk.prompted(text)
        talk.state = "awaiting" if asks else "running"
        session = self.inside(talk)
        await until(lambda: session.state == talk.state)

    def ended(self, talk: Talk, state: str, events: list[Event] | None) -> None:
        """A run is over: its events, unless nobody read them, end in one result, the only one."""
        talk.run, talk.state = None, state
        talk.ended += 1
        if events is not None:
            assert [isinstance(event, RunEnded) for event in events].count(True) == 1
            assert isinstance(events[-1], RunEnded)
