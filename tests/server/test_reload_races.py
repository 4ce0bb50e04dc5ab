"""Reloads against runs, approvals, cancels, deletes and edits, in any order: each session stays what it must be.

A pure model says what each session is; after every step the real server, asked over a real socket, must agree. What
overlaps is decided by gates and not by luck: runs stand at a pause or an ask, a reload stands before its swap.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
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
from client.errors import ServerRefused
from tests.support.local import DEADLINE
from tests.support.world import NAMES, SLOTS, Held, Talk, World, loaded, refusal

EXAMPLES = int(os.environ.get("RACES_EXAMPLES", "25"))
names = st.sampled_from(NAMES)
picks = st.integers(0, SLOTS - 1)


class Races(RuleBasedStateMachine):
    """At most three sessions, one disk, and at most one reload that is held."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.talks: list[Talk] = []
        self.held: Held | None = None
        self.writes = 0

    def do(self, action: Any) -> Any:
        return self.runner.run(action)

    def talk(self, pick: int) -> Talk:
        return self.talks[pick % len(self.talks)]

    def free_slot(self) -> int:
        return min(set(range(SLOTS)) - {talk.slot for talk in self.talks})

    def has_room(self) -> bool:
        return len(self.talks) < SLOTS

    def is_held(self, talk: Talk) -> bool:
        return self.held is not None and self.held.talk is talk

    @initialize()
    def two_sessions(self) -> None:
        self.do(self.world.begin())
        for _ in range(2):
            self.create()

    # ------------------------------------------------------------------ sessions

    @precondition(has_room)
    @rule()
    def create(self) -> None:
        self.talks.append(self.do(self.world.create(self.free_slot())))

    @precondition(lambda self: self.talks and self.has_room())
    @rule(pick=picks)
    def clear(self, pick: int) -> None:
        self.talks.append(self.do(self.world.clear(self.talk(pick), self.free_slot())))

    @precondition(lambda self: self.talks)
    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        talk = self.talk(pick)
        self.do(self.world.server.client.delete(talk.session_id))
        self.talks.remove(talk)
        if talk.run is not None:
            self.do(self.world.ended(talk, "cancelled"))
        if self.held is not None and self.held.talk is talk:
            self.held.is_gone = True

    @precondition(lambda self: self.talks)
    @rule(pick=picks)
    def rename(self, pick: int) -> None:
        self.do(self.world.server.client.rename(self.talk(pick).session_id, "another"))

    # ------------------------------------------------------------------ the disk

    @rule(name=names)
    def edit(self, name: str) -> None:
        self.writes += 1
        self.world.write(name, f"{name} {self.writes}")

    @rule(name=names)
    def remove(self, name: str) -> None:
        self.world.remove(name)

    @rule(name=names)
    def spoil(self, name: str) -> None:
        self.world.spoil(name)

    # ------------------------------------------------------------------ runs

    @precondition(lambda self: self.talks)
    @rule(pick=picks, name=names, asks=st.booleans())
    def start_run(self, pick: int, name: str, asks: bool) -> None:
        talk = self.talk(pick)
        if talk.run is None:
            self.do(self.world.start(talk, name, asks=asks))
        else:
            self._is_in_the_way(talk, self.world.server.run(talk.session_id, "no"))

    @precondition(lambda self: self.talks)
    @rule(pick=picks, name=names)
    def load_by_the_tool(self, pick: int, name: str) -> None:
        talk = self.talk(pick)
        if talk.run is None:
            events = self.do(self.world.server.run(talk.session_id, f"load:{name}"))
            talk.state = "completed"
            self._got(talk, name, loaded(events)[-1])

    @precondition(lambda self: any(talk.state == "running" for talk in self.talks))
    @rule()
    def go_on(self) -> None:
        talk = next(talk for talk in self.talks if talk.state == "running")
        events = self.do(self.world.go_on(talk))
        self._got(talk, talk.loads, loaded(events)[-1])

    @precondition(lambda self: any(talk.state == "awaiting" for talk in self.talks))
    @rule(verdict=st.sampled_from([Verdict.ALLOW_ONCE, Verdict.DENY]))
    def answer(self, verdict: Verdict) -> None:
        talk = next(talk for talk in self.talks if talk.state == "awaiting")

        async def answered() -> Any:
            await self.world.server.client.approve(talk.session_id, self.world.open_ask(talk), verdict)
            return await self.world.ended(talk, "completed")

        first, second = loaded(self.do(answered()))
        assert first[1] == (verdict is Verdict.DENY)
        self._got(talk, talk.loads, second)

    @precondition(lambda self: any(talk.run for talk in self.talks))
    @rule()
    def cancel(self) -> None:
        talk = next(talk for talk in self.talks if talk.run)

        async def cancelled() -> None:
            await self.world.server.client.cancel(talk.session_id)
            await self.world.ended(talk, "cancelled")

        self.do(cancelled())

    # ------------------------------------------------------------------ reloads

    @precondition(lambda self: self.talks)
    @rule(pick=picks)
    def reload(self, pick: int) -> None:
        talk = self.talk(pick)
        reload = self.world.server.client.reload_skills(talk.session_id)
        if talk.run is not None:
            self._is_in_the_way(talk, reload)
        elif self.is_held(talk):
            assert self.do(refusal(reload)).reason == "reload_in_flight"
        else:
            report = self.do(reload)
            self._install(talk, dict(self.world.disk))
            assert (report.generation, report.skills) == (talk.generation, len(talk.skills))

    @precondition(lambda self: self.talks)
    @rule(pick=picks, how=st.sampled_from(["sources", "build", "lease"]))
    def reload_that_fails(self, pick: int, how: str) -> None:
        talk, world = self.talk(pick), self.world
        if talk.run is not None or self.held is not None:
            return
        world.faults.on, world.leases.is_ours = how == "sources", how != "lease"
        if how == "build":
            world.workshop.breaks.set()
        refused = self.do(refusal(world.server.client.reload_skills(talk.session_id)))
        world.faults.on, world.leases.is_ours = False, True
        world.workshop.breaks.clear()
        assert refused.reason or refused.code

    @precondition(lambda self: self.held is None and any(talk.run is None for talk in self.talks))
    @rule(pick=picks)
    def begin_reload(self, pick: int) -> None:
        inactive = [talk for talk in self.talks if talk.run is None]
        self.held = self.do(self.world.hold_reload(inactive[pick % len(inactive)]))

    @precondition(lambda self: self.held is not None)
    @rule(has_left=st.booleans())
    def end_reload(self, has_left: bool) -> None:
        held, self.held = self.held, None
        assert held is not None
        talk = held.talk
        if has_left:
            self.do(self.world.leave(held))
        elif held.is_gone:
            assert self.do(refusal(self.world.let_go(held))).status == 404
        elif talk.run is not None:
            self._is_in_the_way(talk, self.world.let_go(held))
        else:
            assert self.do(self.world.let_go(held)).generation == talk.generation + 1
        if not held.is_gone and talk.run is None:
            self._install(talk, held.found)

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def every_session_is_what_it_must_be(self) -> None:
        for talk in self.talks:
            self.do(self.world.check(talk, is_reloading=self.is_held(talk)))
        self.world.check_tools()
        for talk in self.talks:
            self.world.check_told(talk)
        self.world.check_engines(self.talks, self.held)

    def teardown(self) -> None:
        if self.held is not None:
            self.end_reload(has_left=False)
        while self.talks:
            self.delete(0)
        self.world.check_engines([], None)
        _shared, *private = self.world.workshop.built
        assert all(map(self.world.is_closed, private))
        self.do(self.world.end())
        assert not self.do(_stuck())
        self.runner.close()
        self.folder.cleanup()

    def _install(self, talk: Talk, found: dict[str, str]) -> None:
        talk.skills, talk.generation = found, talk.generation + 1

    def _got(self, talk: Talk, name: str, got: tuple[str, bool]) -> None:
        content, is_error = got
        assert is_error == (name not in talk.skills)
        assert is_error or talk.skills[name] in content

    def _is_in_the_way(self, talk: Talk, action: Any) -> None:
        refused: ServerRefused = self.do(refusal(action))
        assert refused.reason == f"session_{talk.state}"
        assert bool(refused.ask_id) == (talk.state == "awaiting")


async def _stuck() -> set["asyncio.Task[Any]"]:
    """The tasks that do not end by themselves; the SSE library's one task of each loop lives as long as the loop."""
    others = {
        task
        for task in asyncio.all_tasks()
        if task is not asyncio.current_task() and "_shutdown_watcher" not in str(task.get_coro())
    }
    return (await asyncio.wait(others, timeout=DEADLINE))[1] if others else set()


@pytest.mark.timeout(300)
def test_no_interleaving_breaks_isolation_the_pin_or_a_failed_reloads_promise() -> None:
    run_state_machine_as_test(
        Races,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=30,
            deadline=None,
            derandomize="RACES_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            phases=[Phase.generate],
        ),
    )
