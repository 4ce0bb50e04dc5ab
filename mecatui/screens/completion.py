"""The slash menu's part in typing: when it opens, what it shows, and what its lit row does."""

from typing import NamedTuple

from mecatui.inventory import TIERS
from mecatui.session_view import Freshness
from mecatui.slash.palette import Hit, Palette, PaletteRow
from mecatui.slash.parse import name_being_typed
from mecatui.widgets.prompt import Prompt
from mecatui.widgets.slash_menu import MenuRow, SlashMenu

_PAGE = 8
_STEPS = {"up": -1, "down": 1, "pageup": -_PAGE, "pagedown": _PAGE}


class Run(NamedTuple):
    """Enter runs this line."""

    text: str


class Insert(NamedTuple):
    """Enter puts this name into the prompt and waits for arguments."""

    row: PaletteRow


Choice = Run | Insert
"""What Enter does: a closed union."""


class Completion:
    """Joins the prompt and its menu. What the menu shows is always computed from the text as it is."""

    def __init__(self, prompt: Prompt, menu: SlashMenu) -> None:
        self._prompt = prompt
        self._menu = menu
        self._hits: list[Hit] = []
        self._shown: list[MenuRow] = []
        self._query: str | None = None
        self._is_dismissed = False
        self._refused: str | None = None

    @property
    def is_open(self) -> bool:
        """The menu is shown."""
        return self._query is not None and not self._is_dismissed and self._query != self._refused

    def follow(self, text: str, cursor: int, palette: Palette, freshness: Freshness) -> None:
        """Show what fits the text now."""
        query = name_being_typed(text, cursor)
        self._prompt.set_hint(_hint(text, palette))
        if query is None:
            self._is_dismissed = False
        if query != self._refused:
            self._refused = None
        if query is None or self._is_dismissed or query == self._refused:
            self._query = query
            self._hide()
            return
        if query != self._query or not self._hits:
            self._query = query
            self._hits = _find(palette, query)
            self._show(palette, freshness)

    def forget(self) -> None:
        """Look anew at the next turn, since the palette has changed."""
        self._hits = []

    def dismiss(self) -> None:
        """Hide the menu until another name is typed."""
        self._is_dismissed = True
        self._hide()

    def step_aside(self) -> None:
        """Hide the menu until the name is edited: the line was not taken, and the person should see why."""
        self._refused = self._query
        self._hide()

    def press(self, key: str) -> None:
        """Move the light."""
        self._menu.move(_STEPS.get(key, 0))

    def lit(self) -> PaletteRow | None:
        """The row that Tab and Enter act on."""
        lit = self._menu.lit if self.is_open else None
        return None if lit is None else self.row_of(lit)

    def row_of(self, shown: MenuRow) -> PaletteRow | None:
        """The palette's row behind a row of the menu."""
        return next((hit.row for hit, row in zip(self._hits, self._shown, strict=True) if row is shown), None)

    def choose(self, text: str) -> Choice:
        """What Enter does with this text: the lit row, unless it is what was typed in full."""
        row = self.lit()
        if row is None or self._query in {row.name, row.inserts}:
            return Run(text)
        return Run(f"/{row.inserts}") if row.runs_at_once else Insert(row)

    def _show(self, palette: Palette, freshness: Freshness) -> None:
        self._shown = [_menu_row(hit) for hit in self._hits]
        if self._hits:
            self._menu.show(self._shown)
        elif freshness is Freshness.MISSING:
            self._menu.show_message("the list of commands is still on its way")
        elif not palette.has_commands:
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
