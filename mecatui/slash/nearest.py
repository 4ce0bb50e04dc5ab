"""Names close to a mistyped one."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

_LIKENESS = 0.6
_LONGEST = 64
_COMPARED = 2000


def nearest(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """At most `limit` names like `name`, the closest first. Long names and long lists cost no more than short ones."""
    wanted = name.casefold()[:_LONGEST]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    scored: list[tuple[float, str]] = []
    for candidate in _plausible(wanted, known):
        matcher.set_seq1(candidate.casefold())
        if matcher.real_quick_ratio() >= _LIKENESS and matcher.quick_ratio() >= _LIKENESS:
            likeness = matcher.ratio()
            if likeness >= _LIKENESS:
                scored.append((likeness, candidate))
    return tuple(candidate for _, candidate in nlargest(limit, scored, key=lambda pair: (pair[0], -len(pair[1]))))


def _plausible(wanted: str, known: Iterable[str]) -> Iterable[str]:
    """Names of about the same length; those that begin alike first, so that a cap loses the least likely."""
    fitting = [
        name for name in known if len(name) <= _LONGEST and abs(len(name) - len(wanted)) <= max(3, len(wanted) // 2)
    ]
    fitting.sort(key=lambda name: name[:1].casefold() != wanted[:1])
    return fitting[:_COMPARED]
