"""Frontmatter: YAML read as events into plain text, lists and mappings; nothing is ever constructed."""

from collections.abc import Callable
from dataclasses import dataclass, field

import yaml
from yaml._yaml import CParser

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.rejected import Rejected
from server_stub.skills.text import clean_line, clip_graphemes
from server_stub.skills.warning import SkillWarning, WarningCode

Value = str | list["Value"] | dict[str, "Value"] | None
"""A YAML value. Every scalar is the text as written, so `yes`, `1.10` and `2026-01-02` stay what they are."""

MOST_NODES = 10_000
"""Values that one frontmatter may hold, an alias counting as all that it stands for."""

DEEPEST = 32
"""Levels that values may nest."""

_NULLS = frozenset(["", "~", "null", "Null", "NULL"])


@dataclass(slots=True)
class _Open:
    """A list or mapping that has begun and not ended."""

    into: list[Value] | dict[str, Value]
    anchor: str | None
    nodes_before: int
    key: str | None = None
    expects_key: bool = False
    """Whether the next value is a key; never so in a list."""


@dataclass(slots=True)
class _Tree:
    """The value under construction, fed with one event after the other."""

    root: Value = None
    documents: int = 0
    nodes: int = 0
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Value, int]] = field(default_factory=dict)
    warnings: list[SkillWarning] = field(default_factory=list)

    def document(self, event: yaml.DocumentStartEvent) -> None:
        del event
        self.documents += 1
        if self.documents > 1:
            raise Rejected(SkipCode.INVALID_YAML, "the frontmatter holds more than one YAML document")

    def scalar(self, event: yaml.ScalarEvent) -> None:
        value: Value = event.value
        self.nodes += 1
        if event.tag is not None:
            self._note_tag()
        is_key = bool(self.open) and self.open[-1].expects_key
        if value in _NULLS and not is_key and not event.style and event.tag is None:
            value = None
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        if is_key:
            self.open[-1].key = event.value
            self.open[-1].expects_key = False
        else:
            self.add(value)

    def alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self.anchors:
            raise Rejected(SkipCode.INVALID_YAML, "the frontmatter refers to a YAML anchor that is not there")
        value, weight = self.anchors[event.anchor]
        self.nodes += weight
        self.add(value)

    def begin_list(self, event: yaml.SequenceStartEvent) -> None:
        self._begin([], event)

    def begin_mapping(self, event: yaml.MappingStartEvent) -> None:
        self._begin({}, event)

    def end(self, event: yaml.Event) -> None:
        del event
        closed = self.open.pop()
        if closed.anchor is not None:
            self.anchors[closed.anchor] = (closed.into, self.nodes - closed.nodes_before)
        self.add(closed.into)

    def add(self, value: Value) -> None:
        """Put a finished value where it belongs. A key that is no text drops the pair."""
        if self.nodes > MOST_NODES:
            raise Rejected(SkipCode.TOO_COMPLEX, f"the frontmatter holds more than {MOST_NODES} values")
        if not self.open:
            self.root = value
            return
        top = self.open[-1]
        if top.expects_key:
            top.key = value if isinstance(value, str) else None
            top.expects_key = False
        elif isinstance(top.into, list):
            top.into.append(value)
        else:
            top.expects_key = True
            if top.key is None:
                return
            if top.key in top.into:
                self._note_duplicate(top.key)
            top.into[top.key] = value

    def _begin(self, into: list[Value] | dict[str, Value], event: yaml.CollectionStartEvent) -> None:
        if event.tag is not None:
            self._note_tag()
        if len(self.open) >= DEEPEST:
            raise Rejected(SkipCode.TOO_COMPLEX, f"the frontmatter nests more than {DEEPEST} levels deep")
        self.open.append(_Open(into, event.anchor, self.nodes, expects_key=isinstance(into, dict)))
        self.nodes += 1

    def _note_tag(self) -> None:
        warning = SkillWarning(WarningCode.TAG_IGNORED, "a YAML tag (a word that begins with `!`) is ignored")
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _note_duplicate(self, key: str) -> None:
        shown = clip_graphemes(clean_line(key), 64)
        warning = SkillWarning(WarningCode.DUPLICATE_KEY, f"`{shown}` is given more than once; the last one is used")
        if warning not in self.warnings:
            self.warnings.append(warning)


_FEED: dict[type[yaml.Event], Callable[..., None]] = {
    yaml.DocumentStartEvent: _Tree.document,
    yaml.ScalarEvent: _Tree.scalar,
    yaml.AliasEvent: _Tree.alias,
    yaml.SequenceStartEvent: _Tree.begin_list,
    yaml.MappingStartEvent: _Tree.begin_mapping,
    yaml.SequenceEndEvent: _Tree.end,
    yaml.MappingEndEvent: _Tree.end,
}


def read_mapping(text: str) -> tuple[dict[str, Value], list[SkillWarning]]:
    """Read YAML whose root is a mapping (or nothing at all), with what was unusual about it.

    Raises:
        Rejected: `INVALID_YAML`, or `TOO_COMPLEX` when a cap is passed.
    """
    tree = _Tree()
    try:
        parser = CParser(text)
        while (event := parser.get_event()) is not None:
            feed = _FEED.get(type(event))
            if feed is not None:
                feed(tree, event)
    except yaml.YAMLError as error:
        raise Rejected(SkipCode.INVALID_YAML, _explain(error)) from error
    if tree.root is None:
        return {}, tree.warnings
    if not isinstance(tree.root, dict):
        raise Rejected(SkipCode.INVALID_YAML, "the frontmatter is not a list of `key: value` lines")
    return tree.root, tree.warnings


def _explain(error: yaml.YAMLError) -> str:
    """What the reader stumbled over, and in which line of the file (the frontmatter begins in its second)."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return "the frontmatter is not valid YAML"
    problem = clip_graphemes(clean_line(error.problem or "unreadable"), 120)
    return f"the frontmatter is not valid YAML (line {error.problem_mark.line + 2}: {problem})"
