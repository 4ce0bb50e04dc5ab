"""Reloads, prompts, approvals, cancels and deletes that really overlap.

Nothing is held here: hypothesis draws what is sent, and after how many turns of the loop. Who wins is open, and with
it a part of the outcome; that the sessions are whole afterwards, and strangers to each other, is not.

`RACES=n` in the environment plays n examples drawn anew instead of the same few each time.
"""

import asyncio
import os
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import assert_never

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from client.contract.approvals import Verdict
from client.contract.events import Event, Stop, ToolReturned
from client.contract.sessions import SessionInfo
from client.contract.skills import SkillsReload
from server_stub.sessions.session import Session
from tests.support.local import until
from tests.support.race_model import ABSENT, NAMES, RELOADING, Model, Refusal, Talk, Version
from tests.support.world import World, gone, one_result, outcome

NAME = NAMES[0]
IN_THE_WAY = {Refusal(412, "failed_precondition", f"session_{state}") for state in ("running", "awaiting")}
NO_RUN = Refusal(409, "no_active_run")
NOT_PENDING = Refusal(409, "ask_not_pending")


class Sent(Enum):
    """What is sent; the text of a prompt is its value."""

    HELLO = "hello"
    SLASH = f"/{NAME} now"
    LOAD = f"load:{NAME}"
    ASK = f"ask:{NAME}"
    RELOAD = "a reload"
    HANG_UP = "a reload whose caller goes away"
    ALLOW = "the answer to whatever is asked"
    CANCEL = "a cancel"
    DELETE = "a delete"


@dataclass(frozen=True)
class Act:
    """Something sent for one of two sessions, so many turns of the loop after the round began."""

    sent: Sent
    of: int
    after: int


weights = [*Sent, Sent.RELOAD, Sent.RELOAD, Sent.HANG_UP, Sent.LOAD, Sent.SLASH]
rounds = st.lists(
    # A reload or a short run takes some dozens of turns.
    st.lists(st.builds(Act, st.sampled_from(weights), st.integers(0, 1), st.integers(0, 60)), min_size=4, max_size=12),
    min_size=1,
    max_size=3,
)


@dataclass
class One:
    """A session, and what became of all that one round sent for it."""

    talk: Talk
    session: Session
    is_deleted: bool = False
    may_be_cancelled: bool = False
    installs: list[int] = field(default_factory=list)
    """Generations that reloads answered with."""
    hung_up: int = 0
    """Reloads whose answer nobody took."""
    runs: list[tuple[str, list[Event]]] = field(default_factory=list)
    """What was typed, and the events of the run that it began."""

    @property
    def asks(self) -> list[str]:
        return list(self.session.run.asks) if self.session.run else []

    @property
    def absent(self) -> set[Refusal | None]:
        return {ABSENT} if self.is_deleted else set()

    def reloaded(self, answer: SkillsReload | Refusal) -> None:
        if isinstance(answer, Refusal):
            assert answer in {*IN_THE_WAY, RELOADING, *self.absent}
        else:
            self.installs.append(answer.generation)

    def prompted(self, text: str, answer: list[Event] | Refusal) -> None:
        if isinstance(answer, Refusal):
            assert answer in {*IN_THE_WAY, *self.absent}
        else:
            self.runs.append((text, answer))

    def check_runs(self, before: Version, after: Version) -> None:
        """Each run has one result, and loaded the skill as it was or as it is, whatever came meanwhile."""
        whole = [(f"Skill: {NAME}\n\n{version.body}", False) for version in (before, after)]
        for text, events in self.runs:
            stop = one_result(events).stop
            assert stop is Stop.END_TURN or (stop is Stop.CANCELLED and (self.may_be_cancelled or self.is_deleted))
            results = [event.tool_result for event in events if isinstance(event, ToolReturned)]
            if stop is Stop.END_TURN and text in {Sent.LOAD.value, Sent.ASK.value}:
                assert (results[-1].content, results[-1].is_error) in whole

    def check_reloads(self, generation: int) -> None:
        """Each reload that was answered installed one generation of its own; those of others may have come between."""
        assert len(set(self.installs)) == len(self.installs)
        assert set(self.installs) <= set(range(self.talk.generation + 1, generation + 1))
        assert generation - self.talk.generation <= len(self.installs) + self.hung_up

    def check_info(self, info: SessionInfo) -> None:
        """No run is live, and the state is that of the last run."""
        ended = {"cancelled"} if self.may_be_cancelled else set()
        ended |= {"completed"} if self.runs else {self.talk.state}
        assert info.state in ended


@pytest.mark.timeout(600)
@settings(
    max_examples=int(os.environ.get("RACES", "25")),
    deadline=None,
    derandomize="RACES" not in os.environ,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    phases=[Phase.generate, Phase.shrink] if "RACES" in os.environ else [Phase.generate],
)
@given(acts=rounds)
def test_whoever_wins_each_session_is_whole_and_has_no_others_skills(acts: list[list[Act]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(World(Path(folder)), acts))


async def _play(world: World, acts: list[list[Act]]) -> None:
    model = await world.begin()
    for _ in range(2):
        await world.meet(model.add(await world.server.session()))
    both = [One(talk, world.inside(talk)) for talk in model]
    for act in acts:
        model.disk = world.write(model.disk, NAME)
        await _send_all(world, both, act)
        both = [await _settled(world, model, one) for one in both]
        await world.check(model)
        for talk in model:  # each is idle, and so takes a prompt
            world.said(talk, Sent.LOAD.value, await outcome(world.server.run(talk.session_id, Sent.LOAD.value)))
    await world.server.service.drain()
    for talk in model:
        await world.part(talk)
    model.talks.clear()
    await world.end()
    world.check_engines(model)
    assert not await world.left_over()


async def _send_all(world: World, both: list[One], acts: list[Act]) -> None:
    """Send it all and see it all end; what is asked and never answered is cancelled."""
    asking = [asyncio.create_task(_send(world, both[act.of], act)) for act in acts if act.sent is Sent.ASK]
    await asyncio.gather(*(_send(world, both[act.of], act) for act in acts if act.sent is not Sent.ASK))
    while not all(task.done() for task in asking):
        await until(lambda: all(task.done() for task in asking) or any(one.asks for one in both))
        for one in both:
            await _cancel(world, one)
    await asyncio.gather(*asking)
    await world.server.client.info()  # comes after a request whose caller has gone, and which is still on its way
    await until(lambda: not any(one.session.reload_in_flight for one in both))


async def _send(world: World, one: One, act: Act) -> None:
    await _turns(act.after)
    client, session_id = world.server.client, one.talk.session_id
    match act.sent:
        case Sent.HELLO | Sent.SLASH | Sent.LOAD | Sent.ASK as prompt:
            one.prompted(prompt.value, await outcome(world.server.run(session_id, prompt.value)))
        case Sent.RELOAD:
            one.reloaded(await outcome(client.reload_skills(session_id)))
        case Sent.HANG_UP:
            await _hang_up(one, asyncio.create_task(client.reload_skills(session_id)), act.after)
        case Sent.ALLOW:
            for ask_id in one.asks:
                allowed = await outcome(client.approve(session_id, ask_id, Verdict.ALLOW_ONCE))
                assert allowed in {None, NOT_PENDING, *one.absent}
        case Sent.CANCEL:
            await _cancel(world, one)
        case Sent.DELETE:
            one.is_deleted = True
            assert await outcome(client.delete(session_id)) in {None, ABSENT}
        case never:
            assert_never(never)


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def _hang_up(one: One, reload: "asyncio.Task[SkillsReload]", after: int) -> None:
    await _turns(after)
    if reload.done():
        one.reloaded(await outcome(reload))
    else:
        one.hung_up += 1
        await gone(reload)


async def _cancel(world: World, one: One) -> None:
    one.may_be_cancelled = True
    assert await outcome(world.server.client.cancel(one.talk.session_id)) in {None, NO_RUN, *one.absent}


async def _settled(world: World, model: Model, one: One) -> One:
    """What was open becomes in the model what the server says, if that can be; gives the session for another round."""
    talk = one.talk
    before, after = talk.skills[NAME], model.disk.skills[NAME]
    one.check_runs(before, after)
    if one.is_deleted:
        if talk in model.talks:
            model.talks.remove(talk)
            await world.part(talk)
        return One(talk, one.session, is_deleted=True)
    info = await world.server.client.session(talk.session_id)
    one.check_reloads(info.skills_generation)
    one.check_info(info)
    await _settle_prompts(world, one, after)
    while talk.generation < info.skills_generation:
        talk.installs_now(model.disk.skills)
    talk.state = info.state
    talk.ended += len(one.runs)
    return One(talk, one.session)


async def _settle_prompts(world: World, one: One, after: Version) -> None:
    """Each prompt that was taken is there once, and was shown with the skill as it was or as it is."""
    talk = one.talk
    messages = (await world.server.client.transcript(talk.session_id)).messages
    typed = [message.text for message in messages if message.role == "user"]
    begun = len(talk.typed)
    assert typed[:begun] == talk.typed
    assert Counter(typed[begun:]) == Counter(text for text, _ in one.runs)
    slash = {talk.expanded(Sent.SLASH.value), f"{after.body}\n\nArguments:\nnow"}
    for text, shown in zip(typed[begun:], world.prompts_shown(talk)[begun:], strict=False):
        assert shown in (slash if text == Sent.SLASH.value else {text})
    for text in typed[begun:]:
        talk.prompted(text)
