"""Each call of the client ends in events, whatever the server does."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from client.contract.approvals import Verdict
from client.contract.commands import CommandKind, CommandRow, Expansion, ExpansionTable, Palette
from client.contract.errors import ErrorBody, ErrorCode, RefusalReason
from client.contract.events import (
    Ask,
    Event,
    MessageDelta,
    PermissionAsked,
    RunEnded,
    RunResult,
    SessionInit,
    SkillsReloaded,
    Stop,
    ToolCall,
    ToolCalled,
    ToolResult,
    ToolReturned,
    TurnEnd,
    UnknownEvent,
    Usage,
    Watched,
)
from client.contract.model_view import ModelView
from client.contract.sessions import Capabilities, Compatibility, CreateSession, SessionCreated, SessionInfo
from client.contract.skills import SkillListing, SkillRow, SkillsReload
from client.errors import ClientError, Outage, ServerRefused, ServerUnreachable, StreamBroken
from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.collaborator import Collaborator
from mecatui.control import Answer, AskedInVain
from mecatui.controller import Controller, SessionWish

LOST = ServerUnreachable("the connection broke", outage=Outage.LOST)
NOBODY = ServerUnreachable("no connection", outage=Outage.NO_CONNECTION)


@dataclass
class FakeClient:
    """A client that answers from its fields; an exception there is raised instead."""

    events: list[Event | ClientError] = field(default_factory=list)
    replay: list[Event] = field(default_factory=list)
    reload_answer: SkillsReload | ClientError = field(default_factory=SkillsReload)
    listing: SkillListing | ClientError = field(default_factory=lambda: SkillListing(generation=1))
    tables: list[ExpansionTable] = field(default_factory=lambda: [ExpansionTable(generation=1)])
    refusal: ClientError | None = None
    wishes: list[CreateSession | None] = field(default_factory=list)
    verdicts: list[tuple[str, Verdict]] = field(default_factory=list)

    async def compatibility(self) -> Compatibility:
        if self.refusal:
            raise self.refusal
        return Compatibility(api_major=1, capabilities=Capabilities(skills_reload=True))

    async def create_session(self, wish: CreateSession | None = None) -> SessionCreated:
        self.wishes.append(wish)
        return SessionCreated(session_id="s1", resolved_model="offline", placement="local")

    async def session(self, session_id: str) -> SessionInfo:
        return SessionInfo(session_id=session_id, latest_context_occupancy=0.5)

    async def clear(self, session_id: str) -> SessionCreated:
        if self.refusal:
            raise self.refusal
        return SessionCreated(session_id=f"{session_id}-cleared")

    async def prompt(self, session_id: str, text: str) -> AsyncGenerator[Event, None]:
        del session_id, text
        for event in self.events:
            if isinstance(event, ClientError):
                raise event
            yield event

    async def watch(self, session_id: str, cursor: str = "") -> AsyncGenerator[Watched, None]:
        del session_id, cursor
        if self.refusal:
            raise self.refusal
        for event in self.replay:
            yield Watched(event=event)

    async def approve(self, session_id: str, ask_id: str, verdict: Verdict) -> None:
        del session_id
        self.verdicts.append((ask_id, verdict))
        if self.refusal:
            raise self.refusal

    async def cancel(self, session_id: str) -> None:
        del session_id
        if self.refusal:
            raise self.refusal

    async def reload_skills(self, session_id: str) -> SkillsReload:
        del session_id
        if isinstance(self.reload_answer, ClientError):
            raise self.reload_answer
        return self.reload_answer

    async def commands(self, session_id: str) -> Palette:
        del session_id
        return Palette(commands=(CommandRow(name="story", description="Tells\x1b[31m a\nstory."),))

    async def expansions(self, session_id: str) -> ExpansionTable:
        del session_id
        return self.tables.pop(0) if len(self.tables) > 1 else self.tables[0]

    async def skills(self, session_id: str | None = None) -> SkillListing:
        del session_id
        if isinstance(self.listing, ClientError):
            raise self.listing
        return self.listing

    async def model_view(self, session_id: str) -> ModelView:
        del session_id
        if self.refusal:
            raise self.refusal
        return ModelView(tools_sha256="abc", tools_bytes=12)

    async def aclose(self) -> None:
        return None


def refused(status: int, code: ErrorCode, reason: RefusalReason = RefusalReason.UNKNOWN, **ids: str) -> ServerRefused:
    return ServerRefused(status, ErrorBody(error="not now", code=code, reason=reason, **ids))


async def told(client: Collaborator, call: Callable[[Controller], Awaitable[None]]) -> list[ev.SessionEvent]:
    events: list[ev.SessionEvent] = []
    await call(Controller(client, events.append, SessionWish("m1")))
    return events


def whole_run() -> list[Event]:
    return [
        SessionInit(seq=1, session_id="s1", run_id="r1"),
        MessageDelta(seq=2, text="one"),
        MessageDelta(seq=3, text="two"),
        RunEnded(seq=4, result=RunResult(stop=Stop.END_TURN)),
    ]


async def test_open_gives_a_session_then_what_it_offers() -> None:
    client = FakeClient(
        listing=SkillListing(generation=1, skills=(SkillRow(name="story", in_inventory=True, origin="user"),)),
        tables=[ExpansionTable(generation=1, expansions=(Expansion(name="story", kind=CommandKind.SKILL),))],
    )
    opened, installed, read = await told(client, lambda controller: controller.open())
    assert opened == ev.Opened("s1", "offline", "", "local", can_reload=True)
    assert isinstance(installed, ev.InventoryInstalled)
    assert [command.kind for command in installed.inventory.commands] == ["skill"]
    assert installed.inventory.commands[0].description == "Tells a story."
    assert [skill.name for skill in installed.inventory.listing.present()] == ["story"]
    assert read == ev.SessionRead("s1", "", 0.5)
    assert client.wishes == [CreateSession(model_id="m1")]


async def test_open_fails_in_words_when_there_is_no_server() -> None:
    assert await told(FakeClient(refusal=NOBODY), lambda controller: controller.open()) == [
        ev.OpenFailed("no connection")
    ]


async def test_inventory_that_cannot_be_fetched_leaves_the_session_open() -> None:
    events = await told(FakeClient(listing=LOST), lambda controller: controller.open())
    assert [type(event) for event in events] == [ev.Opened, ev.InventoryUnavailable, ev.SessionRead]


async def test_prompt_tells_the_run() -> None:
    call = ToolCall(id="c1", name="Shell", args={"command": "ls -la"})
    client = FakeClient(
        events=[
            SessionInit(seq=1, run_id="r1"),
            ToolCalled(seq=2, tool_call=call),
            PermissionAsked(seq=3, ask=Ask(ask_id="a1", tool="Shell", args={"command": "ls -la"})),
            ToolReturned(seq=4, tool_result=ToolResult(call_id="c1", content="x", is_error=True)),
            UnknownEvent(type="newer", seq=5),
            SkillsReloaded(seq=6, generation=4),
            TurnEnd(seq=7, usage=Usage(input_tokens=3, cache_read_tokens=9)),
            RunEnded(seq=8, result=RunResult(stop=Stop.ERROR, error="no\nmore")),
        ]
    )
    arguments = '{\n  "command": "ls -la"\n}'
    assert await told(client, lambda controller: controller.prompt("s1", "hi")) == [
        runs.RunStarted("s1", "r1"),
        runs.ToolStarted("s1", "c1", "Shell", "ls -la", arguments),
        runs.Asked("s1", runs.Ask("a1", "Shell", arguments)),
        runs.ToolFinished("s1", "c1", ok=False, content="x"),
        ev.InventoryOutdated("s1", 4),
        runs.TurnEnded("s1", runs.Usage(3, 0, 9)),
        runs.RunEnded("s1", "error", "no more"),
        ev.SessionRead("s1", "", 0.5),
    ]


@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_broken_stream_goes_on_where_it_broke(cut: int) -> None:
    earlier: list[Event] = [SessionInit(seq=1, run_id="r0"), MessageDelta(seq=2, text="old"), RunEnded(seq=3)]
    client = FakeClient(events=[*whole_run()[:cut], StreamBroken("cut")], replay=[*earlier, *whole_run()])
    events = await told(client, lambda controller: controller.prompt("s1", "hi"))
    assert events[:-1] == [
        runs.RunStarted("s1", "r1"),
        runs.TextAdded("s1", "one"),
        runs.TextAdded("s1", "two"),
        runs.RunEnded("s1", "end_turn"),
    ]


async def test_run_is_lost_when_its_rest_cannot_be_had() -> None:
    client = FakeClient(events=[*whole_run()[:2], LOST], refusal=NOBODY)
    events = await told(client, lambda controller: controller.prompt("s1", "hi"))
    assert runs.RunLost("s1", "no connection") in events
    assert ev.ServerGone("no connection") in events


async def test_refused_prompt_comes_back() -> None:
    client = FakeClient(events=[refused(412, ErrorCode.FAILED_PRECONDITION)])
    events = await told(client, lambda controller: controller.prompt("s1", "hi"))
    assert events[0] == runs.PromptFailed("s1", "hi", "not now")


async def test_reload_fetches_all_three_lists_and_installs_them_together() -> None:
    events = await told(FakeClient(), lambda controller: controller.reload("s1", 7))
    assert [type(event) for event in events] == [ev.ReloadInstalled, ev.ReloadDone]
    assert events[0] == ev.ReloadInstalled("s1", 7)


async def test_lists_of_two_generations_are_fetched_again() -> None:
    client = FakeClient(
        tables=[ExpansionTable(generation=1), ExpansionTable(generation=2)], listing=SkillListing(generation=2)
    )
    await told(client, lambda controller: controller.refetch("s1", 7))
    assert len(client.tables) == 1


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        (
            refused(412, ErrorCode.FAILED_PRECONDITION, RefusalReason.SESSION_RUNNING, run_id="r1"),
            ev.ReloadRefused("s1", 7, "session_running", "not now", "r1"),
        ),
        (
            refused(412, ErrorCode.FAILED_PRECONDITION, RefusalReason.SESSION_AWAITING, run_id="r1", ask_id="a1"),
            ev.ReloadRefused("s1", 7, "session_awaiting", "not now", "a1"),
        ),
        (refused(409, ErrorCode.SESSION_LEASED_ELSEWHERE), ev.ReloadRefused("s1", 7, "", "not now")),
        (refused(503, ErrorCode.SKILL_SOURCE_UNAVAILABLE), ev.ReloadFailed("s1", 7, "not now")),
        (LOST, ev.ReloadFailed("s1", 7, "the connection broke", uncertain=True)),
        (NOBODY, ev.ReloadFailed("s1", 7, "no connection")),
    ],
)
async def test_reload_that_did_not_happen_fetches_nothing(answer: ClientError, event: ev.SessionEvent) -> None:
    events = await told(FakeClient(reload_answer=answer), lambda controller: controller.reload("s1", 7))
    assert events[0] == event
    assert not any(isinstance(other, ev.ReloadDone | ev.ReloadInstalled) for other in events)


async def test_failed_refetch_says_just_that() -> None:
    events = await told(FakeClient(listing=LOST), lambda controller: controller.reload("s1", 7))
    assert events == [ev.ReloadInstalled("s1", 7), ev.RefetchFailed("s1", 7, "the connection broke")]


async def test_clear_opens_the_new_session() -> None:
    events = await told(FakeClient(), lambda controller: controller.clear("s1"))
    assert events[0] == ev.Cleared("s1", ev.Opened("s1-cleared"))
    assert isinstance(events[1], ev.InventoryInstalled)
    assert await told(FakeClient(refusal=LOST), lambda controller: controller.clear("s1")) == [
        ev.ClearFailed("s1", "the connection broke")
    ]


async def test_answers_are_the_verdicts_of_the_wire() -> None:
    client = FakeClient()
    controller = Controller(client, lambda _: None)
    for answer in Answer:
        await controller.approve("s1", "a1", answer)
    assert [verdict for _, verdict in client.verdicts] == [Verdict.ALLOW_ONCE, Verdict.ALLOW_ALWAYS, Verdict.DENY]


async def test_answer_to_a_closed_ask_closes_the_card() -> None:
    client = FakeClient(refusal=refused(409, ErrorCode.ASK_NOT_PENDING))
    events = await told(client, lambda controller: controller.approve("s1", "a1", Answer.ONCE))
    assert events[0] == runs.AskClosed("s1", "a1")


async def test_cancel_of_a_run_that_has_ended_is_silent() -> None:
    client = FakeClient(refusal=refused(409, ErrorCode.NO_ACTIVE_RUN))
    assert await told(client, lambda controller: controller.cancel("s1")) == []
    events = await told(FakeClient(refusal=LOST), lambda controller: controller.cancel("s1"))
    assert [type(event) for event in events] == [ev.Noticed]


async def test_model_page_is_given_or_refused_in_words() -> None:
    controller = Controller(FakeClient(), lambda _: None)
    assert (await controller.model_page("s1")).tools_sha256 == "abc"
    with pytest.raises(AskedInVain, match="not now"):
        await Controller(FakeClient(refusal=refused(404, ErrorCode.SESSION_NOT_FOUND)), lambda _: None).model_page("s1")
