"""The snapshot: what one resolution yields, immutable and sorted."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from server_stub.skills.diagnostic import NearMiss, Shadowed, Skipped
from server_stub.skills.identity import normalise
from server_stub.skills.skill import Skill
from server_stub.skills.tier import Tier

_BY_NAME = attrgetter("name")


@dataclass(frozen=True, slots=True)
class SkillSnapshot:
    """The inventory of one resolution and everything that it left out."""

    skills: tuple[Skill, ...] = ()
    """Sorted by name, one of each."""
    shadowed: tuple[Shadowed, ...] = ()
    """In order of precedence."""
    skipped: tuple[Skipped, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    withheld: int = 0
    """Skill folders of an untrusted project; none of their files was opened."""
    notices: tuple[str, ...] = ()
    """Sentences about the resolution as a whole, without any path."""

    def get(self, name: str) -> Skill | None:
        """The skill of exactly this identity, in any Unicode form."""
        wanted = normalise(name)
        at = bisect_left(self.skills, wanted, key=_BY_NAME)
        return self.skills[at] if at < len(self.skills) and self.skills[at].name == wanted else None

    def find(self, typed: str, tier: Tier | None = None) -> Skill | None:
        """The skill that a typed name means: the exact one, else without case where that is unambiguous.

        With a tier: its first candidate, also when an earlier tier shadows it.
        """
        if tier is None:
            exact = self.get(typed)
            if exact is not None:
                return exact
        wanted = normalise(typed)
        folded = wanted.casefold()
        alike: dict[str, Skill] = {}
        for skill in self.skills if tier is None else self._candidates(tier):
            if skill.name == wanted:
                return skill
            if skill.name.casefold() == folded:
                alike.setdefault(skill.name, skill)
        return next(iter(alike.values())) if len(alike) == 1 else None

    def _candidates(self, tier: Tier) -> Iterator[Skill]:
        yield from (skill for skill in self.skills if skill.origin is tier)
        yield from (shadowed.skill for shadowed in self.shadowed if shadowed.skill.origin is tier)


EMPTY = SkillSnapshot()
"""No skills at all: a valid result."""
