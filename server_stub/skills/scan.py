"""The scan: one walk over one root, in sorted order, each folder once by its real path."""

import os
import stat
import time
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from server_stub.skills.cache import ParsedFile, ParsedSkills, is_settled, now_ns
from server_stub.skills.diagnostic import NearMiss, SkipCode, Skipped
from server_stub.skills.document import FILE_NAME
from server_stub.skills.nested import FOLDER_FLAGS, is_pruned, nested_skill_files
from server_stub.skills.parse import parse_skill
from server_stub.skills.reading import Absent, Contents, Linked, Reading, Unread, read_file, stamp_of, unread
from server_stub.skills.skill import Skill
from server_stub.skills.text import clean_line
from server_stub.skills.tier import Tier

DEEPEST = 6
"""Levels below the root at which a skill is found."""

_SEARCHED_WITHIN = 400
"""Skills of a source that are searched for a SKILL.md within them: advice, and bounded as such."""

_AT_ONCE = 256
"""Files that are read before they are parsed: reading and parsing push each other out of the processor's caches."""

_BY_NAME = attrgetter("name")


@dataclass(slots=True)
class _Place:
    """A folder that may be a skill: opened as `name` relative to `parent`, found under the name `shown`."""

    name: str
    parent: int | None
    real: str
    shown: str
    key: str
    """What its parsed file is kept under: tier, path and the name that it was found by."""


class _Unparsed(NamedTuple):
    """A SKILL.md that was read, and what else was seen of its folder then."""

    place: _Place
    contents: Contents
    read_at: int
    nested: tuple[NearMiss, ...]


class PastDeadline(Exception):
    """The scan took longer than the operator allows."""


class Scan:
    """Collects what one root holds; lives for a single listing.

    `root` and `confined_to` are real paths; links lead anywhere unless `confined_to` is given.
    """

    def __init__(self, root: str, origin: Tier, confined_to: str, cache: ParsedSkills, deadline: float) -> None:
        self.skills: list[Skill] = []
        self.skipped: list[Skipped] = []
        self.near_misses: list[NearMiss] = []
        self.parsed: dict[str, ParsedFile] = {}
        self._root = root
        self._origin = origin
        self._confined_to = confined_to
        self._known = cache.files
        self._deadline = deadline
        self._visited = {root}
        self._unparsed: list[_Unparsed] = []

    def whole(self, descriptor: int) -> None:
        """Look at everything in the root, which is open as `descriptor`.

        Raises:
            OSError: an error that concerns the whole source.
            PastDeadline: as it says.
        """
        self._folder(descriptor, self._root, 0)
        self._parse_all()

    def _folder(self, descriptor: int, real: str, depth: int) -> None:
        """Look at each entry of a folder that is no skill itself."""
        with os.scandir(descriptor) as found:
            entries = sorted(found, key=_BY_NAME)
        for entry in entries:
            name = entry.name
            if is_pruned(name):
                continue
            if entry.is_dir(follow_symlinks=False):
                path = f"{real}/{name}"
                self._candidate(_Place(name, descriptor, path, name, f"{self._origin}:{path}"), depth + 1)
            elif entry.is_symlink():
                self._link(name, real, depth + 1)
            else:
                self._loose_file(name, real, depth)

    def _candidate(self, place: _Place, depth: int) -> None:
        """A folder: a skill when it holds SKILL.md, else a collection."""
        if place.real in self._visited:
            return
        self._visited.add(place.real)
        if time.monotonic() > self._deadline:
            raise PastDeadline
        path = f"{place.name}/{FILE_NAME}"
        known = self._known.get(place.key)
        if known is not None and known.is_settled and _stamp(path, place.parent) == known.stamp:
            self._parse_all()
            self._keep(place.key, known)
            return
        read_at = now_ns()
        reading = read_file(path, place.parent)
        if isinstance(reading, Linked):
            reading = self._linked_file(place.real)
        match reading:
            case Contents():
                self._read(place, reading, read_at)
            case Unread():
                self._skip(place.shown, reading, place.real)
            case Absent() | Linked():
                self._collection(place, depth)

    def _read(self, place: _Place, contents: Contents, read_at: int) -> None:
        is_early = len(self.parsed) + len(self._unparsed) < _SEARCHED_WITHIN
        nested = self._nested(place) if is_early else ()
        self._unparsed.append(_Unparsed(place, contents, read_at, nested))
        if len(self._unparsed) >= _AT_ONCE:
            self._parse_all()

    def _parse_all(self) -> None:
        """Parse what was read, before anything that comes after it is noted."""
        if self._unparsed:
            unparsed, self._unparsed = self._unparsed, []
            for place, contents, read_at, nested in unparsed:
                self._parse(place, contents, read_at, nested)

    def _parse(self, place: _Place, contents: Contents, read_at: int, nested: tuple[NearMiss, ...]) -> None:
        outcome = parse_skill(contents.data, folder_name=place.shown, folder=place.real, origin=self._origin)
        known = self._known.get(place.key)
        if known is not None and known.outcome == outcome:
            outcome = known.outcome
        self._keep(place.key, ParsedFile(contents.stamp, is_settled(contents.stamp, read_at), outcome, nested))

    def _nested(self, place: _Place) -> tuple[NearMiss, ...]:
        fix = f"it lies within the skill {_shown(place.shown)}; move it out, to stand beside it"
        return tuple(
            NearMiss(_shown(os.path.basename(inner)), self._origin, fix, Path(place.real, inner))
            for inner in nested_skill_files(place.name, place.parent)
        )

    def _keep(self, key: str, parsed: ParsedFile) -> None:
        self.parsed[key] = parsed
        outcome = parsed.outcome
        if isinstance(outcome, Skill):
            self.skills.append(outcome)
        elif outcome.code is SkipCode.NO_FRONTMATTER:
            self.near_misses.append(NearMiss(outcome.name, self._origin, outcome.reason, outcome.path))
        else:
            self.skipped.append(outcome)
        self.near_misses.extend(parsed.nested)

    def _linked_file(self, real: str) -> Reading:
        """A SKILL.md that is a link: followed only to a target within the source or the skill's own folder."""
        target = os.path.realpath(f"{real}/{FILE_NAME}")
        if not is_within(target, self._root) and not is_within(target, real):
            return Unread(SkipCode.OUTSIDE, "SKILL.md is a link that leads out of the source; it is not followed")
        reading = read_file(target, None)
        if isinstance(reading, Absent | Linked):
            return Unread(SkipCode.BROKEN_LINK, "SKILL.md is a link that leads nowhere")
        return reading

    def _collection(self, place: _Place, depth: int) -> None:
        """A folder that is no skill: looked into, down to `DEEPEST` levels."""
        try:
            descriptor = os.open(place.name, FOLDER_FLAGS, dir_fd=place.parent)
        except OSError as error:
            failure = unread(error)
            if isinstance(failure, Unread):
                self._skip(place.shown, failure, place.real)
            return
        try:
            self._misspelled(descriptor, place.real)
            if depth < DEEPEST:
                self._folder(descriptor, place.real, depth)
                return
        finally:
            os.close(descriptor)
        for inner in nested_skill_files(place.name, place.parent):
            fix = f"it lies deeper than {DEEPEST} levels; move it up"
            self._near_miss(inner.rpartition("/")[2], fix, f"{place.real}/{inner}")

    def _misspelled(self, descriptor: int, real: str) -> None:
        for found in sorted(os.listdir(descriptor)):
            if found != FILE_NAME and found.lower() == FILE_NAME.lower():
                self._near_miss(os.path.basename(real), f"rename {found} to {FILE_NAME}", f"{real}/{found}")

    def _link(self, name: str, parent_real: str, depth: int) -> None:
        """A linked folder: followed by its real path, once, and never up to a folder that holds the root."""
        path = f"{parent_real}/{name}"
        real = os.path.realpath(path)
        try:
            is_folder = stat.S_ISDIR(os.stat(real).st_mode)
        except OSError as error:
            failure = unread(error)
            if isinstance(failure, Unread):
                self._skip(name, failure, path)
            else:
                self._skip(name, Unread(SkipCode.BROKEN_LINK, "it is a link that leads nowhere"), path)
            return
        if not is_folder:
            return
        if self._confined_to and not is_within(real, self._confined_to):
            self._skip(name, Unread(SkipCode.OUTSIDE, "it is a link that leads out of the workspace"), path)
        elif is_within(self._root, real):
            self._skip(name, Unread(SkipCode.LOOP, "it is a link to a folder that holds it"), path)
        else:
            self._candidate(_Place(real, None, real, name, f"{self._origin}:{real}:{name}"), depth)

    def _loose_file(self, name: str, real: str, depth: int) -> None:
        """A flat `name.md` beside skill folders, or a root that is a skill; `README.md` and its like are neither."""
        if depth > 0:
            return
        stem, dot, extension = name.rpartition(".")
        if name == FILE_NAME:
            fix = "it is a skill itself; name the folder that holds it"
            self._near_miss(os.path.basename(real), fix, f"{real}/{name}")
        elif dot and extension == "md" and stem != stem.upper() and stem.lower() != "skill":
            self._near_miss(stem, f"move it to {_shown(stem)}/{FILE_NAME}", f"{real}/{name}")

    def _skip(self, name: str, why: Unread, real: str) -> None:
        self._parse_all()
        self.skipped.append(Skipped(_shown(name), self._origin, why.code, why.reason, Path(real)))

    def _near_miss(self, name: str, fix: str, path: str) -> None:
        self._parse_all()
        self.near_misses.append(NearMiss(_shown(name), self._origin, fix, Path(path)))


def is_within(path: str, folder: str) -> bool:
    """Whether a real path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _stamp(path: str, parent: int | None) -> object:
    try:
        return stamp_of(os.stat(path, dir_fd=parent, follow_symlinks=False))
    except OSError:
        return None


def _shown(name: str) -> str:
    return clean_line(name.encode(errors="replace").decode()) or "(unnamed)"
