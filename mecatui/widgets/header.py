"""The first line of the screen: which session this is, which model answers, in which mode and where."""

from dataclasses import dataclass
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from mecatui.plain_text import clip_cells, one_line
from mecatui.widgets.line import Part, component_look, line_strip, parts_width

_GAP = "   "
_SHORT_SESSION = 7
_SHORT_MODEL = 16


@dataclass(frozen=True, slots=True)
class HeaderValues:
    """What the header says. An empty part is unknown and left out."""

    session: str = ""
    model: str = ""
    mode: str = ""
    place: str = ""
    """Where the server is: `local`, or the address that the person gave."""
    title: str = ""
    """What the session is called."""


class Header(Widget):
    """One line; on a narrow screen the parts get shorter, and then the less needed ones go."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"header--name", "header--part"}
    DEFAULT_CSS = """
    Header {
        height: 1;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        & > .header--name { color: $text-primary; text-style: bold; }
        & > .header--part { color: $text-muted; }
        &:ansi > .header--part { text-style: dim; }
    }
    """

    _values = HeaderValues()

    def show(self, values: HeaderValues) -> None:
        """Show these values from the next frame on."""
        if values != self._values:
            self._values = values
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The one line, exactly as wide as the widget."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        return line_strip(self._fitting(width), [], width, self.rich_style)

    def _fitting(self, width: int) -> list[Part]:
        """The longest form that fits; the shortest one where none does."""
        values = self._values
        session, model = one_line(values.session), one_line(values.model)
        mode, place, title = one_line(values.mode), one_line(values.place), one_line(values.title)
        short_session = session[:_SHORT_SESSION]
        short_model = clip_cells(model.rpartition("/")[2] or model, _SHORT_MODEL)
        forms = (
            (session, title, model, mode, place),
            (session, model, mode, place),
            (short_session, short_model, mode, place),
            (short_session, short_model, mode),
            (short_session, short_model),
        )
        parts: list[Part] = []
        for form in forms:
            parts = self._parts(form)
            if parts_width(parts) <= width:
                break
        return parts

    def _parts(self, form: tuple[str, ...]) -> list[Part]:
        part = component_look(self, "header--part")
        name: Part = ("mecatui", component_look(self, "header--name"))
        return [name, *(piece for text in form if text for piece in ((_GAP, None), (text, part)))]
