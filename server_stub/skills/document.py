"""The document: the bytes of a SKILL.md, divided into frontmatter and body."""

import codecs
import re
from typing import NamedTuple

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.rejected import Rejected
from server_stub.skills.text import clean_text, hidden_characters, is_plain

FILE_NAME = "SKILL.md"

LARGEST_FILE = 1024 * 1024
"""Bytes of a SKILL.md; a larger one is left out."""

LARGEST_FRONTMATTER = 256 * 1024
"""Bytes of frontmatter; more is no description but an attack or an accident."""

_OPENING = re.compile(rb"---[ \t]*\n")
_CLOSING = re.compile(rb"\n---[ \t]*(?:\n(?:[ \t]*\n)*|\Z)")
"""The line that closes frontmatter, and the blank lines below it."""
_LEADING_BLANK = re.compile(r"(?:[ \t]*\n)+")


class Document(NamedTuple):
    """Frontmatter and body, both clean; `hidden` are the classes of unseen characters in either."""

    frontmatter: str
    body: str
    hidden: tuple[str, ...]


def split_document(raw: bytes) -> Document:
    """Divide a file at the two `---` lines. A byte order mark is dropped, CRLF and CR become LF.

    Raises:
        Rejected: too large, not UTF-8, or without frontmatter that begins and ends.
    """
    if len(raw) > LARGEST_FILE:
        raise Rejected(SkipCode.TOO_LARGE, "the file is larger than 1 MiB")
    data = raw.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    opening = _OPENING.match(data)
    if opening is None:
        raise Rejected(SkipCode.NO_FRONTMATTER, _say_what_is_missing(data))
    closing = _CLOSING.search(data, opening.end() - 1)
    if closing is None:
        raise Rejected(SkipCode.UNCLOSED_FRONTMATTER, "the frontmatter has no closing `---` line")
    if closing.start() - opening.end() > LARGEST_FRONTMATTER:
        raise Rejected(SkipCode.TOO_COMPLEX, "the frontmatter is larger than 256 KiB")
    frontmatter = _decode(data[opening.end() : closing.start() + 1])
    body = _decode(data[closing.end() :])
    if is_plain(data):
        return Document(frontmatter, body.rstrip(), ())
    hidden = hidden_characters(f"{frontmatter}\n{body}")
    return Document(clean_text(frontmatter), _trim(clean_text(body)), hidden)


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Rejected(SkipCode.NOT_UTF8, "the file is not UTF-8 text") from error


def _trim(body: str) -> str:
    """Without blank lines around it; the indentation of its first line stays."""
    blank = _LEADING_BLANK.match(body)
    return (body[blank.end() :] if blank else body).rstrip()


def _say_what_is_missing(data: bytes) -> str:
    if data.count(b"\0") > len(data) // 8:
        return "the file is not UTF-8 text"
    if _CLOSING.search(data) is not None:
        return "the file does not begin with its frontmatter; move the `---` lines to the very top"
    return "the file has no frontmatter; begin it with a `---` line, `description: …` and another `---` line"
