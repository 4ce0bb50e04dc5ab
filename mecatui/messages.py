"""The messages that cross widgets and screens.

controller     ──Happened──────► chat screen ──(view, transcript)──► widgets
approval card  ──AskAnswered───► chat screen ──► controller
chat screen    ──PageWanted────► app ──► page over the chat
chat screen    ──BackendWanted─► app ──► server, client, controller ──► chat screen
"""

from enum import StrEnum

from textual.message import Message

from mecatui.control import Answer
from mecatui.session_events import SessionEvent


class Page(StrEnum):
    """The pages that may lie over the chat."""

    HELP = "help"
    SKILLS = "skills"
    MODEL_VIEW = "model view"


class Happened(Message):
    """Something happened to the session; the screen applies it to its view."""

    def __init__(self, event: SessionEvent) -> None:
        super().__init__()
        self.event = event


class AskAnswered(Message):
    """A person answered the ask on the card."""

    def __init__(self, ask_id: str, answer: Answer) -> None:
        super().__init__()
        self.ask_id = ask_id
        self.answer = answer


class PageWanted(Message):
    """A command opens a page; that of skills may show some names only."""

    def __init__(self, page: Page, names: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.page = page
        self.names = names


class BackendWanted(Message):
    """The person wants the server again."""
