"""Plain frontmatter: the forms that most skills use, read without a YAML parser; anything else is declined."""

from server_stub.skills.frontmatter import Value

_KEY_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_KEY = _KEY_START | frozenset("0123456789_-")
_LONGEST_KEY = 64
_LARGEST = 8_192
"""Characters of frontmatter that is looked at: so few hold no more values than YAML is allowed to."""
_DEEPEST = 3
_NULLS = frozenset(["null", "Null", "NULL"])
_ITEM = _KEY | frozenset(" ./()+")
"""Characters that mean nothing but themselves within `[a, b]`."""
_BLOCKS = {" >-": (" ", ""), " >": (" ", "\n"), " |-": ("\n", ""), " |": ("\n", "\n")}
"""How a text over several lines is announced: what joins its lines, and what ends it."""


def read_plain(text: str) -> dict[str, Value] | None:
    """`key: value` lines with plain or simply quoted values, texts over several lines, lists, and mappings of these.

    None where any line could mean something else to YAML: this never guesses. The text is clean and ends its lines.
    """
    if len(text) > _LARGEST:
        return None
    lines = text.split("\n")
    return None if lines.pop() else _mapping(lines, 0)


def _mapping(lines: list[str], depth: int) -> dict[str, Value] | None:
    mapping: dict[str, Value] = {}
    at, count = 0, len(lines)
    while at < count:
        line = lines[at]
        key, colon, written = line.partition(":")
        at += 1
        if not line and mapping:
            continue
        if not colon or not _is_key(key) or key in mapping:
            return None
        value: Value = _scalar(written)
        if value is None:
            value, at = _block(written, lines, at, depth)
            if value is None:
                return None
        mapping[key] = value
    return mapping or None


def _is_key(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_KEY and text[0] in _KEY_START and _KEY.issuperset(text)


def _scalar(written: str) -> str | None:
    """The text of ` value`; None unless it certainly means that text."""
    value = written[1:]
    if not value or written[0] != " " or "\t" in value:
        return None
    first, last = value[0], value[-1]
    if first.isalnum() or first in "(/":
        if ": " in value or " #" in value or last in ": " or value in _NULLS:
            return None
        return value
    if first in "\"'" and last == first and len(value) > 1:
        inside = value[1:-1]
        return None if first in inside or "\\" in inside else inside
    return None


def _block(written: str, lines: list[str], at: int, depth: int) -> tuple[Value, int]:
    """What `key:` is given in brackets or on the lines from `at`, and the line where the next key may be."""
    if written[:2] == " [" and written[-1] == "]":
        return _flow(written[2:-1]), at
    if not written and lines[at : at + 1] and lines[at][:2] == "- ":
        end = at
        while end < len(lines) and lines[end][:2] == "- ":
            end += 1
        return _items(lines[at:end]), end
    end = at
    while end < len(lines) and lines[end][:2] in ("  ", ""):
        end += 1
    while end > at and not lines[end - 1]:
        end -= 1
    inner = [line[2:] for line in lines[at:end]]
    if not inner or depth == _DEEPEST:
        return None, at
    if written in _BLOCKS:
        return _text(inner, *_BLOCKS[written]), end
    if written:
        return None, at
    return _items(inner) if inner[0][:2] == "- " else _mapping(inner, depth + 1), end


def _text(lines: list[str], joint: str, ending: str) -> str | None:
    """A text over several lines, all equally far to the right, none of them blank."""
    if any(line[:1] in ("", " ", "\t") for line in lines):
        return None
    return joint.join(lines) + ending


def _items(lines: list[str]) -> list[Value] | None:
    items: list[Value] = [_scalar(line[1:]) if line[:1] == "-" else None for line in lines]
    return None if None in items else items


def _flow(inside: str) -> list[Value] | None:
    items: list[Value] = []
    for item in inside.split(", "):
        if item[:1] not in _KEY_START or item[-1] == " " or not _ITEM.issuperset(item) or item in _NULLS:
            return None
        items.append(item)
    return items
