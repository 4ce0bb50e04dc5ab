"""The lines that wait for their turn, above the prompt."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from mecatui.plain_text import clip_cells, one_line

_SHOWN = 3
_LENGTH = 400


class QueueList(Static):
    """Shows the waiting lines; hidden when there are none."""

    DEFAULT_CSS = """
    QueueList {
        height: auto;
        display: none;
        color: $text-muted;
        padding: 0 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &.-open { display: block; }
        &:ansi { text-style: dim; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, markup=False)

    def show(self, texts: Sequence[str], note: str) -> None:
        """Show the first of these lines and how many more there are; `note` says what they wait for."""
        self.set_class(bool(texts), "-open")
        if not texts:
            return
        rows = [f"⋯ {clip_cells(one_line(text[:_LENGTH]), _LENGTH)}" for text in texts[:_SHOWN]]
        more = len(texts) - _SHOWN
        rows += [f"  and {more} more"] if more > 0 else []
        self.update(Content("\n".join([f"{len(texts)} queued: {note}", *rows])))
