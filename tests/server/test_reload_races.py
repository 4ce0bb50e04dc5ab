"""Reloads against prompts, approvals, cancels, deletes, edits and each other, in any order.

A model says what each session is; after every step the real server, asked over a real socket, must say the same.
What overlaps is decided by what hypothesis draws and not by luck: a run stands still before it loads a skill, a
reload at any of four places, until a later step lets it go on. In the end the server stops with all of it under way.

`RACES=n` in the environment plays n examples drawn anew instead of the same few each time.
"""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from client.contract.approvals import Verdict
from server_stub.api.door import LOCAL_CALLER
from tests.support.local import until
from tests.support.race_model import (
    ABSENT,
    DRAINING,
    FAILURES,
    NAMES,
    SLOTS,
    Held,
    Model,
    Refusal,
    Talk,
    report,
)
from tests.support.stops import Place, Stop
from tests.support.world import Standing, World, gone, outcome, within

MOST_HELD = 2
"""Reloads that stand still at once; half the server's threads."""


class RunEnding(Enum):
    """What becomes of a run that stands still."""

    GO_ON = "its wait is over, or its ask is allowed"
    DENY = "its wait is over, or its ask is denied"
    CANCEL = "it is cancelled"


names = st.sampled_from(NAMES)
picks = st.sampled_from([0, 0, 0, *range(SLOTS + MOST_HELD)])
"""Which of those that a step fits, in the order of `Races.those`: mostly the first."""

places = st.sampled_from(Place)

Fits = Callable[["Races", Talk], bool]


def acting(body: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Let a step wait: the machine owns the loop in which the server runs."""

    @wraps(body)
    def step(self: "Races", **drawn: Any) -> None:
        self.is_sound = False
        self.runner.run(body(self, **drawn))  # type: ignore[arg-type]
        self.is_sound = True

    return step


def some(fits: Fits) -> Callable[[Any], Any]:
    """Only where there is a session like this."""
    return precondition(lambda self: bool(self.those(fits)))


def anyone(self: "Races", talk: Talk) -> bool:
    del self, talk
    return True


def nameless(self: "Races", talk: Talk) -> bool:
    del self
    return not talk.title


def at_rest(self: "Races", talk: Talk) -> bool:
    """A prompt is taken, and at once."""
    held = self.model.held_for(talk)
    return not talk.loads and not (held and held.is_locked)


def live(self: "Races", talk: Talk) -> bool:
    del self
    return bool(talk.loads)


def interruptible(self: "Races", talk: Talk) -> bool:
    return live(self, talk) or at_rest(self, talk)


def reloadable(self: "Races", talk: Talk) -> bool:
    return not talk.loads and self.model.held_for(talk) is None


def waited_for(self: "Races", talk: Talk) -> bool:
    standing = self.standing.get(talk.session_id)
    return talk.session_id in self.world.readers or (standing is not None and not standing.answer.done())


class Races(RuleBasedStateMachine):
    """Up to three sessions, one disk, and up to two reloads that stand still."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.model: Model
        self.standing: dict[str, Standing] = {}
        self.goes_on = False
        """Reloads that stand still at the end end before the server stops."""
        self.is_sound = False
        """The last step did not fail."""

    def those(self, fits: Fits) -> list[Talk]:
        """Sessions that a step fits; first those with a reload under way, so that most of what comes is for them."""
        fit = [talk for talk in self.model.talks if fits(self, talk)]
        return sorted(fit, key=lambda talk: self.model.held_for(talk) is None)

    def one(self, pick: int, fits: Fits) -> Talk:
        fit = self.those(fits)
        return fit[pick % len(fit)]

    def has_room(self) -> bool:
        return len(self.model.talks) < SLOTS

    @initialize(place=places, was_reloaded=st.booleans(), goes_on=st.booleans())
    @acting
    async def begin(self, place: Place, was_reloaded: bool, goes_on: bool) -> None:
        """Two sessions, folders that have moved on since the start, and a reload that stands somewhere."""
        self.goes_on = goes_on
        self.model = await self.world.begin()
        await self._create()
        first = self.model.talks[0]
        if was_reloaded:
            self.model.disk = self.world.write(self.model.disk, NAMES[1])
            await self._reload(first)
        await (self._clear(first) if was_reloaded else self._create())
        self.model.disk = self.world.write(self.model.disk, NAMES[0])
        await self._begin(first, place)

    # ------------------------------------------------------------------ sessions

    @precondition(has_room)
    @rule(cleared=st.none() | st.integers(0, 2))
    @acting
    async def create(self, cleared: int | None) -> None:
        """A session of its own, or one cleared from another."""
        if cleared is None or not self.model.talks:
            await self._create()
        else:
            await self._clear(self.one(cleared, anyone))

    async def _create(self) -> None:
        await self.world.meet(self.model.add(await self.world.server.session()))

    async def _clear(self, parent: Talk) -> None:
        refused = self.model.refused_clear(parent)
        made = await outcome(self.world.server.client.clear(parent.session_id))
        if refused or isinstance(made, Refusal):
            assert made == refused
        else:
            await self.world.meet(self.model.add(made.session_id, parent))

    @some(nameless)
    @rule(pick=picks)
    @acting
    async def rename(self, pick: int) -> None:
        talk = self.one(pick, nameless)
        talk.title = "A name"
        await self.world.server.client.rename(talk.session_id, talk.title)

    @precondition(lambda self: self.model.held or not self.has_room())
    @some(anyone)
    @rule(pick=picks)
    @acting
    async def delete(self, pick: int) -> None:
        talk = self.one(pick, anyone)
        held = self.model.held_for(talk)
        deleting = self.world.server.client.delete(talk.session_id)
        if held and held.is_locked:
            held.is_leaving = True
            self.standing[talk.session_id].delete = asyncio.create_task(deleting)
            await self._until_all_wait(held)
        else:
            await deleting
            await self._gone(talk)
        if held:
            held.is_gone = True
        self.model.talks.remove(talk)
        assert await outcome(self.world.server.client.session(talk.session_id)) == ABSENT

    async def _gone(self, talk: Talk) -> None:
        if talk.session_id in self.world.readers:
            self.world.ended(talk, "cancelled", await self.world.read_to_end(talk))
        await self.world.part(talk)

    async def _until_all_wait(self, held: Held) -> None:
        """Until whoever came for the session waits behind the reload that holds its lock."""
        lock, waiters = self.standing[held.talk.session_id].session.lock, bool(held.prompt) + held.is_leaving
        await until(lambda: len(lock._waiters or ()) == waiters)

    # ------------------------------------------------------------------ the disk

    @rule(name=names, how=st.sampled_from(["edit", "edit", "hide from people", "hide from models", "remove", "spoil"]))
    def change_the_disk(self, name: str, how: str) -> None:
        world, disk = self.world, self.model.disk
        match how:
            case "remove":
                self.model.disk = world.remove(disk, name)
            case "spoil":
                self.model.disk = world.spoil(disk, name)
            case _:
                self.model.disk = world.write(disk, name, user="people" not in how, model="models" not in how)

    # ------------------------------------------------------------------ runs

    @some(anyone)
    @rule(pick=picks, form=st.sampled_from(["hello", "/{} now", "load:{}"]), name=names)
    @acting
    async def say(self, pick: int, form: str, name: str) -> None:
        talk, text = self.one(pick, anyone), form.format(name)
        held = self.model.held_for(talk)
        if not held or not held.is_locked:
            self.world.said(talk, text, await outcome(self.world.server.run(talk.session_id, text)))
        elif not held.prompt:
            held.prompt = text
            self.standing[talk.session_id].prompt = asyncio.create_task(self.world.server.run(talk.session_id, text))
            await self._until_all_wait(held)

    @some(interruptible)
    @rule(pick=picks, name=names, asks=st.booleans(), ending=st.sampled_from(RunEnding))
    @acting
    async def run(self, pick: int, name: str, asks: bool, ending: RunEnding) -> None:
        """Begin a run that stands still before it loads a skill, or see the one that stands there to its end."""
        talk = self.one(pick, interruptible)
        if talk.loads:
            await self._end_run(talk, ending)
        elif ending is RunEnding.CANCEL:
            await self._cancel_before_its_first_step(talk)
        else:
            typed, state = await self.world.start(talk, name, asks=asks)
            talk.begins(typed, state, name)

    async def _end_run(self, talk: Talk, ending: RunEnding) -> None:
        client, was_awaiting = self.world.server.client, talk.state == "awaiting"
        if ending is RunEnding.CANCEL:
            await client.cancel(talk.session_id)
            self.world.ended(talk, "cancelled", await self.world.read_to_end(talk))
            return
        if was_awaiting:
            verdict = Verdict.DENY if ending is RunEnding.DENY else Verdict.ALLOW_ONCE
            await client.approve(talk.session_id, self.world.open_ask(talk), verdict)
        else:
            self.world.let_go(talk)
        await self._loads(talk)
        if was_awaiting:
            assert self.world.results(talk)[0]["is_error"] == (ending is RunEnding.DENY)

    async def _cancel_before_its_first_step(self, talk: Talk) -> None:
        """In one turn of the server's loop, which no two requests can be."""
        service = self.world.server.service
        await service.prompt(talk.session_id, LOCAL_CALLER, "hello")
        await service.cancel(talk.session_id, LOCAL_CALLER)
        talk.begins("hello", "running", "")
        talk.ends("cancelled")

    async def _loads(self, talk: Talk) -> None:
        """The run goes on to its end, and loads its skill on the way."""
        name = talk.loads
        self.world.ended(talk, "completed", await self.world.read_to_end(talk))
        self.world.loaded(talk, name)

    # ------------------------------------------------------------------ reloads

    @some(anyone)
    @rule(pick=picks, fails_at=st.none() | st.none() | places)
    @acting
    async def reload(self, pick: int, fails_at: Place | None) -> None:
        """A reload that nothing comes between. A refusal leaves every answer of the server as it was, byte for byte."""
        await self._reload(self.one(-1 - pick, anyone), fails_at)  # mostly one that has no reload under way

    async def _reload(self, talk: Talk, fails_at: Place | None = None) -> None:
        server = self.world.server
        refused = self.model.refused_reload(talk, fails_at)
        if fails_at and refused == FAILURES[fails_at]:
            stop = Stop(fails_at)
            stop.let_go(fails=True)
            self.world.workshop.stops.set(stop)
        before = await server.everything(talk.session_id)
        answer = await outcome(server.client.reload_skills(talk.session_id))
        assert answer == (refused or report(talk, self.model.disk))
        if refused:
            assert await server.everything(talk.session_id) == before
        else:
            talk.installs_now(self.model.disk.skills)

    @rule(pick=picks, place=places, fails=st.sampled_from([False, False, True]))
    @acting
    async def reload_by_halves(self, pick: int, place: Place, fails: bool) -> None:
        """Begin a reload that stands still, or see one that stands somewhere to its end."""
        held = self.model.held
        talks = self.those(reloadable) if len(held) < MOST_HELD else []
        at = pick % max(1, len(held) + len(talks))
        if at < len(held):
            await self._let_go(held[at], fails=fails)
        elif talks:
            await self._begin(talks[at - len(held)], place)

    async def _begin(self, talk: Talk, place: Place) -> None:
        if self.model.refused_reload(talk):
            place = Place.LEASE  # it gets no further
        self.standing[talk.session_id] = await self.world.stand(talk, Stop(place))
        self.model.begin_reload(talk, place)

    @some(waited_for)
    @rule(pick=picks)
    @acting
    async def hang_up(self, pick: int) -> None:
        """Whoever reads a run or waits for a reload goes away; the server goes on with it."""
        talk = self.one(pick, waited_for)
        reader = self.world.readers.pop(talk.session_id, None)
        await gone(reader or self.standing[talk.session_id].answer)

    async def _let_go(self, held: Held, *, fails: bool = False) -> None:
        self.model.held.remove(held)
        await self._end(held, self.model.refused_end(held, fails=fails), fails=fails)

    async def _end(self, held: Held, refused: Refusal | None, *, fails: bool = False) -> None:
        """Let a reload go on, and then whoever waited for the lock."""
        talk, found = held.talk, held.found or self.model.disk
        event(f"{held.place.name} ends with {refused.reason or refused.code if refused else 'an install'}")
        standing = self.standing.pop(talk.session_id)
        standing.stop.let_go(fails=fails)
        if not standing.answer.cancelled():
            assert await outcome(standing.answer) == (refused or report(talk, found))
        await until(lambda: not standing.session.reload_in_flight)
        if not refused:
            talk.installs_now(found.skills)
        if standing.prompt:
            answer = await outcome(standing.prompt)
            if held.is_gone or refused == DRAINING:
                assert answer == (ABSENT if held.is_gone else DRAINING)
            else:
                self.world.said(talk, held.prompt, answer)
        if standing.delete:
            await within(standing.delete)
            await self.world.part(talk)

    # ------------------------------------------------------------------ what must hold

    @invariant()
    @acting
    async def all_is_as_it_must_be(self) -> None:
        await self.world.check(self.model)

    def teardown(self) -> None:
        try:
            if self.is_sound:
                self.runner.run(self._stop())
        finally:
            for standing in self.standing.values():
                standing.stop.let_go()
            self.runner.close()
            self.folder.cleanup()

    async def _stop(self) -> None:
        """The server stops in the midst of it all: runs end as cancelled, and reloads install nothing any more."""
        while self.goes_on and self.model.held:
            await self._let_go(self.model.held[0])
        await self.world.check(self.model)
        sessions = [self.world.inside(talk) for talk in self.model]
        await self.world.server.service.drain()
        for talk in self.model:
            await self._gone(talk)
        self.model.talks.clear()
        while self.model.held:
            held = self.model.held.pop()
            held.talk.loads = ""
            await self._end(held, self.model.refused_end(held, fails=False) or DRAINING)
        await self.world.end()
        self.world.check_engines(self.model)
        assert not any(one.run or one.reload_in_flight or one.lock.locked() for one in sessions)
        assert not await self.world.left_over()


@pytest.mark.timeout(600)
def test_no_interleaving_breaks_isolation_the_pin_or_a_failed_reloads_promise() -> None:
    run_state_machine_as_test(
        Races,
        settings=settings(
            max_examples=int(os.environ.get("RACES", "50")),
            stateful_step_count=25,
            deadline=None,
            derandomize="RACES" not in os.environ,
            database=None,
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow],
            print_blob=True,
            phases=[Phase.generate, Phase.shrink] if "RACES" in os.environ else [Phase.generate],
        ),
    )
