"""Wire types to the app's own values. Outside text becomes harmless on the way: one line where a line is meant."""

import json
from functools import lru_cache
from operator import attrgetter

from pydantic import JsonValue

from client.contract.commands import CommandKind, CommandRow, Expansion, ExpansionTable, Palette
from client.contract.events import Ask as WireAsk
from client.contract.events import Usage as WireUsage
from client.contract.model_view import ModelView
from client.contract.sessions import PermissionMode
from client.contract.skills import SkillListing, SkillRow
from mecatui.control import ModelPage, RequestLine, ToolLine
from mecatui.inventory import Command, Inventory, Listing, NearMiss, Shadowed, Skill, Skipped
from mecatui.plain_text import one_line
from mecatui.run_events import Ask, Usage

_ARGUMENTS_CAP = 20_000
_TELLING = ("name", "path", "file_path", "command", "pattern", "query", "url")
"""Arguments of a tool that say best what a call is about, the most telling first."""


def inventory_of(palette: Palette, table: ExpansionTable, listing: SkillListing, before: Inventory) -> Inventory:
    """The palette, joined with the expansion table, and the listing. What is as it was `before` is not made anew."""
    commands = {command.name: command for command in before.commands}
    known = {row.name: row for row in table.expansions}
    rows = (_command(row, known.get(row.name), commands.get(row.name)) for row in palette.commands)
    return Inventory(tuple(rows), _listing(listing, before.listing))


def _listing(listing: SkillListing, before: Listing) -> Listing:
    skills = {skill.name: skill for skill in before.skills}
    return Listing(
        generation=listing.generation,
        skills=tuple(_skill(row, skills.get(row.name)) for row in listing.skills),
        skipped=tuple(Skipped(one_line(row.name), one_line(row.reason), _word(row.origin)) for row in listing.skipped),
        shadowed=tuple(Shadowed(one_line(row.name), _word(row.origin), _word(row.by)) for row in listing.shadowed),
        near_misses=tuple(
            NearMiss(one_line(row.name), one_line(row.fix), _word(row.origin)) for row in listing.near_misses
        ),
        withheld=listing.withheld,
        notices=tuple(one_line(notice) for notice in listing.notices),
    )


def ask_of(ask: WireAsk) -> Ask:
    """An ask, its arguments as indented JSON."""
    return Ask(ask.ask_id, one_line(ask.tool), arguments_text(ask.args), one_line(ask.reason))


def usage_of(usage: WireUsage) -> Usage:
    """Token counts."""
    return Usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)


def mode_word(mode: PermissionMode) -> str:
    """A mode as people read it; empty when the server named none."""
    return "" if mode is PermissionMode.UNSPECIFIED else mode.name.lower().replace("_", " ")


def arguments_text(arguments: dict[str, JsonValue]) -> str:
    """A call's arguments as indented JSON, cut where nobody reads on."""
    text = json.dumps(arguments, indent=2, ensure_ascii=False) if arguments else ""
    return text if len(text) <= _ARGUMENTS_CAP else text[:_ARGUMENTS_CAP] + "\n…"


def target_of(arguments: dict[str, JsonValue]) -> str:
    """The one argument that tells calls of a tool apart, as a line; empty when there is none."""
    values = (arguments.get(key) for key in _TELLING)
    return next((one_line(value[:200]) for value in values if isinstance(value, str) and value), "")


def model_page_of(view: ModelView) -> ModelPage:
    """What the model is told."""
    return ModelPage(
        tools_sha256=view.tools_sha256,
        tools_bytes=view.tools_bytes,
        system_sha256=view.system_sha256,
        tools=tuple(ToolLine(one_line(tool.name), tool.description) for tool in view.tools),
        requests=tuple(
            RequestLine(row.turn, row.tools_sha256, row.generation, row.input_tokens, row.cache_read_tokens)
            for row in view.requests
        ),
    )


_OF_COMMAND = attrgetter("kind", "origin", "advertised", "argument_hint", "read_only", "writes")
_OF_SKILL = attrgetter(
    "name", "description", "origin", "advertised", "description_stale", "in_inventory", "user_invocable",
    "model_invocable", "body_sha256", "warnings",
)  # fmt: skip
"""What a wire value and ours have in common. Ours is clean, so a wire value that equals it needs no cleaning."""


def _command(row: CommandRow, expansion: Expansion | None, last: Command | None) -> Command:
    told = expansion or Expansion(kind=CommandKind.COMMAND)
    if last and (last.name, last.description) == (row.name, row.description) and _OF_COMMAND(last) == _OF_COMMAND(told):
        return last
    return Command(
        name=one_line(row.name),
        description=one_line(row.description),
        kind=told.kind.value,
        origin=_word(told.origin),
        advertised=told.advertised,
        argument_hint=one_line(told.argument_hint) if told.argument_hint else "",
        read_only=told.read_only,
        writes=told.writes,
    )


def _skill(row: SkillRow, last: Skill | None) -> Skill:
    if last and _OF_SKILL(last) == _OF_SKILL(row):
        return last
    return Skill(
        name=one_line(row.name),
        description=one_line(row.description),
        origin=_word(row.origin),
        advertised=row.advertised,
        description_stale=row.description_stale,
        in_inventory=row.in_inventory,
        user_invocable=row.user_invocable,
        model_invocable=row.model_invocable,
        body_sha256=row.body_sha256,
        warnings=_lines(row.warnings),
    )


@lru_cache(maxsize=64)
def _word(text: str) -> str:
    """A word that is the same in most rows, cleaned once."""
    return one_line(text)


def _lines(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one_line(text) for text in texts) if texts else ()
