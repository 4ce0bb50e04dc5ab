"""Places for arguments in a body: `$ARGUMENTS`, `$1` and so on, and declared names as `$name`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_FENCE = re.compile(r"[ \t>]*(`{3,}(?=[^`]*$)|~{3,})", re.MULTILINE)
_WHOLE = re.compile(r"(?<!\$)\$(?P<whole>ARGUMENTS)(?!\w)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\])")
_UNQUOTED = re.compile(r"""\\([\s"'])|(\s+)|(.)""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Filled:
    """A body with its arguments in place."""

    text: str
    used: bool
    """The body had a place for them."""


def fill(body: str, arguments: str, names: tuple[str, ...], *, positional: bool) -> Filled:
    """Put the arguments, as typed, where the body wants them. What was put in is not looked at again.

    `$1` and names count only when `positional`, and never inside fenced code, where `$1` is mostly awk's or the
    shell's own. A number that has no word gives nothing; any other `$` stays as it is.
    """
    if "$" not in body:
        return Filled(body, used=False)
    words = split_words(arguments) if positional else []
    used = False

    def put(match: re.Match[str]) -> str:
        nonlocal used
        used = True
        found = match.groupdict()
        if found["whole"]:
            return arguments
        index = int(found["number"]) - 1 if found["number"] else names.index(found["name"])
        return words[index] if index < len(words) else ""

    everywhere = _pattern(names) if positional else _WHOLE
    parts = [(_WHOLE if fenced else everywhere).sub(put, part) for part, fenced in _parts(body)]
    return Filled("".join(parts), used)


def has_places(body: str, names: tuple[str, ...], *, positional: bool) -> bool:
    """Whether a body has a place for arguments."""
    if "$ARGUMENTS" in body and _WHOLE.search(body):
        return True
    return (
        positional and "$" in body and any(_pattern(names).search(part) for part, fenced in _parts(body) if not fenced)
    )


def split_words(text: str) -> list[str]:
    """Words as a shell would see them, and no error ever: a quote that is not closed is an ordinary character.

    Quotes group only where a word or a value (`key="a b"`) begins, so that an apostrophe is one.
    """
    words: list[str] = []
    word: list[str] | None = None
    at = 0
    while at < len(text):
        opens = word is None or word[-1:] == ["="]
        quoted = _QUOTED.match(text, at) if opens else None
        if quoted:
            double, single = quoted.groups()
            word = word or []
            word.append(single if double is None else _ESCAPED.sub(r"\1", double))
            at = quoted.end()
            continue
        other = _UNQUOTED.match(text, at)
        if other is None:
            break
        escaped, blank, plain = other.groups()
        if blank and word is not None:
            words.append("".join(word))
            word = None
        elif not blank:
            word = word or []
            word.append(escaped or plain)
        at = other.end()
    return words if word is None else [*words, "".join(word)]


@lru_cache(maxsize=512)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """All that may stand in prose. A number that goes on as a price does, `$1,000` or `$5.50`, is one."""
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name) or r"(?!)"
    return re.compile(
        r"(?<!\$)\$(?:(?P<whole>ARGUMENTS)(?!\w)|(?P<number>[1-9][0-9]{0,2})(?!\w|[.,][0-9])"
        rf"|(?P<name>{alternatives})(?!\w))"
    )


def _parts(body: str) -> Iterator[tuple[str, bool]]:
    """The body in order, in parts that are fenced code or are not."""
    start, fence = 0, ""
    at = 0
    for line in body.splitlines(keepends=True):
        end = at + len(line)
        mark = _FENCE.match(line.rstrip("\r\n"))
        if mark and not fence:
            if start < at:
                yield body[start:at], False
            start, fence = at, mark[1]
        elif mark and mark[1].startswith(fence) and not line.rstrip()[mark.end() :].strip():
            yield body[start:end], True
            start, fence = end, ""
        at = end
    if start < len(body):
        yield body[start:], bool(fence)
