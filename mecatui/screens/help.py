"""The page of commands and keys, from the tables that define them."""

from mecatui.screens.page import Item, PageScreen
from mecatui.slash.builtins import BUILTINS
from mecatui.widgets.lines import Line

KEYS: tuple[tuple[str, str], ...] = (
    ("enter", "send, or do what the lit row of the menu says; while a run is active: queue"),
    ("tab", "complete the lit name; with an empty prompt: go to the transcript or the approval"),
    ("esc", "close the menu; cancel the run"),
    ("up", "on an empty prompt: take the last queued line back"),
    ("up, enter", "in the transcript: light a tool card or a reload's verdict, and open it"),
    ("pageup", "read back; pagedown: read on; ctrl+end: to the end"),
    ("ctrl+r", "do what is offered: run a refused reload when idle, fetch the commands again, restart the server"),
    ("a  w  d", "approve once, always, deny"),
    ("ctrl+p", "all commands, themes and keys"),
    ("ctrl+c", "clear the draft; cancel the run; twice: leave"),
    ("ctrl+q", "leave"),
)
"""The keys of the chat, for people."""

_COLUMN = max(len(f"/{', /'.join(builtin.names)}") for builtin in BUILTINS)


def help_page() -> PageScreen:
    """Each command and key on its own line; the lit one is spelt out beneath."""
    items = [Item(Line("Commands", "heading"))]
    for builtin in BUILTINS:
        name = ", ".join(f"/{name}" for name in builtin.names)
        items.append(_item(name, builtin.summary, f"/{builtin.name}"))
    items += [Item(Line("")), Item(Line("Keys", "heading"))]
    items += [_item(key, what, key) for key, what in KEYS]
    items += [
        Item(Line("")),
        Item(Line("A skill runs as /name arguments, or /tier/name for one that lost its name.", "dim")),
    ]
    return PageScreen("Help", items)


def _item(left: str, right: str, key: str) -> Item:
    return Item(Line(f"  {left:<{_COLUMN}} {right}", key=key), f"{left}: {right}")
