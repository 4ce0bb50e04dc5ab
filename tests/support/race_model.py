"""What a server and each of its sessions must be, whatever came between whatever: a model with no server in it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from client.contract.skills import ReloadStatus, SkillsReload
from tests.support.stops import Place

NAMES = ("alpha", "beta", "gamma")
SLOTS = 3
"""As many sessions are there at most."""
PLACES = 2
"""Private engines that the server may have: too few for all."""


class Refusal(NamedTuple):
    """How a request is refused."""

    status: int
    code: str
    reason: str = ""


ABSENT = Refusal(404, "session_not_found")
RELOADING = Refusal(412, "failed_precondition", "reload_in_flight")
FULL = Refusal(429, "too_many_session_engines")
DRAINING = Refusal(503, "draining")
FAILURES = {
    Place.LEASE: Refusal(409, "session_leased_elsewhere"),
    Place.SOURCES: Refusal(503, "skill_source_unavailable"),
    Place.BUILD: Refusal(500, "engine_build_failed"),
    Place.LOCK: Refusal(409, "session_leased_elsewhere"),
}
"""How a reload fails at each of its places."""


@dataclass(frozen=True)
class Version:
    """A skill as it was written once."""

    description: str
    body: str
    user: bool = True
    """The user may invoke it."""
    model: bool = True
    """The model may load it."""


@dataclass(frozen=True)
class Disk:
    """What the skills folder holds; a change makes another one."""

    skills: Mapping[str, Version] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()

    def but(self, name: str, version: Version | None = None, *, is_broken: bool = False) -> "Disk":
        """The same with another version of one skill, or with none, or with a broken one."""
        skills = {one: kept for one, kept in self.skills.items() if one != name}
        return Disk(
            skills | ({name: version} if version else {}), self.broken - {name} | ({name} if is_broken else set())
        )


@dataclass
class Talk:
    """A session."""

    session_id: str
    slot: int
    skills: Mapping[str, Version]
    """What its names load."""
    told: Mapping[str, str]
    """The names that its model was told of with their descriptions, for good."""
    is_private: bool
    """It has an engine of its own."""
    generation: int = 1
    state: str = "idle"
    title: str = ""
    typed: list[str] = field(default_factory=list)
    loads: str = ""
    """The skill that its live run loads when it goes on; empty when there is no run."""
    installs: list[int] = field(default_factory=list)
    """The generations that whoever watches was told of."""
    ended: int = 0
    """Runs that are over."""

    @property
    def palette(self) -> dict[str, str]:
        return {name: version.description for name, version in self.skills.items() if version.user}

    @property
    def in_the_way(self) -> Refusal | None:
        """Its live run refuses a reload and a prompt."""
        return Refusal(412, "failed_precondition", f"session_{self.state}") if self.loads else None

    def prompted(self, typed: str) -> None:
        self.typed.append(typed)
        self.title = self.title or typed

    def begins(self, typed: str, state: str, loads: str) -> None:
        self.prompted(typed)
        self.state, self.loads = state, loads

    def ends(self, state: str) -> None:
        self.state, self.loads = state, ""
        self.ended += 1

    def installs_now(self, skills: Mapping[str, Version]) -> None:
        self.skills, self.is_private = skills, True
        self.generation += 1
        self.installs.append(self.generation)

    def expanded(self, text: str) -> str:
        """What the model is shown for a typed text."""
        name, _, arguments = text.removeprefix("/").partition(" ")
        if not text.startswith("/") or name not in self.palette:
            return text
        return f"{self.skills[name].body}\n\nArguments:\n{arguments}"

    def assert_loaded(self, name: str, content: str, *, is_error: bool) -> None:
        """What the model got from `Skill{name}`: today's body, or an error that tells it of nothing new."""
        version = self.skills.get(name)
        if not self.told:
            assert (content, is_error) == ("there is no tool of this name in this session", True)
        elif version and version.model:
            assert (content, is_error) == (f"Skill: {name}\n\n{version.body}", False)
        else:
            assert is_error
            error = json.loads(content)
            assert error["error_type"] == ("permission_denied" if version else "skill_not_found")
            named = {one for one in NAMES if one in error["message"]}
            assert named == (set() if version else self._still_there())

    def _still_there(self) -> set[str]:
        return {name for name in self.told if name in self.skills and self.skills[name].model}


@dataclass
class Held:
    """A reload that stands still somewhere."""

    talk: Talk
    place: Place
    found: Disk | None
    """What it has read."""
    needs_place: bool
    """The session had no engine of its own when the reload began."""
    is_gone: bool = False
    """The session was deleted meanwhile."""
    prompt: str = ""
    """A prompt that waits for the session's lock, of which only the stop under the lock makes one wait."""
    is_leaving: bool = False
    """A delete waits for it."""

    @property
    def is_locked(self) -> bool:
        return self.place is Place.LOCK


@dataclass
class Model:
    """The server: its disk, its sessions, and the reloads under way."""

    startup: Mapping[str, Version]
    disk: Disk
    talks: list[Talk] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)

    @property
    def places(self) -> int:
        """Private engines, and reloads that will need one and have a place for it already."""
        return (
            sum(talk.is_private for talk in self.talks)
            + sum(held.needs_place and held.place is not Place.LEASE for held in self.held)
            + sum(held.is_leaving and held.talk.is_private for held in self.held)
        )

    @property
    def open_engines(self) -> int:
        """Engines that were built and have to be closed one day; the shared one is not counted."""
        return (
            sum(talk.is_private for talk in self.talks)
            + sum(held.is_locked for held in self.held)
            + sum(held.is_leaving and held.talk.is_private for held in self.held)
        )

    @property
    def free_slot(self) -> int:
        return min(set(range(SLOTS)) - {talk.slot for talk in self.talks})

    def add(self, session_id: str, parent: Talk | None = None) -> Talk:
        """A session that was created, or cleared from another one: then on its skills, advertised afresh."""
        skills = parent.skills if parent else self.startup
        told = {name: skills[name].description for name in sorted(skills) if skills[name].model}
        talk = Talk(session_id, self.free_slot, skills, told, is_private=parent is not None and parent.is_private)
        self.talks.append(talk)
        return talk

    def held_for(self, talk: Talk) -> Held | None:
        return next((held for held in self.held if held.talk is talk), None)

    def refused_reload(self, talk: Talk, fails_at: Place | None = None) -> Refusal | None:
        """How a reload that nothing comes between is refused: the admission table, in its order."""
        if talk.in_the_way:
            return talk.in_the_way
        if self.held_for(talk):
            return RELOADING
        if fails_at is Place.LEASE:
            return FAILURES[fails_at]
        if self._is_full_for(talk):
            return FULL
        return FAILURES[fails_at] if fails_at else None

    def begin_reload(self, talk: Talk, place: Place) -> Held:
        held = Held(talk, place, self.disk if place.has_read else None, needs_place=not talk.is_private)
        self.held.append(held)
        return held

    def refused_end(self, held: Held, *, fails: bool) -> Refusal | None:
        """How a reload that goes on is refused by what came meanwhile; it is no longer among the held ones."""
        if fails:
            return FAILURES[held.place]
        if held.place is Place.LEASE and held.needs_place and self.places >= PLACES:
            return FULL
        if held.is_locked:
            return None
        return ABSENT if held.is_gone else held.talk.in_the_way

    def _is_full_for(self, talk: Talk) -> bool:
        return not talk.is_private and self.places >= PLACES

    def refused_clear(self, talk: Talk) -> Refusal | None:
        return FULL if talk.is_private and self.places >= PLACES else None

    def __iter__(self) -> Iterator[Talk]:
        return iter(self.talks)


def report(talk: Talk, found: Disk) -> SkillsReload:
    """The answer of a reload of this session that is about to install what it found."""
    both = talk.skills.keys() & found.skills.keys()
    answer = SkillsReload(
        generation=talk.generation + 1,
        skills=len(found.skills),
        added=len(found.skills.keys() - talk.skills.keys()),
        changed=sum(talk.skills[name] is not found.skills[name] for name in both),
        removed=len(talk.skills.keys() - found.skills.keys()),
        skipped=len(found.broken),
    )
    is_same = not (answer.added or answer.changed or answer.removed)
    return answer.model_copy(update={"status": ReloadStatus.UNCHANGED if is_same else ReloadStatus.RELOADED})
