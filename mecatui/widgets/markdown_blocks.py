"""Markdown that arrives in pieces, cut into its top-level blocks as soon as nothing can change them any more."""

from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mecatui.plain_text import without_controls

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_EAGER = 4096
"""Unfinished text up to this length is looked at whenever a line is added; a longer one when it grew by a quarter."""


class MarkdownBlocks:
    """One message while it arrives. A finished block is never touched again; the rest is `live`.

    Block structure is decided line by line, so a block is finished once the next one began; an unfinished last line
    decides nothing. Definitions of link references count as part of the block that follows them.
    """

    def __init__(self) -> None:
        self.environment: MutableMapping[str, Any] = {}
        """What the parser carries over from block to block: the link references of the message."""
        self._lines = ""
        self._rest = ""
        self._look_at = 0

    @property
    def live(self) -> str:
        """The unfinished block, its unfinished line included."""
        return self._lines + without_controls(self._rest)

    @property
    def references(self) -> int:
        """How many link references the message defines so far."""
        return len(self.environment.get("references", ()))

    def feed(self, text: str) -> list[str]:
        """Add text; return the sources of the blocks that it finished."""
        complete, newline, self._rest = (self._rest + text).rpartition("\n")
        if not newline:
            return []
        # Cleaned by whole lines: an escape sequence may arrive in two pieces.
        self._lines += without_controls(complete + "\n")
        if _EAGER < len(self._lines) < self._look_at:
            return []
        done = self._cut()
        self._look_at = len(self._lines) * 5 // 4
        return done

    def finish(self) -> list[str]:
        """No more comes: the sources of all blocks that are left."""
        self._lines = self.live
        self._rest = ""
        done = self._cut()
        last, self._lines = self._lines, ""
        return [*done, last] if last.strip() else done

    def _cut(self) -> list[str]:
        ends = block_ends(self._lines, self.environment)
        if len(ends) < 2:  # noqa: PLR2004 - the last block is never finished
            return []
        lines = self._lines.split("\n")
        cuts = [0, *ends[:-1]]
        done = ["\n".join(lines[start:end]) for start, end in pairwise(cuts)]
        self._lines = "\n".join(lines[cuts[-1] :])
        return done


def block_ends(text: str, environment: MutableMapping[str, Any]) -> list[int]:
    """The line after each top-level block. What lies between two blocks (blank lines, definitions) is the later's."""
    tokens = _block_parser().parse(text, environment)
    return [token.map[1] for token in tokens if token.map is not None and not token.level and token.nesting >= 0]


@lru_cache(maxsize=1)
def _block_parser() -> "MarkdownIt":
    """A parser of block structure alone, which costs a fraction of a whole one."""
    parser = _parser()
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def parse(source: str, environment: Mapping[str, Any]) -> list["Token"]:
    """The tokens of a block, with the link references of its message, to which this adds none."""
    return _whole_parser().parse(source, {"references": dict(environment.get("references", {}))})


@lru_cache(maxsize=1)
def _whole_parser() -> "MarkdownIt":
    return _parser()


def _parser() -> "MarkdownIt":
    # Loaded with the first text: the first frame needs no Markdown.
    from markdown_it import MarkdownIt  # noqa: PLC0415 - loaded when first needed

    # HTML is shown as it was written. Nothing that a model writes is invisible.
    return MarkdownIt().enable(["strikethrough", "table"]).disable(["html_block", "html_inline"])
