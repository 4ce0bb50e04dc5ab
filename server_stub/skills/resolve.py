"""Resolution: from what the operator decided to sources, and from sources to a snapshot. Start-up and reload alike."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from server_stub.skills.cache import ParsedFile, ParsedSkills
from server_stub.skills.diagnostic import NearMiss, Shadowed, Skipped, SourceFault
from server_stub.skills.learned import LearnedSource
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.source import DirectorySource, Listing
from server_stub.skills.tier import Tier
from server_stub.skills.trust import is_trusted
from server_stub.skills.withheld import count_withheld

__all__ = ["ParsedSkills", "Resolution", "SkillOptions", "SourcePlan", "resolve", "skill_sources"]

_Located = TypeVar("_Located", Skipped, NearMiss)

_PROJECT_FOLDERS = (".mecatl/skills", ".agents/skills", ".claude/skills")
_USER_FOLDERS = (".agents/skills", ".claude/skills")


@dataclass(frozen=True, slots=True)
class SkillOptions:
    """Everything that an operator decides about skills; nothing of it comes from a session or a request."""

    workspace: Path
    explicit: tuple[Path, ...]
    """Folders that the operator named, in order of precedence."""
    conventional: bool
    """Whether the folders of the project and of the person are looked at."""
    trust_project: bool
    execution_local: bool
    home: Path
    config_home: Path
    trust_file: Path
    deadline_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """The sources of one resolution, in order of precedence; `withheld` as in the snapshot."""

    sources: tuple[DirectorySource, ...]
    withheld: int = 0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """A snapshot and the sources that could not be read for it; what faults mean is the caller's decision."""

    snapshot: SkillSnapshot
    faults: tuple[SourceFault, ...] = ()
    cache: ParsedSkills = field(default_factory=ParsedSkills, repr=False)
    """What the next resolution can reuse."""


def skill_sources(options: SkillOptions) -> SourcePlan:
    """The sources that the operator's configuration admits now: the trust decision is applied anew."""
    explicit = [
        DirectorySource(
            os.path.realpath(folder), Tier.EXPLICIT, f"the skills folder `{folder.name or '/'}`", is_expected=True
        )
        for folder in options.explicit
    ]
    if not options.conventional:
        return SourcePlan(_once_each(explicit))
    project = _project_sources(options) if options.execution_local else []
    decision = is_trusted(options.workspace, standing=options.trust_project, trust_file=options.trust_file)
    admitted = project if decision.is_trusted else []
    sources = _once_each([*explicit, *admitted, *_user_sources(options)])
    if decision.is_trusted or not project:
        return SourcePlan(sources)
    reachable = {source.root for source in sources}
    withheld = count_withheld(source.root for source in project if source.root not in reachable)
    return SourcePlan(sources, withheld, (decision.notice,) if decision.notice else ())


def resolve(
    options: SkillOptions, *, cache: ParsedSkills | None = None, learned: LearnedSource | None = None
) -> Resolution:
    """Read all configured sources and merge them. Blocks; to be called from a worker thread.

    `cache` is that of an earlier resolution: unchanged files are then neither read nor held twice.
    """
    deadline = time.monotonic() + options.deadline_seconds
    known = cache or ParsedSkills()
    plan = skill_sources(options)
    results = [source.list(known, deadline) for source in plan.sources]
    if learned is not None:
        results.append(learned.list())
    listings = [result for result in results if isinstance(result, Listing)]
    faults = tuple(result for result in results if isinstance(result, SourceFault))
    skills, shadowed = _merge(skill for listing in listings for skill in listing.skills)
    parsed: dict[str, ParsedFile] = {}
    for listing in listings:
        parsed.update(listing.parsed)
    snapshot = SkillSnapshot(
        skills=skills,
        shadowed=shadowed,
        skipped=_once_each_path(skip for listing in listings for skip in listing.skipped),
        near_misses=_once_each_path(near for listing in listings for near in listing.near_misses),
        withheld=plan.withheld,
        notices=(*plan.notices, *(notice for listing in listings for notice in listing.notices)),
    )
    return Resolution(snapshot, faults, ParsedSkills(parsed))


def _project_sources(options: SkillOptions) -> list[DirectorySource]:
    workspace = os.path.realpath(options.workspace)
    return [
        DirectorySource(
            os.path.realpath(f"{workspace}/{folder}"), Tier.PROJECT, f"the project's {folder}", confined_to=workspace
        )
        for folder in _PROJECT_FOLDERS
    ]


def _user_sources(options: SkillOptions) -> list[DirectorySource]:
    own = DirectorySource(os.path.realpath(options.config_home / "mecatl" / "skills"), Tier.USER, "your mecatl/skills")
    shared = [
        DirectorySource(os.path.realpath(options.home / folder), Tier.USER, f"your {folder}")
        for folder in _USER_FOLDERS
    ]
    return [own, *shared]


def _once_each(sources: Iterable[DirectorySource]) -> tuple[DirectorySource, ...]:
    """Two roots that are one folder count once, where they come first."""
    first: dict[str, DirectorySource] = {}
    for source in sources:
        first.setdefault(source.root, source)
    return tuple(first.values())


def _merge(skills: Iterable[Skill]) -> tuple[tuple[Skill, ...], tuple[Shadowed, ...]]:
    """Earlier wins. The same folder, reached twice, shadows nothing."""
    winners: dict[str, Skill] = {}
    shadowed = []
    for skill in skills:
        winner = winners.setdefault(skill.name, skill)
        if winner is not skill and winner.folder != skill.folder:
            shadowed.append(Shadowed(skill, winner.origin))
    return tuple(sorted(winners.values(), key=attrgetter("name"))), tuple(shadowed)


def _once_each_path(diagnostics: Iterable[_Located]) -> tuple[_Located, ...]:
    """One diagnostic for each file, however often it was reached."""
    first: dict[Path, _Located] = {}
    for diagnostic in diagnostics:
        first.setdefault(diagnostic.path, diagnostic)
    return tuple(first.values())
