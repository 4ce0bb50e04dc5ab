"""What a typed text is: a builtin, a command of the server, an unknown command, or prose."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from mecatui.inventory import TIERS, Inventory
from mecatui.slash.builtins import Builtin, builtin_names

_IDENTITY = r"[\w.:\-]+"
_TIER = "|".join(TIERS)


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Compiled when the first slash is typed, not before the first frame."""
    return re.compile(form, re.DOTALL)


_COMMAND = rf"\s*/(?:(?P<tier>{_TIER})/)?(?P<name>{_IDENTITY})(?P<rest>\s.*)?\Z"
_ONLY_SLASHES = r"\s*/+\s*\Z"
_NAME_UNDER_CURSOR = rf"\s*/(?P<name>(?:(?:{_TIER})/)?(?:{_IDENTITY})?)\Z"


class BuiltinCommand(NamedTuple):
    """A builtin, with what was typed after it."""

    builtin: Builtin
    arguments: str


class ServerCommand(NamedTuple):
    """A name that the server resolves. The text is sent as it was typed."""

    name: str
    arguments: str


class UnknownCommand(NamedTuple):
    """It has the form of a command, but nothing has this name."""

    name: str


class PlainText:
    """Prose for the model; also a path such as `/usr/bin`."""

    __slots__ = ()


class BareSlash:
    """Slashes and nothing else: neither a command nor worth a turn."""

    __slots__ = ()


class Empty:
    """Nothing was typed."""

    __slots__ = ()


Typed = BuiltinCommand | ServerCommand | UnknownCommand | PlainText | BareSlash | Empty
"""What a typed text can be: a closed union."""


@dataclass(frozen=True)
class Names:
    """The names that may follow a slash; builtins are always among them."""

    server: frozenset[str] = frozenset()
    in_tiers: frozenset[str] = frozenset()
    """`tier/name` of every candidate, also of those that lost their name."""
    builtins: dict[str, Builtin] = field(default_factory=builtin_names)

    @classmethod
    def of(cls, inventory: Inventory) -> "Names":
        """The names of an inventory."""
        listing = inventory.listing
        winners = {f"{skill.origin}/{skill.name}" for skill in listing.present() if skill.user_invocable}
        losers = {f"{lost.origin}/{lost.name}" for lost in listing.shadowed}
        return cls(frozenset(command.name for command in inventory.commands), frozenset(winners | losers))

    def builtin(self, name: str) -> Builtin | None:
        """The builtin of this name, or of this name in another case if the server has none spelt just so."""
        if name in self.server and name not in self.builtins:
            return None
        return self.builtins.get(name) or self.builtins.get(name.casefold())

    def on_server(self, name: str) -> str | None:
        """The server's spelling of a name: exact first, then without case if that is unambiguous."""
        if name in self.server:
            return name
        spellings = self._by_folded_name.get(name.casefold(), ())
        return spellings[0] if len(spellings) == 1 else None

    def all(self) -> Iterable[str]:
        """Every name, builtins first."""
        yield from self.builtins
        yield from sorted(self.server)

    @cached_property
    def _by_folded_name(self) -> dict[str, tuple[str, ...]]:
        folded: dict[str, tuple[str, ...]] = {}
        for name in sorted(self.server):
            folded[name.casefold()] = (*folded.get(name.casefold(), ()), name)
        return folded


def classify(text: str, names: Names) -> Typed:
    """What a typed text is. Never fails, whatever the text holds."""
    if not text.strip():
        return Empty()
    if not text.lstrip().startswith("/"):
        return PlainText()
    if _pattern(_ONLY_SLASHES).match(text):
        return BareSlash()
    found = _pattern(_COMMAND).match(text)
    if not found:
        return PlainText()
    name = unicodedata.normalize("NFKC", found["name"])
    arguments = _arguments(found["rest"])
    if found["tier"]:
        whole = f"{found['tier']}/{name}"
        return ServerCommand(whole, arguments) if whole in names.in_tiers else UnknownCommand(whole)
    builtin = names.builtin(name)
    if builtin:
        return BuiltinCommand(builtin, arguments)
    spelt = names.on_server(name)
    return ServerCommand(spelt, arguments) if spelt else UnknownCommand(name)


def name_being_typed(text: str, cursor: int) -> str | None:
    """The name of a leading command while the cursor is within it and nothing follows it; otherwise None."""
    if "/" not in text or not 0 <= cursor <= len(text):
        return None
    found = _pattern(_NAME_UNDER_CURSOR).match(text)
    return found["name"] if found and cursor >= found.start("name") else None


def mentioned(text: str, names: Names) -> str | None:
    """The first `/name` within prose that the server would resolve at the start of a message."""
    for word in text.split()[:500]:
        if word.startswith("/") and len(word) > 1 and word[1:].rstrip(".,;!?)") in names.server:
            return word[1:].rstrip(".,;!?)")
    return None


def _arguments(rest: str | None) -> str:
    """What follows the name: the blanks around it are not arguments, those within it are kept."""
    return rest.strip() if rest else ""
