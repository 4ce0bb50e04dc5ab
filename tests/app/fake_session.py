"""A backend without a server: the test says what happens, and reads what was asked for."""

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.message import Message
from textual.pilot import Pilot

from mecatui import session_events as ev
from mecatui.app import MecatuiApp
from mecatui.control import Answer, AskedInVain, BackendUnavailable, Control, Emit, ModelPage
from mecatui.inventory import Command, Inventory, Listing, Skill
from mecatui.session_view import SessionView
from mecatui.widgets.prompt import Prompt
from mecatui.widgets.slash_menu import SlashMenu
from mecatui.widgets.transcript import Transcript

_WAIT_SECONDS = 20.0
"""The longest wait for anything; a test never waits a fixed time."""


def inventory_of(*names: str, generation: int = 1, new: tuple[str, ...] = ()) -> Inventory:
    """Skills of the user tier; those of `new` the model was not told of."""
    return Inventory(
        tuple(Command(name, f"About {name}.", origin="user", argument_hint="<what>") for name in sorted(names)),
        Listing(
            generation,
            tuple(
                Skill(name, f"About {name}.", "user", advertised=name not in new, body_sha256="1")
                for name in sorted(names)
            ),
        ),
    )


class FakeControl:
    """Notes the calls. `open` tells what it was given; nothing else answers by itself."""

    def __init__(self, emit: Emit, at_open: tuple[ev.SessionEvent, ...], page: ModelPage | None) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.fault: Exception | None = None
        """Raised by `prompt` and `reload`, as no real control does."""
        self._emit = emit
        self._at_open = at_open
        self._page = page

    async def open(self) -> None:
        for event in self._at_open:
            self._emit(event)

    async def fetch_inventory(self, session_id: str) -> None:
        self.calls.append(("fetch", session_id))

    async def prompt(self, session_id: str, text: str) -> None:
        self.calls.append(("prompt", session_id, text))
        self._stumble()

    async def approve(self, session_id: str, ask_id: str, answer: Answer) -> None:
        self.calls.append(("approve", session_id, ask_id, answer.value))

    async def cancel(self, session_id: str) -> None:
        self.calls.append(("cancel", session_id))

    async def reload(self, session_id: str, token: int) -> None:
        self.calls.append(("reload", session_id, str(token)))
        self._stumble()

    async def refetch(self, session_id: str, token: int) -> None:
        self.calls.append(("refetch", session_id, str(token)))

    async def clear(self, session_id: str) -> None:
        self.calls.append(("clear", session_id))

    async def model_page(self, session_id: str) -> ModelPage:
        self.calls.append(("model view", session_id))
        if self._page is None:
            raise AskedInVain("it does not say")
        return self._page

    async def close(self) -> None:
        self.calls.append(("close",))

    def _stumble(self) -> None:
        if self.fault:
            raise self.fault


class FakeBackend:
    """Gives a `FakeControl`, at once or when `door` is opened; `failure` makes it give none."""

    def __init__(self, *at_open: ev.SessionEvent, page: ModelPage | None = None) -> None:
        self.at_open = at_open
        self.page = page
        self.controls: list[FakeControl] = []
        self.door = threading.Event()
        self.door.set()
        self.failure = ""
        self.restarts = 0
        self.is_closed = False

    def connect(self, emit: Emit) -> Control:
        self.door.wait()
        if self.failure:
            raise BackendUnavailable(self.failure)
        self.controls.append(FakeControl(emit, self.at_open, self.page))
        return self.controls[-1]

    def restart(self) -> None:
        self.restarts += 1

    def close(self) -> None:
        self.is_closed = True
        self.door.set()


class Chat:
    """A running app, and what a test looks at."""

    def __init__(self, app: MecatuiApp, pilot: Pilot[str], backend: FakeBackend, messages: list[Message]) -> None:
        self.app, self.pilot, self.backend, self.messages = app, pilot, backend, messages

    @property
    def view(self) -> SessionView:
        return self.app.chat.view

    @property
    def prompt(self) -> Prompt:
        return self.app.chat.query_one(Prompt)

    @property
    def menu(self) -> SlashMenu:
        return self.app.chat.query_one(SlashMenu)

    @property
    def lit(self) -> str:
        return self.menu.lit.name if self.menu.lit and self.menu.has_class("-open") else ""

    @property
    def transcript(self) -> str:
        return self.app.chat.query_one(Transcript).text

    @property
    def calls(self) -> list[tuple[str, ...]]:
        return [call for control in self.backend.controls for call in control.calls]

    @property
    def prompts(self) -> list[str]:
        return [call[2] for call in self.calls if call[0] == "prompt"]

    async def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"it did not come about; the transcript says:\n{self.transcript}"
            await self.pilot.pause(0.005)

    async def happen(self, *events: ev.SessionEvent) -> None:
        for event in events:
            self.app.emit(event)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type characters, each as a key of its own."""
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    async def enter(self, text: str) -> None:
        await self.type(text)
        await self.pilot.press("enter")
        await self.pilot.pause()


def screen_text(app: MecatuiApp) -> str:
    """What the screen shows, a line a row."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()  # the one way to read a screen without a terminal
    return "\n".join("".join(segment.text for segment in strip) for strip in strips[:height])[: (width + 1) * height]


@asynccontextmanager
async def chat(
    *skills: str, backend: FakeBackend | None = None, size: tuple[int, int] = (80, 24), ready: bool = True
) -> AsyncIterator[Chat]:
    """The app with a session that has these skills; with `ready` false, with whatever the backend gives."""
    messages: list[Message] = []
    given = backend or FakeBackend(
        ev.Opened("s1", "model-1", "default", "local", can_reload=True),
        ev.InventoryInstalled("s1", inventory_of(*skills)),
    )
    app = MecatuiApp(given)
    async with app.run_test(size=size, message_hook=messages.append) as pilot:
        running = Chat(app, pilot, given, messages)
        if ready:
            await running.until(lambda: running.view.knows_commands)
        yield running
        given.door.set()
