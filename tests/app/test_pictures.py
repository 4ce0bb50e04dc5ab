"""A picture of each screen and state, at a fixed size, to be looked at before it is accepted."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

import pytest
from textual.pilot import Pilot

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.app import MecatuiApp
from mecatui.control import ModelPage, RequestLine, ToolLine
from mecatui.inventory import Command, Inventory, Listing, NearMiss, Shadowed, Skill, Skipped
from tests.app.fake_session import Chat, FakeBackend

SESSION = "7f3a91c2b04e4c7d8e9f00112233aabb"
WIDE, NARROW, LARGE = (80, 24), (40, 12), (200, 50)

ROWS = [
    ("code-review", "Review code for faults and style before it is merged", "project", "<files>"),
    ("odd-[markup]", "[@click=app.quit]free[/] [on red]ALERT[/] is only text", "user", ""),
    ("release-notes", "Write release notes from the log since the last tag", "user", "[version]"),
    ("summarise", "总结 a document in the reader's own language — 会议纪要, emails, threads", "explicit", ""),
    ("weekly-plan", "Plan the week from the calendar and what was left over", "user", ""),
]


def listing(*, generation: int = 1, changed: bool = False) -> Inventory:
    """What the session offers, before and after a person's edits."""
    skills = [
        Skill(name, description, origin, advertised=True, body_sha256="1") for name, description, origin, _ in ROWS
    ]
    commands = [
        Command(name, description, origin=origin, advertised=True, argument_hint=hint)
        for name, description, origin, hint in ROWS
    ]
    if not changed:
        return Inventory(tuple(commands), Listing(generation, tuple(skills)))
    skills[0] = replace(skills[0], body_sha256="2")
    skills[2] = replace(skills[2], description="Write release notes, grouped by kind", description_stale=True)
    skills[4] = replace(skills[4], in_inventory=False)
    skills.append(Skill("brand-new", "Just written in the other window", "project", body_sha256="1"))
    commands = [command for command in commands if command.name != "weekly-plan"]
    commands.append(Command("brand-new", "Just written in the other window", origin="project"))
    return Inventory(
        tuple(sorted(commands, key=lambda command: command.name)),
        Listing(
            generation,
            tuple(sorted(skills, key=lambda skill: skill.name)),
            skipped=(Skipped("fragile", "bad YAML, line 3", "user"),),
            shadowed=(Shadowed("code-review", "user", "project"),),
            near_misses=(NearMiss("notes", "rename skill.md to SKILL.md", "user"),),
            withheld=0,
        ),
    )


DIGEST = "2c59e64b2aaf21ba7c6d78e8ed7da8a37a8ffaf8cf6186013191a625b6ceae1e"
PAGE = ModelPage(
    DIGEST,
    1301,
    "b78d88749d009289ac53b852447d8219ca42618c9b0fa709815948fb7ba72700",
    (ToolLine("Skill", "Load a skill: written instructions for one kind of task"),),
    (
        RequestLine(1, DIGEST, 1, 12_392, 0),
        RequestLine(2, DIGEST, 2, 69, 12_391),
        RequestLine(3, DIGEST, 2, 65, 12_460),
    ),
)

Before = Callable[[Pilot[str]], Awaitable[None]]


class SnapCompare(Protocol):
    """The fixture of the snapshot plugin."""

    def __call__(self, app: MecatuiApp, *, run_before: Before, terminal_size: tuple[int, int]) -> bool: ...


Act = Callable[[Chat], Awaitable[None]]


@pytest.fixture
def picture(snap_compare: SnapCompare) -> Callable[..., bool]:
    """Compare a picture of the app after an act; with `ready` false there is no server yet."""

    def compare(act: Act | None = None, *, size: tuple[int, int] = WIDE, ready: bool = True) -> bool:
        backend = FakeBackend(
            ev.Opened(SESSION, "offline", "default", "local", can_reload=True),
            ev.InventoryInstalled(SESSION, listing()),
            page=PAGE,
        )
        if not ready:
            backend.door.clear()
        app = MecatuiApp(backend)

        async def before(pilot: Pilot[str]) -> None:
            it = Chat(app, pilot, backend, [])
            if ready:
                await it.until(lambda: it.view.knows_commands)
            if act is not None:
                await act(it)
            await pilot.pause()

        return snap_compare(app, run_before=before, terminal_size=size)

    return compare


async def converse(it: Chat) -> None:
    """A first exchange, so that the screens are not empty."""
    await it.enter("/code-review src/auth.py")
    await it.happen(
        runs.RunStarted(SESSION, "r1"),
        runs.ToolStarted(SESSION, "c1", "Skill", "code-review", '{\n  "name": "code-review"\n}'),
        runs.ToolFinished(SESSION, "c1", ok=True, content="Skill: code-review\n\n# Review\nLook closely."),
        runs.TextAdded(
            SESSION, "Two problems in the **token check**:\n\n1. it compares with `==`\n2. it logs the token\n"
        ),
        runs.TurnEnded(SESSION, runs.Usage(12_392, 310, 0)),
        runs.RunEnded(SESSION, "end_turn"),
    )


async def reload(it: Chat) -> None:
    """Type the command; the server has not answered yet."""
    await converse(it)
    await it.enter("/reload-skills")


def test_first_frame_before_the_server_is_there(picture: Callable[..., bool]) -> None:
    assert picture(ready=False)


def test_ready(picture: Callable[..., bool]) -> None:
    assert picture()


@pytest.mark.parametrize("size", [WIDE, NARROW, LARGE], ids=["80x24", "40x12", "200x50"])
def test_slash_menu(picture: Callable[..., bool], size: tuple[int, int]) -> None:
    async def act(it: Chat) -> None:
        await converse(it)
        await it.type("/re")

    assert picture(act, size=size)


def test_argument_hint(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await it.type("/rel")
        await it.pilot.press("down", "tab")
        await it.until(lambda: it.prompt.text == "/release-notes ")

    assert picture(act)


def test_command_palette(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await it.pilot.press("ctrl+p")
        await it.type("re")
        await it.app.workers.wait_for_complete()
        await it.pilot.pause(0.2)

    assert picture(act)


def test_conversation(picture: Callable[..., bool]) -> None:
    assert picture(converse)


def test_reload_in_progress(picture: Callable[..., bool]) -> None:
    assert picture(reload)


@pytest.mark.parametrize("size", [WIDE, NARROW, LARGE], ids=["80x24", "40x12", "200x50"])
def test_verdict(picture: Callable[..., bool], size: tuple[int, int]) -> None:
    async def act(it: Chat) -> None:
        await reload(it)
        changed = listing(generation=2, changed=True)
        await it.happen(ev.ReloadInstalled(SESSION, 1), ev.ReloadDone(SESSION, 1, changed))

    assert picture(act, size=size)


def test_refused_while_running(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await converse(it)
        await it.enter("look at the tests too")
        await it.happen(runs.RunStarted(SESSION, "r2"), runs.TextAdded(SESSION, "Reading the tests"))
        await it.enter("/reload-skills")

    assert picture(act)


def test_refused_while_awaiting(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await converse(it)
        await it.enter("now paint it")
        await it.happen(
            runs.RunStarted(SESSION, "r2"),
            runs.Asked(SESSION, runs.Ask("a1", "OfflineAction", '{\n  "label": "paint"\n}', "this tool asks first")),
        )
        await it.pilot.press("escape")
        await it.enter("/reload-skills")

    assert picture(act)


def test_refused_by_the_server(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await reload(it)
        text = "a run is active in this session; wait for it or cancel it, then reload"
        await it.happen(ev.ReloadRefused(SESSION, 1, "session_running", text, "r9"))

    assert picture(act)


def test_failed(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await reload(it)
        text = "the user skills could not be read; make the folder readable, or wait until it is back, then reload"
        await it.happen(ev.ReloadFailed(SESSION, 1, text))

    assert picture(act)


def test_refetch_failed(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await reload(it)
        await it.happen(
            ev.ReloadInstalled(SESSION, 1), ev.RefetchFailed(SESSION, 1, "the server did not answer in time")
        )

    assert picture(act)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["80x24", "40x12"])
def test_server_gone(picture: Callable[..., bool], size: tuple[int, int]) -> None:
    async def act(it: Chat) -> None:
        await converse(it)
        await it.type("a draft worth keeping")
        await it.happen(ev.ServerGone("it was ended by signal 9"))

    assert picture(act, size=size)


@pytest.mark.parametrize("size", [WIDE, NARROW, LARGE], ids=["80x24", "40x12", "200x50"])
def test_skills(picture: Callable[..., bool], size: tuple[int, int]) -> None:
    async def act(it: Chat) -> None:
        await it.enter("/reload-skills")
        changed = listing(generation=2, changed=True)
        await it.happen(ev.ReloadInstalled(SESSION, 1), ev.ReloadDone(SESSION, 1, changed))
        await it.enter("/skills")

    assert picture(act, size=size)


def test_model_view(picture: Callable[..., bool]) -> None:
    async def act(it: Chat) -> None:
        await it.enter("/model-view")
        await it.until(lambda: it.app.screen is not it.app.chat)

    assert picture(act)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["80x24", "40x12"])
def test_help(picture: Callable[..., bool], size: tuple[int, int]) -> None:
    async def act(it: Chat) -> None:
        await it.enter("/help")
        await it.until(lambda: it.app.screen is not it.app.chat)

    assert picture(act, size=size)
