"""Plain frontmatter: the forms that most skills use, read without a YAML parser; anything else is declined."""

from server_stub.skills.frontmatter import Value

_KEY_START = frozenset("abcdefghijklmnopqrstuvwxyz")
_KEY = _KEY_START | frozenset("0123456789_-")
_LONGEST_KEY = 64
_NULLS = frozenset(["null", "Null", "NULL"])


def read_plain(text: str) -> dict[str, Value] | None:
    """`key: value` lines, and one level of the same under `key:`, with plain or simply quoted values.

    None where any line could mean something else to YAML: this never guesses.
    """
    mapping: dict[str, Value] = {}
    inner: dict[str, Value] = {}
    is_open = False
    for line in text.removesuffix("\n").split("\n"):
        is_inner = line[:2] == "  "
        if is_open and not is_inner and not inner:
            return None
        is_open = is_open and is_inner
        if is_inner and not is_open:
            return None
        key, _, written = (line[2:] if is_inner else line).partition(":")
        if not _is_key(key) or key in (inner if is_inner else mapping):
            return None
        if not written and not is_inner and line[-1:] == ":":
            is_open, inner = True, {}
            mapping[key] = inner
            continue
        value = _scalar(written)
        if value is None:
            return None
        (inner if is_inner else mapping)[key] = value
    return None if is_open and not inner else mapping


def _is_key(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_KEY and text[0] in _KEY_START and _KEY.issuperset(text)


def _scalar(written: str) -> str | None:
    """The text of ` value`; None unless it certainly means that text."""
    value = written[1:]
    if not value or written[0] != " " or "\t" in value:
        return None
    first, last = value[0], value[-1]
    if first.isalnum() or first == "(":
        if ": " in value or " #" in value or last in ": " or value in _NULLS:
            return None
        return value
    if first in "\"'" and last == first and len(value) > 1:
        inside = value[1:-1]
        return None if first in inside or "\\" in inside else inside
    return None
