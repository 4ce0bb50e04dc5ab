"""What was sent from the prompt, and the draft that waits while a person looks through it."""

from collections import deque
from collections.abc import Iterable

_MOST_ENTRIES = 500


class Drafts:
    """A history with a place in it. The text at hand is put back where it came from when the place moves."""

    def __init__(self) -> None:
        self._sent: deque[str] = deque(maxlen=_MOST_ENTRIES)
        self._place: int | None = None
        self._draft = ""

    def load(self, entries: Iterable[str]) -> None:
        """Replace the history, oldest first."""
        self._sent.clear()
        self._sent.extend(entries)
        self.leave()

    def remember(self, text: str) -> None:
        """Add a text that was sent; the same text twice in a row is one entry."""
        if text.strip() and (not self._sent or self._sent[-1] != text):
            self._sent.append(text)
        self.leave()

    def leave(self) -> None:
        """Forget the place and the draft that waits."""
        self._place, self._draft = None, ""

    def before(self, at_hand: str) -> str | None:
        """The entry before; `None` at the oldest one. The first step keeps `at_hand` as the draft."""
        place = len(self._sent) if self._place is None else self._place
        if place == 0:
            return None
        if self._place is None:
            self._draft = at_hand
        self._place = place - 1
        return self._sent[self._place]

    def after(self) -> str | None:
        """The entry after, and after the newest the draft that waited; `None` where no entry is shown."""
        if self._place is None:
            return None
        if self._place + 1 < len(self._sent):
            self._place += 1
            return self._sent[self._place]
        draft = self._draft
        self.leave()
        return draft
