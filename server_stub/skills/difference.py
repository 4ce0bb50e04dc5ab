"""The difference between two snapshots, as counts."""

from dataclasses import dataclass

from server_stub.skills.snapshot import SkillSnapshot


@dataclass(frozen=True, slots=True)
class Counts:
    """How many skills came, changed and went. A rename is one removed and one added."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def is_empty(self) -> bool:
        """Nothing that anybody could observe is different."""
        return not (self.added or self.changed or self.removed)


def difference(old: SkillSnapshot, new: SkillSnapshot) -> Counts:
    """Compare by identity; a skill is changed when any part that can be observed differs."""
    before = {skill.name: skill for skill in old.skills}
    added = changed = 0
    for skill in new.skills:
        was = before.pop(skill.name, None)
        if was is None:
            added += 1
        elif was is not skill and was != skill:
            changed += 1
    return Counts(added, changed, removed=len(before))
