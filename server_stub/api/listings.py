"""Inventories to wire values: the skills listing, the palette and the expansion table."""

from client.contract import commands as wire_commands
from client.contract import skills as wire_skills
from server_stub.engine.advertise import says_the_same
from server_stub.engine.expansion import ExpansionRow, ExpansionTable
from server_stub.engine.pin import Pin
from server_stub.sessions.service import Inventory
from server_stub.skills.assets import list_assets
from server_stub.skills.document import FILE_NAME
from server_stub.skills.skill import Skill

_ASSETS_LISTED = 500


def skills(inventory: Inventory) -> wire_skills.SkillListing:
    """A listing: every skill of the inventory, then what the model was told of and is gone, sorted by name."""
    snapshot, pin = inventory.snapshot, inventory.pin
    here = [_row(skill, pin) for skill in snapshot.skills]
    gone = [
        wire_skills.SkillRow(name=name, description=description, advertised=True)
        for name, description in pin.advertised.items()
        if snapshot.get(name) is None
    ]
    return wire_skills.SkillListing(
        generation=inventory.generation,
        skills=tuple(sorted([*here, *gone], key=lambda row: row.name) if gone else here),
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
        notices=snapshot.notices,
    )


def _row(skill: Skill, pin: Pin) -> wire_skills.SkillRow:
    told = pin.advertised.get(skill.name)
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


def palette(table: ExpansionTable) -> wire_commands.Palette:
    """What a user may pick from: names and descriptions, no bodies."""
    return wire_commands.Palette(
        commands=tuple(wire_commands.CommandRow(name=row.name, description=row.description) for row in table.rows())
    )


def expansions(table: ExpansionTable, pin: Pin, generation: int) -> wire_commands.ExpansionTable:
    """The names that `/name` resolves, without bodies or paths."""
    return wire_commands.ExpansionTable(
        generation=generation, expansions=tuple(_expansion(row, pin) for row in table.rows())
    )


def _expansion(row: ExpansionRow, pin: Pin) -> wire_commands.Expansion:
    return wire_commands.Expansion(
        name=row.name,
        kind=wire_commands.CommandKind(row.kind.value),
        origin=row.origin,
        advertised=row.name in pin.advertised,
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
