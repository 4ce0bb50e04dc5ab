"""Parsed skills kept by the stamp of their file, so that an unchanged one is neither read nor held twice."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from server_stub.skills.diagnostic import NearMiss, Skipped
from server_stub.skills.reading import Stamp
from server_stub.skills.skill import Skill

_FINE_NS = 100_000_000
"""How much older than the reading a file's times must be where the file system counts in nanoseconds."""

_COARSE_NS = 2_000_000_000
"""The same where the times are whole seconds."""

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What one SKILL.md was read as, and the stamp that it had then."""

    stamp: Stamp
    is_settled: bool
    """False when the file was so young that a later edit might bear the same stamp."""
    outcome: Skill | Skipped
    nested: tuple[NearMiss, ...] = ()
    """SKILL.md files within the skill's folder, as they were seen when it was read."""


@dataclass(frozen=True, slots=True)
class ParsedSkills:
    """The parsed files of one scan; a scan makes the next one and never changes this."""

    files: Mapping[str, ParsedFile] = field(default_factory=dict, repr=False)


def is_settled(stamp: Stamp, read_at_ns: int) -> bool:
    """Whether the times of a stamp are safely older than the moment of reading, given the clock's granularity."""
    _, _, _, mtime, ctime = stamp
    is_coarse = mtime % _SECOND_NS == 0 and ctime % _SECOND_NS == 0
    return max(mtime, ctime) < read_at_ns - (_COARSE_NS if is_coarse else _FINE_NS)


def now_ns() -> int:
    """The clock that file times are compared with."""
    return time.time_ns()
