"""A real server in the test's own process, its disk, and whoever sends it requests, as far as races need them."""

import asyncio
import json
import shutil
from collections import defaultdict
from collections.abc import Awaitable, Iterable
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from client.contract import paths
from client.contract.commands import ExpansionTable, Palette
from client.contract.events import Event, RunEnded, RunResult, SkillsReloaded
from client.contract.events import Stop as Stopped
from client.contract.model_view import ModelView
from client.contract.sessions import SessionInfo, SessionList, Transcript
from client.contract.skills import SkillListing, SkillsReload
from client.errors import ServerRefused
from server_stub.config import Limits
from server_stub.engine.models.recorder import Recorder
from server_stub.engine.models.script import Script
from server_stub.sessions.session import Session
from tests.support.local import DEADLINE, Local, answer_of, connected, opened, until
from tests.support.race_model import NAMES, PLACES, SLOTS, Disk, Model, Refusal, Talk, Version
from tests.support.script import ask, call, rule, say, wait_for, write_script
from tests.support.session import Shown
from tests.support.skills import write_raw_skill, write_skill
from tests.support.stops import Stop, StoppingWorkshop

T = TypeVar("T")

_STOPS = {"completed": Stopped.END_TURN, "cancelled": Stopped.CANCELLED}

_BROKEN = b"---\nname: [\n---\nnot served\n"


@dataclass
class Watcher:
    """Somebody who watches a session from its beginning."""

    task: "asyncio.Task[None] | None" = None
    installs: list[int] = field(default_factory=list)
    ended: int = 0


@dataclass
class Standing:
    """A reload that stands still on the server, and who waits for it."""

    stop: Stop
    session: Session
    answer: "asyncio.Task[SkillsReload]"
    prompt: "asyncio.Task[list[Event]] | None" = None
    delete: "asyncio.Task[None] | None" = None


class World:
    """Acts on the server through the real client and a real socket, and compares both with a model."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workshop = StoppingWorkshop.of(Script.read(self._script()), Recorder.open(root / "record.jsonl"))
        self.readers: dict[str, asyncio.Task[list[Event]]] = {}
        """Who reads a live run, by its session."""
        self.watchers: dict[str, Watcher] = defaultdict(Watcher)
        self.pins: dict[str, str] = {}
        """The digest of the tools array that each session began with, whether it is still there or not."""
        self.shown: dict[str, list[Shown]] = defaultdict(list)
        """What the model was shown, by session, as far as it was looked at."""
        self._looked_at = 0
        self._written = 0
        self._server = AsyncExitStack()
        self.server: Local

    def _script(self) -> Path:
        """Runs that load a skill: at once, when a file is there, or when a person has answered."""
        rules = []
        for name in NAMES:
            turns = [[call("Skill", name=name)], [say("I have read it.")]]
            rules.append(rule(f"load:{name}", *turns))
            rules.append(rule(f"ask:{name}", [ask("paint")], *turns))
            rules += [rule(f"wait{n}:{name}", [wait_for(self._gate(n)), *turns[0]], turns[1]) for n in range(SLOTS)]
        return write_script(self.root / "script.json", *rules)

    def _gate(self, slot: int) -> Path:
        return self.root / f"go{slot}"

    async def begin(self) -> Model:
        disk = Disk()
        for name in NAMES[:2]:
            disk = self.write(disk, name)
        stops = self.workshop.stops
        limits = Limits(private_engines=PLACES)
        opening = opened(self.root, factory=self.workshop, leases=stops, sources=stops.sources, limits=limits)
        self.server = await self._server.enter_async_context(opening)
        return Model(disk.skills, disk)

    async def end(self) -> None:
        await self._server.aclose()

    # ------------------------------------------------------------------ the disk

    def write(self, disk: Disk, name: str, *, user: bool = True, model: bool = True) -> Disk:
        """Write a version that there was not before."""
        self._written += 1
        version = Version(f"About {name}, {self._written}.", f"Do {name} {self._written}.", user, model)
        hidden: dict[str, object] = {} if user else {"user_invocable": False}
        hidden |= {} if model else {"disable_model_invocation": True}
        write_skill(self.root / "skills", name, description=version.description, body=version.body, **hidden)
        return disk.but(name, version)

    def remove(self, disk: Disk, name: str) -> Disk:
        shutil.rmtree(self.root / "skills" / name, ignore_errors=True)
        return disk.but(name)

    def spoil(self, disk: Disk, name: str) -> Disk:
        write_raw_skill(self.root / "skills" / name, _BROKEN)
        return disk.but(name, is_broken=True)

    # ------------------------------------------------------------------ sessions

    def inside(self, talk: Talk) -> Session:
        return self.server.inside(talk.session_id)

    async def meet(self, talk: Talk) -> None:
        """See what a new session's model is told, and watch it from now on."""
        view = await self.server.client.model_view(talk.session_id)
        assert _listed(view) == [f"- {name}: {description}" for name, description in talk.told.items()]
        self.pins[talk.session_id] = view.tools_sha256
        log = self.inside(talk).log
        self.watchers[talk.session_id].task = asyncio.create_task(self._watch(talk.session_id))
        await until(lambda: bool(log._followers))

    async def _watch(self, session_id: str) -> None:
        watcher = self.watchers[session_id]
        async with aclosing(self.server.client.watch(session_id)) as events:
            async for watched in events:
                match watched.event:
                    case SkillsReloaded(generation=generation):
                        watcher.installs.append(generation)
                    case RunEnded():
                        watcher.ended += 1

    async def part(self, talk: Talk) -> None:
        """See the watch of a deleted session end."""
        task = self.watchers.pop(talk.session_id).task
        assert task is not None
        await within(task)

    # ------------------------------------------------------------------ runs

    async def start(self, talk: Talk, name: str, *, asks: bool) -> tuple[str, str]:
        """Begin a run that stands still before it loads a skill; gives what was typed, and the session's state."""
        self._gate(talk.slot).unlink(missing_ok=True)
        text, state = (f"ask:{name}", "awaiting") if asks else (f"wait{talk.slot}:{name}", "running")
        self.readers[talk.session_id] = asyncio.create_task(self.server.run(talk.session_id, text))
        session = self.inside(talk)
        await until(lambda: session.state == state)
        return text, state

    def let_go(self, talk: Talk) -> None:
        self._gate(talk.slot).touch()

    async def read_to_end(self, talk: Talk) -> list[Event] | None:
        """What the reader of a run was told; None where nobody reads it."""
        reader = self.readers.pop(talk.session_id, None)
        if reader is not None:
            return await within(reader)
        session = self.inside(talk)
        await until(lambda: session.run is None)
        return None

    def said(self, talk: Talk, text: str, answer: list[Event] | Refusal) -> None:
        """A prompt was refused for the run in its way, or ran to its end on what the session has."""
        if talk.in_the_way or isinstance(answer, Refusal):
            assert answer == talk.in_the_way
            return
        talk.begins(text, "running", "")
        self.ended(talk, "completed", answer)
        assert self.prompts_shown(talk)[-1] == talk.expanded(text)
        if text.startswith("load:"):
            self.loaded(talk, text.removeprefix("load:"))

    def loaded(self, talk: Talk, name: str) -> None:
        """The last run loaded a skill, or learnt that it could not."""
        result = self.results(talk)[-1]
        talk.assert_loaded(name, result["content"], is_error=result["is_error"])

    def ended(self, talk: Talk, state: str, events: list[Event] | None) -> None:
        """A run ended so, and its reader, where it has one, was told so."""
        talk.ends(state)
        if events is not None:
            assert one_result(events).stop is _STOPS[state]

    def open_ask(self, talk: Talk) -> str:
        run = self.inside(talk).run
        assert run is not None
        return next(iter(run.asks))

    def results(self, talk: Talk) -> list[dict[str, Any]]:
        """What the model was shown of the tools that the last run called."""
        self.look()
        messages = self.shown[talk.session_id][-1].messages
        return [message for message in messages[_last_prompt(messages) :] if message["role"] == "tool"]

    def prompts_shown(self, talk: Talk) -> list[str]:
        """What the model was shown, last of all, of the prompts so far; one that was cancelled early may lack."""
        self.look()
        shown = self.shown[talk.session_id]
        return [message["content"] for message in shown[-1].messages if message["role"] == "user"] if shown else []

    # ------------------------------------------------------------------ reloads

    async def stand(self, talk: Talk, stop: Stop) -> Standing:
        """Begin a reload, and wait until it stands where it shall."""
        self.workshop.stops.set(stop)
        answer = asyncio.create_task(self.server.client.reload_skills(talk.session_id))
        await until(lambda: stop.is_reached.is_set() or answer.done())
        assert not answer.done(), "the reload did not come by the place where it should stand"
        return Standing(stop, self.inside(talk), answer)

    # ------------------------------------------------------------------ what must hold

    async def check(self, model: Model) -> None:
        """All that the server says, and all that the model behind it was shown, is as it must be."""
        listed, *answers = await self._said_of(model.talks)
        assert {row.session_id for row in SessionList.from_json(listed).sessions} == {one.session_id for one in model}
        for talk in model:
            check_listings(talk, *answers[:3])
            self._check_session(talk, *answers[3:6])
            del answers[:6]
            await self._check_watcher(talk)
            held, session = model.held_for(talk), self.inside(talk)
            assert session.reload_in_flight == (held is not None)
            assert session.lock.locked() == (held is not None and held.is_locked)
        self.look()
        self.check_engines(model)

    async def _said_of(self, talks: Iterable[Talk]) -> list[bytes]:
        """The list of sessions and six answers on each, over one connection and asked for all at once."""
        places = [paths.SESSIONS]
        for talk in talks:
            query, base = f"?session_id={talk.session_id}", f"{paths.SESSIONS}/{talk.session_id}"
            places += [f"{paths.COMMANDS}{query}", f"{base}/expansions", f"{paths.SKILLS}{query}"]
            places += [base, f"{base}/transcript", f"{base}/model-view"]
        reader, writer = await connected(self.server.address)
        writer.writelines(f"GET {place} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode() for place in places)
        answers = [await answer_of(reader) for _ in places]
        writer.close()
        assert {status for status, _, _ in answers} == {200}
        return [body for _, _, body in answers]

    def _check_session(self, talk: Talk, info: bytes, transcript: bytes, view: bytes) -> None:
        """State, generation, title, conversation, and the digests of what was sent."""
        told = SessionInfo.from_json(info)
        assert (told.state, told.skills_generation) == (talk.state, talk.generation)
        assert told.title_metadata.title == talk.title
        messages = Transcript.from_json(transcript).messages
        assert [message.text for message in messages if message.role == "user"] == talk.typed
        proof = ModelView.from_json(view)
        assert {proof.tools_sha256, *(row.tools_sha256 for row in proof.requests)} == {self.pins[talk.session_id]}

    async def _check_watcher(self, talk: Talk) -> None:
        """Whoever watches was told of each reload and of each run's end, once."""
        watcher = self.watchers[talk.session_id]
        with suppress(TimeoutError):
            await until(lambda: (watcher.installs, watcher.ended) == (talk.installs, talk.ended))
        assert (watcher.installs, watcher.ended) == (talk.installs, talk.ended)

    def look(self) -> None:
        """Read on in what the model was shown: each tools array is, byte for byte, that of its session's beginning."""
        with (self.root / "record.jsonl").open("rb") as record:
            record.seek(self._looked_at)
            for line in record:
                row = json.loads(line)
                assert sha256(row["tools"].encode()).hexdigest() == self.pins[row["session_id"]]
                self.shown[row["session_id"]].append(Shown(row["tools"], row["body"]))
            self._looked_at = record.tell()

    def check_engines(self, model: Model) -> None:
        """Private engines are counted, and closed once, when nobody can use them any more."""
        assert self.server.service._engines._private == model.places
        closed = [id(engine) for engine in self.workshop.closed]
        assert len(closed) == len(set(closed))
        shared, *private = (id(engine) for engine in self.workshop.built)
        assert shared not in closed
        assert len(set(private) - set(closed)) == model.open_engines
        assert not {id(self.inside(talk).installed.engine) for talk in model.talks} & set(closed)

    async def left_over(self) -> set["asyncio.Task[Any]"]:
        """Tasks that do not end by themselves; the one of the SSE library lives as long as its loop."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        others = {task for task in tasks if "_shutdown_watcher" not in repr(task)}
        return (await asyncio.wait(others, timeout=DEADLINE))[1] if others else set()


def check_listings(talk: Talk, palette: bytes, expansions: bytes, skills: bytes) -> None:
    """Palette, expansion table and listing of a session are of its generation, and of no other session's."""
    assert {row.name: row.description for row in Palette.from_json(palette).commands} == talk.palette
    table, listing = ExpansionTable.from_json(expansions), SkillListing.from_json(skills)
    assert (table.generation, listing.generation) == (talk.generation, talk.generation)
    assert {row.name: row.body_sha256 for row in table.expansions} == {
        name: _digest(version) for name, version in talk.skills.items() if version.user
    }
    assert _rows(listing) == {
        name: (_digest(version), version.user, version.model, name in talk.told)
        for name, version in talk.skills.items()
    }
    assert {row.name for row in listing.skills if not row.in_inventory} == talk.told.keys() - talk.skills.keys()


def one_result(events: list[Event]) -> RunResult:
    """The result of a run: the only one, and the last that is told of it."""
    assert [index for index, event in enumerate(events) if isinstance(event, RunEnded)] == [len(events) - 1]
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last.result


async def within(task: Awaitable[T]) -> T:
    """What a task gives, soon."""
    async with asyncio.timeout(DEADLINE):
        return await task


async def gone(task: "asyncio.Task[Any]") -> None:
    """Whoever waits goes away."""
    task.cancel()
    await asyncio.wait([task])


async def outcome(action: Awaitable[T]) -> T | Refusal:
    """What an action gives, soon, or how it is refused."""
    try:
        async with asyncio.timeout(DEADLINE):
            return await action
    except ServerRefused as refused:
        return Refusal(refused.status, refused.code, refused.reason)


def _listed(view: ModelView) -> list[str]:
    lines: Iterable[str] = (
        line for tool in view.tools if tool.name == "Skill" for line in tool.description.splitlines()
    )
    return [line for line in lines if line.startswith("- ")]


def _rows(listing: SkillListing) -> dict[str, tuple[str, bool, bool, bool]]:
    return {
        row.name: (row.body_sha256, row.user_invocable, row.model_invocable, row.advertised)
        for row in listing.skills
        if row.in_inventory
    }


def _digest(version: Version) -> str:
    return sha256(version.body.encode()).hexdigest()


def _last_prompt(messages: list[dict[str, Any]]) -> int:
    return max(at for at, message in enumerate(messages) if message["role"] == "user")
