"""Repair: frontmatter that is not YAML, read key by key, so that one odd value does not hide the skill."""

import re
from dataclasses import dataclass

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.frontmatter import Value, read_mapping
from server_stub.skills.rejected import Rejected
from server_stub.skills.warning import SkillWarning, WarningCode

MOST_KEYS = 200
"""Keys that are tried one by one; frontmatter with more is rejected as it stands."""

_KEY_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,63})[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_STRUCTURED = frozenset("[{\"'|>&*!")
"""First characters of values that are meant as YAML structure, not as text."""


@dataclass(slots=True)
class _Entry:
    """One key at the left margin and the lines up to the next."""

    key: str
    value: str
    lines: list[str]


def repair(text: str, failure: Rejected) -> tuple[dict[str, Value], list[SkillWarning]]:
    """Read each top-level key for itself; a value that is not YAML is taken as it was written, with a warning.

    Raises:
        Rejected: `failure` itself where the text has no keys, too many, or the `name` cannot be trusted.
    """
    mapping: dict[str, Value] = {}
    warnings: list[SkillWarning] = []
    for entry in _entries(text, failure):
        try:
            read, noted = read_mapping("\n".join(entry.lines))
        except Rejected as rejected:
            if rejected.code is not SkipCode.INVALID_YAML:
                raise
            read, noted = _as_written(entry, failure)
        duplicates = [key for key in read if key in mapping]
        mapping.update(read)
        warnings += noted
        warnings += [
            SkillWarning(WarningCode.DUPLICATE_KEY, f"`{key}` is given more than once; the last one is used")
            for key in duplicates
        ]
    return mapping, warnings


def _entries(text: str, failure: Rejected) -> list[_Entry]:
    entries: list[_Entry] = []
    for line in text.split("\n"):
        found = _KEY_LINE.fullmatch(line)
        if found is not None:
            entries.append(_Entry(found[1], (found[2] or "").strip(), [line]))
        elif entries:
            entries[-1].lines.append(line)
        elif line.strip() and not line.startswith("#"):
            raise failure
    if not entries or len(entries) > MOST_KEYS:
        raise failure
    return entries


def _as_written(entry: _Entry, failure: Rejected) -> tuple[dict[str, Value], list[SkillWarning]]:
    rest = [line.strip() for line in entry.lines[1:] if line.strip() and not line.startswith("#")]
    is_text = bool(entry.value) and entry.value[0] not in _STRUCTURED
    if entry.key == "name" and (rest or not is_text):
        raise failure
    if rest and not (entry.key == "description" and is_text):
        if entry.key == "description":
            raise failure
        ignored = SkillWarning(
            WarningCode.VALUE_IGNORED, f"the value of `{entry.key}` is not valid YAML and is ignored"
        )
        return {}, [ignored]
    repaired = SkillWarning(
        WarningCode.YAML_REPAIRED,
        f"the value of `{entry.key}` is not valid YAML and is taken as it was written; put it in quotes",
    )
    return {entry.key: " ".join([entry.value, *rest])}, [repaired]
