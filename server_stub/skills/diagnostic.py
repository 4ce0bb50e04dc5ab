"""Diagnostics: what a resolution left out, and why. Reasons are plain sentences without any path."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from server_stub.skills.skill import Skill
from server_stub.skills.tier import Tier


class SkipCode(StrEnum):
    """Why a skill was left out."""

    NO_FRONTMATTER = "no_frontmatter"
    UNCLOSED_FRONTMATTER = "unclosed_frontmatter"
    INVALID_YAML = "invalid_yaml"
    TOO_COMPLEX = "too_complex"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    NO_DESCRIPTION = "no_description"
    UNUSABLE_NAME = "unusable_name"
    NOT_A_FILE = "not_a_file"
    UNREADABLE = "unreadable"
    BROKEN_LINK = "broken_link"
    OUTSIDE = "outside"
    LOOP = "loop"
    CHANGED_WHILE_READ = "changed_while_read"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skill that was left out. `path` is for the server's log and for the person at its own machine only."""

    name: str
    origin: Tier
    code: SkipCode
    reason: str
    path: Path


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A skill that lost its name to one that comes earlier, of tier `by`."""

    skill: Skill
    by: Tier


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Something that looks like a skill but is not where, or not what, one is looked for; `fix` says what to do."""

    name: str
    origin: Tier
    fix: str
    path: Path


@dataclass(frozen=True, slots=True)
class SourceFault:
    """A source that could not be read as a whole; `label` names it without a path."""

    origin: Tier
    label: str
    reason: str

    def __str__(self) -> str:
        return f"{self.label} {self.reason}"
