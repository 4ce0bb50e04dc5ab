"""What changed between two listings, by name, and the words that say so."""

from collections.abc import Sequence
from dataclasses import dataclass

from mecatui.inventory import Listing, Skill

_NAMED = 5
_NAME_CELLS = 40
_REASON_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """Names, each sorted. One skill may stand in several lists, as when body and description changed."""

    added: tuple[str, ...] = ()
    body_changed: tuple[str, ...] = ()
    description_changed: tuple[str, ...] = ()
    settings_changed: tuple[str, ...] = ()
    """Who may call it, or which tier it comes from."""
    removed: tuple[str, ...] = ()
    newly_skipped: tuple[tuple[str, str], ...] = ()
    """Names with their reasons."""
    newly_shadowed: tuple[tuple[str, str], ...] = ()
    """Names with the tiers that won."""

    @property
    def is_empty(self) -> bool:
        """Nothing changed that a person could notice."""
        return self == Difference()

    @property
    def names(self) -> frozenset[str]:
        """Every name that is concerned."""
        lists = (self.added, self.body_changed, self.description_changed, self.settings_changed, self.removed)
        pairs = (*self.newly_skipped, *self.newly_shadowed)
        return frozenset(name for names in lists for name in names) | {name for name, _ in pairs}


def difference(old: Listing, new: Listing) -> Difference:
    """Compare what was installed with what is."""
    before = {skill.name: skill for skill in old.present()}
    after = {skill.name: skill for skill in new.present()}
    both = [(before[name], after[name]) for name in sorted(before.keys() & after.keys())]
    skipped_before = {(skip.name, skip.reason) for skip in old.skipped}
    shadowed_before = {(lost.name, lost.origin, lost.by) for lost in old.shadowed}
    return Difference(
        added=tuple(sorted(after.keys() - before.keys())),
        body_changed=tuple(now.name for was, now in both if was.body_sha256 != now.body_sha256),
        description_changed=tuple(now.name for was, now in both if was.description != now.description),
        settings_changed=tuple(now.name for was, now in both if _settings(was) != _settings(now)),
        removed=tuple(sorted(before.keys() - after.keys())),
        newly_skipped=tuple(
            (skip.name, skip.reason) for skip in new.skipped if (skip.name, skip.reason) not in skipped_before
        ),
        newly_shadowed=tuple(
            (lost.name, lost.by) for lost in new.shadowed if (lost.name, lost.origin, lost.by) not in shadowed_before
        ),
    )


def verdict(change: Difference, new: Listing, *, model_was_told: bool) -> str:
    """What a reload did: one line of counts, then lines of names, of bounded length whatever changed.

    `model_was_told` says that the model was given a list of skills when the session began.
    """
    lines = [_headline(change, new), *_named(change)]
    if model_was_told:
        lines.append("The model still sees the list it started with: its prompt cache is kept.")
    return "\n".join(lines)


def _settings(skill: Skill) -> tuple[str, bool, bool]:
    return (skill.origin, skill.user_invocable, skill.model_invocable)


def _headline(change: Difference, new: Listing) -> str:
    counts = [
        _count(len(change.added), "added"),
        _count(len(change.body_changed), "body changed", "bodies changed"),
        _count(len(change.description_changed), "description changed", "descriptions changed"),
        _count(len(change.settings_changed), "setting changed", "settings changed"),
        _count(len(change.removed), "removed"),
    ]
    changes = ", ".join(count for count in counts if count)
    asides = [
        _count(len(new.skipped), "skipped"),
        _count(len(new.shadowed), "shadowed"),
        _withheld(new.withheld),
    ]
    total = _count(len(new.present()), "skill", "skills") or "0 skills"
    if not changes:
        changes = "nothing changed" if change.is_empty else "nothing else changed"
    return " · ".join([f"Reloaded {total}: {changes}", *(aside for aside in asides if aside)])


def _named(change: Difference) -> list[str]:
    lists = [
        ("added", [_clip(name) for name in change.added]),
        ("body changed", [_clip(name) for name in change.body_changed]),
        ("description changed", [_clip(name) for name in change.description_changed]),
        ("setting changed", [_clip(name) for name in change.settings_changed]),
        ("removed", [_clip(name) for name in change.removed]),
        ("skipped", [f"{_clip(name)} ({_clip(reason, _REASON_LENGTH)})" for name, reason in change.newly_skipped]),
        ("shadowed", [f"{_clip(name)} (by {_clip(by)})" for name, by in change.newly_shadowed]),
    ]
    return [f"{word}: {_some(names)}" for word, names in lists if names]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 or not many else many}" if number else ""


def _withheld(number: int) -> str:
    return f"{_count(number, 'project skill', 'project skills')} withheld: folder not trusted" if number else ""


def _clip(text: str, length: int = _NAME_CELLS) -> str:
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length else line[: length - 1] + "…"
