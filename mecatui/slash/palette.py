"""The palette: what a person may pick from after a slash, as rows in the order in which they are shown."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from mecatui.inventory import TIERS, Command, Inventory
from mecatui.slash.builtins import BUILTINS, Builtin
from mecatui.slash.match import Matcher, positions

SHOWN_AT_MOST = 200
"""Rows given to a menu at once; more are found by typing on."""


UNTOLD_SINCE = "new: only you can call it"
UNTOLD = "not in the model's list: only you can call it"
"""Notes of a skill that the model was not told of: after a reload, and before one."""


class PaletteRow(NamedTuple):
    """One row. `name` is what is shown after the slash, `inserts` what picking it types."""

    name: str
    description: str
    badge: str
    note: str = ""
    inserts: str = ""
    argument_hint: str = ""
    builtin: Builtin | None = None
    """The builtin that it runs; None for a command of the server."""
    is_alias: bool = False

    @property
    def runs_at_once(self) -> bool:
        """Picking it runs it; otherwise its name is inserted and arguments are awaited."""
        return self.builtin is not None and not self.builtin.takes_arguments


class Hit(NamedTuple):
    """A row that fits what was typed, and which letters of its name fit."""

    row: PaletteRow
    matched: tuple[int, ...] = ()


class Palette:
    """Rows, and the way to find some of them. Immutable but for the memory of the last query.

    The rows are worked out when they are first needed, or by `prepare`: with very many commands that takes a moment.
    """

    def __init__(self, inventory: Inventory | None = None) -> None:
        self._inventory = inventory or Inventory()

    def prepare(self) -> None:
        """Work out now what the first query would have to wait for."""
        _ = self._matcher

    @cached_property
    def rows(self) -> tuple[PaletteRow, ...]:
        """All rows."""
        return (*_builtin_rows(), *_command_rows(self._inventory))

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.rows, leading=sum(row.builtin is not None for row in self.rows))

    @property
    def has_commands(self) -> bool:
        """The server offers at least one."""
        return self.rows[-1].builtin is None

    def find(self, query: str, limit: int = SHOWN_AT_MOST) -> list[Hit]:
        """Rows that fit, best first; for an empty query all, builtins in their order and the rest by name."""
        if not query:
            return [Hit(row) for row in self.rows[: limit + len(BUILTINS)] if not row.is_alias][:limit]
        return [
            Hit(self.rows[index], positions(query, self.rows[index].name))
            for index in self._matcher.find(query)[:limit]
        ]

    def find_by_words(self, query: str, limit: int = SHOWN_AT_MOST) -> list[Hit]:
        """Rows that fit every word of a query, in the order of its longest word."""
        words = sorted(query.replace("/", " ").split(), key=len, reverse=True)[:8]
        if not words:
            return self.find("", limit)
        best_first, *others = [self._matcher.find(word) for word in words]
        fitting = set(best_first).intersection(*others)
        rows = [self.rows[index] for index in best_first if index in fitting]
        return [Hit(row, positions(words[0], row.name)) for row in rows[:limit]]

    def hint(self, name: str) -> str:
        """The argument hint of a command, empty when it has none."""
        return next((row.argument_hint for row in self.rows if row.inserts == name), "")


@runtime_checkable
class PaletteHost(Protocol):
    """A screen that the command palette can pick for."""

    @property
    def palette(self) -> Palette:
        """The rows that are offered now."""
        ...

    def pick(self, row: PaletteRow) -> None:
        """Run a builtin, or put a command into the prompt and wait for its arguments."""
        ...


def _builtin_rows() -> Sequence[PaletteRow]:
    rows: list[PaletteRow] = []
    for builtin in BUILTINS:
        also = f" (also {', '.join(f'/{alias}' for alias in builtin.aliases)})" if builtin.aliases else ""
        rows.append(PaletteRow(builtin.name, builtin.summary + also, "builtin", inserts=builtin.name, builtin=builtin))
        rows.extend(
            PaletteRow(alias, f"same as /{builtin.name}", "builtin", inserts=alias, builtin=builtin, is_alias=True)
            for alias in builtin.aliases
        )
    return rows


def _command_rows(inventory: Inventory) -> Sequence[PaletteRow]:
    untold = {skill.name for skill in inventory.listing.skills if skill.is_untold}
    words = UNTOLD_SINCE if inventory.listing.has_reloaded else UNTOLD
    taken = {name for builtin in BUILTINS for name in builtin.names}
    return [
        _command_row(command, words if command.name in untold else "", is_taken=command.name in taken)
        for command in sorted(inventory.commands, key=lambda command: command.name)
    ]


def _command_row(command: Command, note: str, *, is_taken: bool) -> PaletteRow:
    inserts = f"{command.origin}/{command.name}" if is_taken and command.origin in TIERS else command.name
    if is_taken:
        note = "name taken by a builtin" + (f"; use /{inserts}" if inserts != command.name else "")
    return PaletteRow(command.name, command.description, _badge(command), note, inserts, command.argument_hint)


def _badge(command: Command) -> str:
    """The tier, or what it is when it is no skill, and what its tools may do."""
    kind = command.origin if command.kind == "skill" else command.kind.replace("_", " ")
    reach = "writes" if command.writes else "read-only" if command.read_only else ""
    return " · ".join(part for part in (kind or "command", reach) if part)
