"""Inventories to their wire form: the skills listing, the palette and the expansion table."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from client.contract import commands as wire_commands
from client.contract import skills as wire_skills
from client.contract.base import Response
from server_stub.engine.advertise import says_the_same
from server_stub.engine.commands import CommandFile
from server_stub.engine.expansion import ExpansionTable, row_of
from server_stub.engine.pin import Pin
from server_stub.sessions.service import Inventory
from server_stub.skills.assets import list_assets
from server_stub.skills.document import FILE_NAME
from server_stub.skills.skill import Skill

_ASSETS_LISTED = 500


Source = TypeVar("Source", bound=CommandFile | Skill)


class _Row(NamedTuple):
    """What was written of one skill or command file."""

    source: CommandFile | Skill
    told: str | None
    json: bytes


class _Rows(Generic[Source]):
    """One kind of row. A row is written anew only when its source is another object or the model was told otherwise."""

    def __init__(self, write: Callable[[Source, str | None], Response]) -> None:
        self._write = write
        self._last: dict[str, _Row] = {}

    def of(self, sources: Iterable[Source], pin: Pin | None = None) -> dict[str, bytes]:
        """Rows by name, in the order of the sources, whose names differ."""
        advertised = pin.advertised if pin else {}
        rows = {source.name: self._row(source, advertised.get(source.name)) for source in sources}
        # In one assignment, since several threads may be here: at worst a row is written twice.
        self._last = rows
        return {name: row.json for name, row in rows.items()}

    def _row(self, source: Source, told: str | None) -> _Row:
        last = self._last.get(source.name)
        if last is not None and last.source is source and last.told == told:
            return last
        return _Row(source, told, self._write(source, told).to_json())


class Listings:
    """Writes the three listings as JSON: long ones, of which a reload changes little.

    One for the process; several threads may call it at once. It holds the rows of the last listing of each kind.
    """

    def __init__(self) -> None:
        self._skills: _Rows[Skill] = _Rows(_skill_row)
        self._palette: _Rows[CommandFile | Skill] = _Rows(_command_row)
        self._expansions: _Rows[CommandFile | Skill] = _Rows(_expansion_row)

    def skills(self, inventory: Inventory) -> bytes:
        """A `SkillListing`, sorted by name: the skills of the inventory, and what the model was told of and is gone."""
        snapshot, pin = inventory.snapshot, inventory.pin
        rows = self._skills.of(snapshot.skills, pin)
        gone = {
            name: wire_skills.SkillRow(name=name, description=description, advertised=True).to_json()
            for name, description in pin.advertised.items()
            if name not in rows
        }
        if gone:
            rows = dict(sorted({**rows, **gone}.items()))
        return _joined(b"skills", rows, _left_out(inventory))

    def palette(self, table: ExpansionTable) -> bytes:
        """A `Palette`, what a user may pick from: names and descriptions, no bodies."""
        return _joined(b"commands", self._palette.of(table.sources()), wire_commands.Palette())

    def expansions(self, table: ExpansionTable, pin: Pin, generation: int) -> bytes:
        """An `ExpansionTable`, the names that `/name` resolves, without bodies or paths."""
        rows = self._expansions.of(table.sources(), pin)
        return _joined(b"expansions", rows, wire_commands.ExpansionTable(generation=generation))


def _joined(key: bytes, rows: dict[str, bytes], rest: Response) -> bytes:
    """The JSON object `rest` with the rows as a member more; an empty list is left out, as everywhere on this wire."""
    others = rest.to_json()
    if not rows:
        return others
    comma = b"" if others == b"{}" else b","
    return b'{"%s":[%s]%s%s' % (key, b",".join(rows.values()), comma, others[1:])


def _left_out(inventory: Inventory) -> wire_skills.SkillListing:
    snapshot = inventory.snapshot
    return wire_skills.SkillListing(
        generation=inventory.generation,
        skipped=tuple(
            wire_skills.SkippedRow(name=skip.name, origin=skip.origin.value, code=skip.code, reason=skip.reason)
            for skip in snapshot.skipped
        ),
        shadowed=tuple(
            wire_skills.ShadowedRow(name=lost.skill.name, origin=lost.skill.origin.value, by=lost.by.value)
            for lost in snapshot.shadowed
        ),
        near_misses=tuple(
            wire_skills.NearMissRow(name=miss.name, origin=miss.origin.value, fix=miss.fix)
            for miss in snapshot.near_misses
        ),
        withheld=snapshot.withheld,
        notices=(*snapshot.notices, *inventory.pin.notices),
    )


def _skill_row(skill: Skill, told: str | None) -> wire_skills.SkillRow:
    return wire_skills.SkillRow(
        name=skill.name,
        description=skill.description,
        active_version=skill.version,
        origin=skill.origin.value,
        advertised=told is not None,
        description_stale=told is not None and not says_the_same(told, skill.summary),
        in_inventory=True,
        user_invocable=skill.user_invocable,
        model_invocable=skill.model_invocable,
        body_sha256=skill.body_sha256,
        body_bytes=skill.body_bytes,
        warnings=tuple(warning.reason for warning in skill.warnings),
    )


def _command_row(source: CommandFile | Skill, told: str | None) -> wire_commands.CommandRow:
    del told
    description = source.summary if isinstance(source, Skill) else source.description
    return wire_commands.CommandRow(name=source.name, description=description)


def _expansion_row(source: CommandFile | Skill, told: str | None) -> wire_commands.Expansion:
    row = row_of(source)
    return wire_commands.Expansion(
        name=row.name,
        kind=wire_commands.CommandKind(row.kind.value),
        origin=row.origin,
        advertised=told is not None,
        argument_hint=row.argument_hint,
        placeholders=row.placeholders,
        body_bytes=row.body_bytes,
        body_sha256=row.body_sha256,
    )


def detail(skill: Skill, generation: int, *, with_path: bool) -> wire_skills.SkillDetail:
    """One skill whole, for its owner; its path only for a caller on this machine's private socket."""
    return wire_skills.SkillDetail(
        name=skill.name,
        generation=generation,
        declared_name=skill.declared_name,
        description=skill.description,
        origin=skill.origin.value,
        body=skill.body,
        assets=tuple(wire_skills.AssetRow(name=name, size=size) for name, size in list_assets(skill, _ASSETS_LISTED)),
        tools=skill.allowed_tools,
        warnings=tuple(warning.reason for warning in skill.warnings),
        path=f"{skill.folder}/{FILE_NAME}" if with_path else "",
    )
