"""Outside text made harmless: cleaned once, when it is read, and cut between grapheme clusters."""

import re

from wcwidth import iter_graphemes

_CONTROLS = bytes([*range(9), *range(0x0B, 0x20), 0x7F])
"""Bytes that plain text does not hold: all of C0 but tab and line feed, and DEL."""

_SUSPECT_BYTES = (
    # UTF-8 of all that cleaning removes or a reader cannot see. Each begins with one literal byte, which makes
    # the search a memchr.
    re.compile(rb"\xc2[\x80-\x9f]"),
    re.compile(rb"\xe1\xa0\x8e"),
    re.compile(rb"\xe2(?:\x80[\x8b-\x8d\xa8-\xae]|\x81[\xa0-\xa9])"),
    re.compile(rb"\xef(?:\xbb\xbf|\xbf[\xbe\xbf]|\xb8[\x80-\x8f]\xef\xb8)"),
    re.compile(rb"\xf3\xa0"),
)

_SEPARATORS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_REMOVED = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)

_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
"""A subdivision flag: the one honest use of tag characters."""

_HIDDEN = (
    ("control characters", re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")),
    ("line separators", re.compile("[\u2028\u2029]")),
    ("bidirectional controls", re.compile("[\u202a-\u202e\u2066-\u2069]")),
    (
        "zero-width characters",
        # Joiners are part of emoji and of several scripts: they are odd only beside ASCII or nothing.
        re.compile("[\u200b\u2060-\u2064\ufeff\u180e]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"),
    ),
    ("tag characters", re.compile("[\U000e0000-\U000e007f]")),
    ("variation selectors in a row", re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")),
)


def is_plain(data: bytes) -> bool:
    """Whether UTF-8 text holds nothing that cleaning would remove or a reader could not see."""
    for control in _CONTROLS:  # one memchr each: less than a pass that looks at every byte
        if control in data:
            return False
    return data.isascii() or not any(pattern.search(data) for pattern in _SUSPECT_BYTES)


def clean_text(text: str) -> str:
    """Text over lines: control characters and bidi overrides removed, odd separators turned to spaces."""
    if text.isprintable():
        return text
    return _REMOVED.sub("", _SEPARATORS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")))


def clean_line(text: str) -> str:
    """Text on one line, ends trimmed: as `clean_text`, and line breaks and tabs turned to single spaces."""
    if text.isprintable():
        return text.strip()
    return " ".join(clean_text(text).split())


def clip_graphemes(text: str, limit: int) -> str:
    """At most `limit` characters, cut between grapheme clusters; a cut text ends in an ellipsis."""
    if len(text) <= limit:
        return text
    kept = 0
    for cluster in iter_graphemes(text):
        if kept + len(cluster) > limit - 1:
            break
        kept += len(cluster)
    return text[:kept].rstrip() + "…" if limit > 0 else ""


def hidden_characters(text: str) -> tuple[str, ...]:
    """The classes of characters that a reader cannot see, as words; emoji and flags raise no alarm."""
    bare = _FLAG.sub("", text)
    return tuple(label for label, pattern in _HIDDEN if pattern.search(bare))
