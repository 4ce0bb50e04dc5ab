"""The app: its theme, its first screen, and the way from a backend to a controller."""

import asyncio
import gc
import signal
from typing import ClassVar, assert_never

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mecatui.control import AskedInVain, Backend, BackendUnavailable, Control
from mecatui.messages import BackendWanted, Happened, Page, PageWanted
from mecatui.screens.chat import ChatScreen
from mecatui.session_events import OpenFailed, SessionEvent

_OBJECTS_BETWEEN_COLLECTIONS = 20_000
DEFAULT_THEME = "textual-dark"


class UnknownTheme(Exception):
    """There is no theme of this name; the text lists those that there are."""


class MecatuiApp(App[str]):
    """Shows one session. Its result is the id of the last session, empty when there was none."""

    CSS_PATH = "mecatui.tcss"
    TITLE = "mecatui"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "leave", show=False, priority=True),
        Binding("f1", "help", "help", show=False),
    ]

    def __init__(self, backend: Backend, *, theme: str = "") -> None:
        """Nothing is started before the first frame.

        Raises:
            UnknownTheme: there is no such theme.
        """
        super().__init__()
        wanted = theme or DEFAULT_THEME
        if wanted not in self.available_themes:
            raise UnknownTheme(
                f"there is no theme {wanted!r}; choose one of {', '.join(sorted(self.available_themes))}"
            )
        self.theme = wanted
        self._backend = backend
        self._control: Control | None = None
        self.chat = ChatScreen()

    def get_default_screen(self) -> Screen[None]:
        """The chat is the first thing drawn."""
        return self.chat

    def on_mount(self) -> None:
        """Draw first, then reach for the server."""
        loop = asyncio.get_running_loop()
        for ending in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(ending, self.action_quit_now)
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        # What was made up to here lives as long as the app: later collections need not look at it again.
        gc.freeze()
        gc.enable()
        # An inventory of very many skills is made at once and stays: to look through it all along finds nothing.
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        self._connect()

    def emit(self, event: SessionEvent) -> None:
        """Tell the chat; from any thread."""
        self.chat.post_message(Happened(event))

    def on_backend_wanted(self, message: BackendWanted) -> None:
        """Start the server again."""
        message.stop()
        self._connect(again=True)

    def on_page_wanted(self, message: PageWanted) -> None:
        """Open a page over the chat."""
        message.stop()
        self._open_page(message.page, message.names)

    def action_help(self) -> None:
        """Open the page of commands and keys."""
        self._open_page(Page.HELP)

    async def action_quit(self) -> None:
        """Leave."""
        self.action_quit_now()

    def action_quit_now(self) -> None:
        """Leave, with the session's id as the result."""
        self.exit(self.chat.view.session_id)

    @work(group="backend", exclusive=True)
    async def _connect(self, *, again: bool = False) -> None:
        """Wait for the server and load the client in a thread: neither may hold up a key."""
        try:
            if again:
                await self._close_control()
                await asyncio.to_thread(self._backend.restart)
            self._control = await asyncio.to_thread(self._backend.connect, self.emit)
        except BackendUnavailable as unavailable:
            self.emit(OpenFailed(str(unavailable)))
            return
        self.chat.attach(self._control)
        await self._control.open()

    async def on_unmount(self) -> None:
        """Close the connections and end the server, also one that has not come up yet."""
        await self._close_control()
        await asyncio.to_thread(self._backend.close)

    async def _close_control(self) -> None:
        control, self._control = self._control, None
        if control is not None:
            await control.close()

    @work(group="page", exclusive=True)
    async def _open_page(self, page: Page, names: frozenset[str] = frozenset()) -> None:
        screen = await self._page(page, names)
        if screen is not None:
            self.chat.use(await self.push_screen_wait(screen) or "")

    async def _page(self, page: Page, names: frozenset[str]) -> Screen[str] | None:
        # Pages are not needed for the first frame.
        match page:
            case Page.HELP:
                from mecatui.screens.help import help_page  # noqa: PLC0415

                return help_page()
            case Page.SKILLS:
                from mecatui.screens.skills import skills_page  # noqa: PLC0415

                return skills_page(self.chat.view, names)
            case Page.MODEL_VIEW:
                return await self._model_view()
            case _:
                assert_never(page)

    async def _model_view(self) -> Screen[str] | None:
        from mecatui.screens.model_view import model_view_page  # noqa: PLC0415

        if self._control is None:
            return None
        try:
            return model_view_page(await self._control.model_page(self.chat.view.session_id))
        except AskedInVain as failure:
            self.chat.notice("error", f"The model view could not be fetched: {failure}")
            return None
