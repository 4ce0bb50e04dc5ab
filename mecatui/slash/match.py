"""Which rows fit what was typed, in time that grows with the rows and never with what a name holds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

_CONSIDERED = 160
_SCATTERED_FROM = 2
_DESCRIPTION_FROM = 2
_NOTHING = re.compile(r"(?!)")
_SEPARATORS = str.maketrans("-_.:/", "     ")


class Row(Protocol):
    """Something with a name and a line about it."""

    @property
    def name(self) -> str:
        """What may be typed."""
        ...

    @property
    def description(self) -> str:
        """What it is for."""
        ...


@dataclass(frozen=True, slots=True)
class _Pool:
    """What still fits a query, in the order for equal fits; a longer query need look no further."""

    query: str
    named: Sequence[int]
    described: Sequence[int] | None
    """Rows whose description holds the query; None while it is too short for descriptions to be looked at."""


class Matcher:
    """Finds rows by name and description.

    The order is exact, prefix, start of a word, substring, subsequence, description; within each the leading rows
    first, then the shorter name, then the alphabet.
    """

    def __init__(self, rows: Sequence[Row], *, leading: int = 0) -> None:
        """`leading` counts the rows at the start that go before others which fit as well."""
        self._names = [row.name[:_CONSIDERED].lower() for row in rows]
        self._words = [" " + name.translate(_SEPARATORS) for name in self._names]
        self._descriptions = [row.description[:_CONSIDERED].lower() for row in rows]
        names = self._names
        order = sorted(range(len(rows)), key=lambda index: (index >= leading, len(names[index]), names[index]))
        self._everything = _Pool("", order, None)
        self._pool = self._everything

    def find(self, query: str) -> list[int]:
        """Indices of the rows that fit a query, best first."""
        wanted = query[:_CONSIDERED].lower()
        pool = self._pool if wanted.startswith(self._pool.query) else self._everything
        named, best_first = self._by_name(wanted, pool.named)
        described = self._by_description(wanted, pool)
        self._pool = _Pool(wanted, named, described)
        if not described:
            return best_first
        taken = set(named)
        return best_first + [index for index in described if index not in taken]

    def _by_name(self, wanted: str, candidates: Sequence[int]) -> tuple[list[int], list[int]]:
        """Those that fit in the order of the candidates, and the same best first."""
        names, words = self._names, self._words
        word = " " + wanted.translate(_SEPARATORS)
        in_order = _subsequence(wanted).match
        fitting: list[int] = []
        exact: list[int] = []
        prefix: list[int] = []
        inner: list[int] = []
        substring: list[int] = []
        scattered: list[int] = []
        for index in candidates:
            name = names[index]
            if wanted in name:
                if name.startswith(wanted):
                    (exact if len(name) == len(wanted) else prefix).append(index)
                else:
                    (inner if word in words[index] else substring).append(index)
            elif in_order(name):
                scattered.append(index)
            else:
                continue
            fitting.append(index)
        return fitting, [*exact, *prefix, *inner, *substring, *scattered]

    def _by_description(self, wanted: str, pool: _Pool) -> Sequence[int] | None:
        if len(wanted) < _DESCRIPTION_FROM:
            return None
        descriptions = self._descriptions
        candidates = self._everything.named if pool.described is None else pool.described
        return [index for index in candidates if wanted in descriptions[index]]


def positions(query: str, name: str) -> tuple[int, ...]:
    """Which letters of the name the query stands for; none when it fits the name in no way."""
    wanted, folded = query.lower(), name.lower()
    if not wanted or len(folded) != len(name):
        return ()
    start = _start_of(wanted, folded)
    if start >= 0:
        return tuple(range(start, start + len(wanted)))
    found: list[int] = []
    for letter in wanted[:_CONSIDERED]:
        place = folded.find(letter, found[-1] + 1 if found else 0)
        if place < 0:
            return ()
        found.append(place)
    return tuple(found)


def _start_of(wanted: str, folded: str) -> int:
    """Where the query stands in the name: at its start, else at that of a word, else anywhere; -1 nowhere."""
    if folded.startswith(wanted):
        return 0
    word = (" " + folded.translate(_SEPARATORS)).find(" " + wanted.translate(_SEPARATORS))
    return word if word >= 0 else folded.find(wanted)


def _subsequence(wanted: str) -> re.Pattern[str]:
    """A pattern for names that hold these characters in this order; it never backtracks."""
    if len(wanted) < _SCATTERED_FROM:
        return _NOTHING
    return re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in wanted), re.DOTALL)
