"""The slash menu's part in typing: when it opens, what it shows, and what its lit row does."""

from typing import Protocol

from mecatui.inventory import TIERS
from mecatui.session_view import Freshness, SessionView
from mecatui.slash.palette import Hit, Palette, PaletteRow
from mecatui.slash.parse import name_being_typed
from mecatui.widgets.prompt import Prompt
from mecatui.widgets.slash_menu import MenuRow, SlashMenu

_PAGE = 8
_STEPS = {"up": -1, "down": 1, "pageup": -_PAGE, "pagedown": _PAGE}


class CompletionHost(Protocol):
    """What the menu needs of the screen."""

    @property
    def palette(self) -> Palette:
        """The rows that are offered now."""
        ...

    @property
    def view(self) -> SessionView:
        """The session as it is now."""
        ...

    def submit(self, line: str) -> bool:
        """Take a line; answers whether it was taken."""
        ...


class Completion:
    """Joins the prompt and its menu. What the menu shows is always computed from the text as it is."""

    def __init__(self, host: CompletionHost, prompt: Prompt, menu: SlashMenu) -> None:
        self._host = host
        self._prompt = prompt
        self._menu = menu
        self._hits: list[Hit] = []
        self._shown: list[MenuRow] = []
        self._query: str | None = None
        self._is_dismissed = False
        self._refused: str | None = None
        prompt.menu_takes = self.takes

    @property
    def is_open(self) -> bool:
        """The menu is shown."""
        return self._query is not None and not self._is_dismissed and self._query != self._refused

    def follow(self) -> None:
        """Show what fits the text now."""
        text, palette = self._prompt.text, self._host.palette
        query = name_being_typed(text, self._prompt.cursor_index)
        self._prompt.set_hint(_hint(text, palette))
        self._is_dismissed = self._is_dismissed and query is not None
        self._refused = self._refused if query == self._refused else None
        if query is None or self._is_dismissed or query == self._refused:
            self._query = query
            self._hide()
        elif query != self._query or not self._hits:
            self._query = query
            self._hits = _find(palette, query)
            self._show()
        self._menu.screen.set_class(self.is_open, "-menu")

    def renew(self) -> None:
        """Show anew what fits, since the palette has changed."""
        self._hits = []
        self.follow()

    def takes(self, key: str) -> bool:
        """Act on a key if the menu is open; the menu first catches up with the text as it is."""
        self.follow()
        if not self.is_open:
            return False
        match key:
            case "enter":
                self.enter(self._prompt.draft)
            case "tab":
                self._complete()
            case "escape":
                self._is_dismissed = True
            case _:
                self._menu.move(_STEPS.get(key, 0))
        self.follow()
        return True

    def enter(self, typed: str) -> None:
        """Do what the lit row says, unless its name is what was typed in full; without one, take the line."""
        row = self._lit()
        if row is None or self._query in {row.name, row.inserts}:
            self._submit(typed)
        elif row.runs_at_once:
            self._prompt.set_draft(f"/{row.inserts}")
            self._submit(f"/{row.inserts}")
        else:
            self._complete()

    def row_of(self, shown: MenuRow) -> PaletteRow | None:
        """The palette's row behind a row of the menu."""
        return next((hit.row for hit, row in zip(self._hits, self._shown, strict=True) if row is shown), None)

    def _lit(self) -> PaletteRow | None:
        lit = self._menu.lit if self.is_open else None
        return None if lit is None else self.row_of(lit)

    def _submit(self, line: str) -> None:
        """A line that is not taken stays, and the menu makes room for the reason until the name is edited."""
        if self._host.submit(line):
            self._prompt.take()
        else:
            self._refused = self._query

    def _complete(self) -> None:
        """Put the lit name into the prompt; a blank after it where arguments may follow."""
        row = self._lit()
        if row is not None:
            self._prompt.set_draft(f"/{row.inserts}" + ("" if row.runs_at_once else " "))

    def _show(self) -> None:
        self._shown = [_menu_row(hit) for hit in self._hits]
        if self._hits:
            self._menu.show(self._shown)
        elif self._host.view.freshness is Freshness.MISSING:
            self._menu.show_message("the list of commands is still on its way")
        elif not self._host.palette.has_commands:
            self._menu.show_message("no command matches, and no skills are configured")
        else:
            self._menu.show_message(f"no command matches /{self._query}")

    def _hide(self) -> None:
        self._hits, self._shown = [], []
        self._menu.hide()


def _find(palette: Palette, query: str) -> list[Hit]:
    tier, slash, name = query.partition("/")
    if not slash or tier not in TIERS:
        return palette.find(query)
    return [hit for hit in palette.find(name) if hit.row.badge.split(" · ")[0] == tier]


def _menu_row(hit: Hit) -> MenuRow:
    row = hit.row
    return MenuRow(name=row.name, description=row.description, badge=row.badge, matched=hit.matched, note=row.note)


def _hint(text: str, palette: Palette) -> str:
    """The argument hint while a command stands alone with a blank after it."""
    if not text.endswith(" ") or not text.lstrip().startswith("/"):
        return ""
    return palette.hint(text.strip().removeprefix("/"))
