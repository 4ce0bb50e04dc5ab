"""The rows of the slash palette in Textual's command palette (ctrl+p)."""

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from mecatui.slash.palette import Hit as Found
from mecatui.slash.palette import PaletteHost, PaletteRow

_LISTED = 200
_BY_NAME = 1000.0


class PaletteProvider(Provider):
    """Offers what the screen beneath offers after a slash.

    Rows are found by our own matcher: the time Textual's takes depends on what an outsider named a skill.
    """

    async def discover(self) -> Hits:
        """All rows, in the order of the slash menu."""
        if isinstance(self.screen, PaletteHost):
            for found in self.screen.palette.find("", _LISTED):
                yield DiscoveryHit(
                    _display(found),
                    partial(self.screen.pick, found.row),
                    text=_text(found.row),
                    help=help_of(found.row),
                )

    async def search(self, query: str) -> Hits:
        """The rows that fit every word typed, best first."""
        if isinstance(self.screen, PaletteHost):
            for place, found in enumerate(self.screen.palette.find_by_words(query, _LISTED)):
                yield Hit(
                    _score(found, place),
                    _display(found),
                    partial(self.screen.pick, found.row),
                    text=_text(found.row),
                    help=help_of(found.row),
                )


def _score(found: Found, place: int) -> float:
    """What fits by name goes before Textual's own commands, whose scores begin at 1; what fits otherwise after them."""
    within = 1 - place / (_LISTED + 1)
    return _BY_NAME + within if found.matched else within


def _display(found: Found) -> Content:
    name = Content(f"/{found.row.name}")
    for place in found.matched:
        name = name.stylize("bold", place + 1, place + 2)
    return name + Content(f"  {found.row.badge}").stylize("dim")


def _text(row: PaletteRow) -> str:
    return f"/{row.inserts}"


def help_of(row: PaletteRow) -> str:
    """Textual reads this as markup, so brackets are made harmless."""
    line = f"{row.note} · {row.description}" if row.note else row.description
    return line[:300].replace("[", r"\[")
