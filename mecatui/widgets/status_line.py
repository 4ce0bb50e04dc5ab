"""The last line of the screen: what is going on, how full the context is, what was spent, which skills there are."""

from dataclasses import dataclass
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from mecatui.plain_text import one_line
from mecatui.widgets.line import Part, component_look, line_strip, parts_width

_GAP = "  "
_BAR_CELLS = 5
_HUNDRED = 100
_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class StatusValues:
    """What the status line says. `None` and empty parts are unknown and left out."""

    state: str = ""
    """What is going on, in words: `ready`, `running · esc cancels`, `server gone`."""
    context_share: float | None = None
    """How much of the model's context is in use, 0 to 1."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_share: float | None = None
    """How much of the last request the provider read from its cache, 0 to 1."""
    skills: int | None = None
    skills_new: int = 0
    skills_gone: int = 0


class StatusLine(Widget):
    """One line: the state at its left, figures after it; on a narrow screen the less needed figures go."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"status-line--state", "status-line--figure"}
    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        & > .status-line--state { text-style: bold; }
        & > .status-line--figure { color: $text-muted; }
        &:ansi > .status-line--figure { text-style: dim; }
    }
    """

    _values = StatusValues()

    def show(self, values: StatusValues) -> None:
        """Show these values from the next frame on."""
        if values != self._values:
            self._values = values
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The one line, exactly as wide as the widget."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        state = one_line(self._values.state)
        look = component_look(self, "status-line--figure")
        left: list[Part] = [(state, component_look(self, "status-line--state"))] if state else []
        taken = parts_width(left)
        right: list[Part] = []
        for form in _forms(self._values):
            right = [(_GAP.join(form), look)] if form else []
            if parts_width(right) + taken + (len(_GAP) if state else 0) <= width:
                break
        return line_strip(left, right, width, self.rich_style)


def _forms(values: StatusValues) -> list[list[str]]:
    """The figures from the fullest form to none at all."""
    context, short_context = _context(values.context_share, bar=True), _context(values.context_share, bar=False)
    tokens = _tokens(values)
    cache = "" if values.cache_share is None else f"cache {_percent(values.cache_share)}"
    skills, changes = _skills(values)
    forms = (
        (context, tokens, cache, skills + changes),
        (short_context, tokens, cache, skills + changes),
        (short_context, cache, skills + changes),
        (short_context, cache, skills),
        (short_context, cache),
        (short_context,),
        (),
    )
    return [[part for part in form if part] for form in forms]


def _context(share: float | None, *, bar: bool) -> str:
    if share is None:
        return ""
    filled = min(_BAR_CELLS, max(0, round(share * _BAR_CELLS)))
    drawn = "▓" * filled + "░" * (_BAR_CELLS - filled) + " " if bar else ""
    return f"ctx {drawn}{_percent(share)}"


def _tokens(values: StatusValues) -> str:
    received = "" if values.tokens_in is None else f"↑{_short(values.tokens_in)}"
    sent = "" if values.tokens_out is None else f"↓{_short(values.tokens_out)}"
    return f"{received} {sent}".strip()


def _skills(values: StatusValues) -> tuple[str, str]:
    """The number of skills, and what changed since the model was told of them."""
    if values.skills is None:
        return "", ""
    new = f" · {values.skills_new} new" if values.skills_new else ""
    gone = f" · {values.skills_gone} gone" if values.skills_gone else ""
    return f"skills {values.skills}", new + gone


def _percent(share: float) -> str:
    return f"{min(1.0, max(0.0, share)):.0%}"


def _short(number: int) -> str:
    """A count in at most five characters up to the millions: 999, 1.1k, 12.3k, 123k, 1.2M."""
    if number < _THOUSAND:
        return str(number)
    scaled, units = number / _THOUSAND, "kMG"
    while round(scaled) >= _THOUSAND and len(units) > 1:
        scaled, units = scaled / _THOUSAND, units[1:]
    return f"{scaled:.1f}{units[0]}" if scaled < _HUNDRED else f"{scaled:.0f}{units[0]}"
