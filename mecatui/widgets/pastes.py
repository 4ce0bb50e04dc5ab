"""Long pastes as short markers: `[pasted 120 lines]` in the prompt, the whole text in what is sent."""

import re

_LONGEST_LINES = 20
_LONGEST_CHARACTERS = 4000
_MARKER = re.compile(r"\[pasted [\d,]+ (?:lines|characters)(?: #\d+)?\]")


class Pastes:
    """The texts behind the markers of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text as it is, or a marker for it when it is long."""
        lines = text.count("\n") + 1
        if lines <= _LONGEST_LINES and len(text) <= _LONGEST_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > _LONGEST_LINES else f"{len(text):,} characters"
        marker, number = f"[pasted {size}]", 1
        while self._texts.get(marker, text) != text:
            number += 1
            marker = f"[pasted {size} #{number}]"
        self._texts[marker] = text
        return marker

    def unfold(self, text: str) -> str:
        """The text with every marker replaced by what it stands for; a marker that nobody pasted stays."""
        if not self._texts:
            return text
        return _MARKER.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def marker_around(self, line: str, column: int) -> tuple[int, int] | None:
        """Where the marker begins and ends that `column` is inside of (not at either end)."""
        if not self._texts:
            return None
        for found in _MARKER.finditer(line):
            if found.start() < column < found.end() and found[0] in self._texts:
                return found.span()
        return None
