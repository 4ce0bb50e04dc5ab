"""The expansion table: what `/name arguments` becomes before a model sees it."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Self

from server_stub.engine.commands import CommandFile
from server_stub.engine.placeholders import fill, has_places
from server_stub.skills.assets import list_assets
from server_stub.skills.identity import normalise
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.text import clean_line
from server_stub.skills.tier import Tier

Assets = Callable[[Skill, int], Sequence[tuple[str, int]]]
"""The first n files bundled with a skill, each as name and size, as they are on disk now."""

_ASSETS_NAMED = 50
_SLASH = re.compile(r"\s*/(?:(?P<tier>[a-z]+)/)?(?P<name>[^\s/]+)(?=\s|\Z)")
_GAP = re.compile(r"[^\S\n]*(?:\n(?:[^\S\n]*\n)*)?")
_TIERS = frozenset(tier.value for tier in Tier)
_MARKS = frozenset("_-.:")


class CommandKind(StrEnum):
    """Where a `/name` comes from."""

    COMMAND = "command"
    SKILL = "skill"


@dataclass(frozen=True, slots=True)
class Invocation:
    """A text in the form of a command, whether or not there is one of this name."""

    name: str
    """Normalised; case as typed."""
    tier: Tier | None
    """The tier whose first candidate is wanted, also a shadowed one."""
    arguments: str
    """As typed; the indentation of a first line below the name is kept."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A command resolved."""

    name: str
    text: str
    """What the model is given as the user's message."""


@dataclass(frozen=True, slots=True)
class ExpansionRow:
    """One name of the table, without its body."""

    name: str
    description: str
    kind: CommandKind
    origin: str
    argument_hint: str
    placeholders: bool
    """The body has a place for arguments; otherwise they are appended."""
    body_bytes: int
    body_sha256: str


@dataclass(frozen=True)
class ExpansionTable:
    """The names that `/name` resolves: command files, then the skills of one snapshot. Never changed.

    A skill that the user may not invoke has no name here, and takes its name from no command.
    """

    snapshot: SkillSnapshot = field(repr=False)
    commands: tuple[CommandFile, ...] = field(default=(), repr=False)
    assets: Assets = field(default=list_assets, repr=False, compare=False)

    @classmethod
    def build(cls, snapshot: SkillSnapshot, commands: Sequence[CommandFile] = (), assets: Assets = list_assets) -> Self:
        """The table of a snapshot; of two command files with one name the first counts."""
        return cls(snapshot, tuple({command.name: command for command in reversed(commands)}.values()), assets)

    def sources(self) -> tuple[CommandFile | Skill, ...]:
        """What has a name here, sorted by name."""
        return self._sources

    def expand(self, text: str) -> Expansion | None:
        """What a typed text becomes; None when it is no command of this table, and so goes out as it is."""
        invocation = parse_invocation(text)
        found = invocation and self._find(invocation)
        if not invocation or not found:
            return None
        declared = bool(found.arguments or found.argument_hint)
        filled = fill(found.body, invocation.arguments, found.arguments, positional=declared)
        parts = [filled.text]
        if isinstance(found, Skill):
            parts += self._bundled(found)
        if invocation.arguments and not filled.used:
            # Last, so that nothing which the server adds stands behind text that somebody typed.
            parts.append(f"Arguments:\n{invocation.arguments}")
        return Expansion(found.name, "\n\n".join(parts))

    def _find(self, invocation: Invocation) -> CommandFile | Skill | None:
        if invocation.tier is not None:
            skill = self.snapshot.find(invocation.name, invocation.tier)
            return skill if skill and skill.user_invocable else None
        exact = self._named(invocation.name)
        if exact is not None:
            return exact
        alike = self._by_folded_name.get(invocation.name.casefold(), ())
        return self._named(alike[0]) if len(alike) == 1 else None

    def _named(self, name: str) -> CommandFile | Skill | None:
        command = self._commands_by_name.get(name)
        skill = None if command else self.snapshot.get(name)
        return command or (skill if skill and skill.user_invocable else None)

    def _bundled(self, skill: Skill) -> list[str]:
        found = [name for name, _ in self.assets(skill, _ASSETS_NAMED + 1)]
        if not found:
            return []
        more = ["- more, not shown"] if len(found) > _ASSETS_NAMED else []
        names = [f"- {clean_line(name)}" for name in found[:_ASSETS_NAMED]]
        return ["\n".join([f"Files bundled with `{skill.name}`, for the Skill tool's `asset`:", *names, *more])]

    @cached_property
    def _commands_by_name(self) -> dict[str, CommandFile]:
        return {command.name: command for command in self.commands}

    @cached_property
    def _by_folded_name(self) -> dict[str, tuple[str, ...]]:
        folded: dict[str, tuple[str, ...]] = {}
        for source in self._sources:
            key = source.name.casefold()
            folded[key] = (*folded.get(key, ()), source.name)
        return folded

    @cached_property
    def _sources(self) -> tuple[CommandFile | Skill, ...]:
        taken = self._commands_by_name
        skills = [skill for skill in self.snapshot.skills if skill.user_invocable and skill.name not in taken]
        return tuple(sorted([*self.commands, *skills], key=attrgetter("name")))


def parse_invocation(text: str) -> Invocation | None:
    """Read `/name arguments` or `/tier/name arguments`; None for any other text, such as a path.

    Leading blanks do not count. The arguments are the rest, over as many lines as there are, without blanks at
    their end; blanks and empty lines before them are a gap.
    """
    match = _SLASH.match(text)
    if match is None:
        return None
    tier, name = match["tier"], normalise(match["name"])
    if (tier is not None and tier not in _TIERS) or not _is_identity(name):
        return None
    gap = _GAP.match(text, match.end())
    rest = text[gap.end() if gap else match.end() :].rstrip()
    return Invocation(name, Tier(tier) if tier else None, rest)


def _is_identity(name: str) -> bool:
    """Made of letters, their marks and digits of any script, and `_ - . :`, with one letter or digit at least."""
    return any(character.isalnum() for character in name) and all(
        character.isalnum() or character in _MARKS or unicodedata.category(character)[0] == "M" for character in name
    )


def row_of(source: CommandFile | Skill) -> ExpansionRow:
    """What a list says of a name."""
    declared = bool(source.arguments or source.argument_hint)
    return ExpansionRow(
        name=source.name,
        description=source.summary if isinstance(source, Skill) else source.description,
        kind=CommandKind.SKILL if isinstance(source, Skill) else CommandKind.COMMAND,
        origin=source.origin.value,
        argument_hint=source.argument_hint,
        placeholders=has_places(source.body, source.arguments, positional=declared),
        body_bytes=source.body_bytes,
        body_sha256=source.body_sha256,
    )
