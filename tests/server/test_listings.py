"""The listings as they are written: whole, without zero values, and the same whatever was written before."""

import json
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from client.contract.commands import CommandKind, CommandRow, Expansion, Palette
from client.contract.commands import ExpansionTable as WireTable
from client.contract.skills import SkillListing, SkillRow
from server_stub.api.listings import Listings
from server_stub.engine.commands import parse_command
from server_stub.engine.expansion import ExpansionTable
from server_stub.engine.pin import Pin
from server_stub.engine.tool_spec import ToolArray
from server_stub.sessions.service import Inventory
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import EMPTY, SkillSnapshot
from server_stub.skills.tier import Tier

NAMES = ("apple", "pear", "quince")


def skill(name: str, description: str = "About it.", body: str = "BODY", *, user_invocable: bool = True) -> Skill:
    return Skill(
        name=name,
        declared_name=name,
        description=description,
        body=body,
        origin=Tier.USER,
        folder="/nowhere",
        user_invocable=user_invocable,
    )


def pin(**told: str) -> Pin:
    return Pin(ToolArray(()), told)


def test_all_that_is_there_and_all_that_is_gone_is_listed_by_name() -> None:
    snapshot = SkillSnapshot(skills=(skill("apple", "Now this."), skill("quince")), withheld=2)
    told = pin(apple="Then that.", pear="Gone.", quince="About it.")
    row = SkillRow(
        origin="user", in_inventory=True, user_invocable=True, model_invocable=True, advertised=True, body_bytes=4
    ).model_copy(update={"body_sha256": sha256(b"BODY").hexdigest()})
    assert SkillListing.from_json(Listings().skills(Inventory(snapshot, told, 3))) == SkillListing(
        generation=3,
        skills=(
            row.model_copy(update={"name": "apple", "description": "Now this.", "description_stale": True}),
            SkillRow(name="pear", description="Gone.", advertised=True),
            row.model_copy(update={"name": "quince", "description": "About it."}),
        ),
        withheld=2,
    )


def test_palette_and_table_name_what_the_user_may_call() -> None:
    snapshot = SkillSnapshot(skills=(skill("apple"), skill("pear", user_invocable=False), skill("quince", body="$1 é")))
    command = parse_command(b"---\ndescription: Mine\n---\nDo $ARGUMENTS", "berry", Tier.PROJECT)
    table = ExpansionTable.build(snapshot, [command])
    listings = Listings()
    assert Palette.from_json(listings.palette(table)) == Palette(
        commands=(
            CommandRow(name="apple", description="About it."),
            CommandRow(name="berry", description="Mine"),
            CommandRow(name="quince", description="About it."),
        )
    )
    told = WireTable.from_json(listings.expansions(table, pin(apple="About it."), 2))
    assert told.generation == 2
    assert [(row.name, row.kind, row.advertised, row.placeholders, row.body_bytes) for row in told.expansions] == [
        ("apple", CommandKind.SKILL, True, False, 4),
        ("berry", CommandKind.COMMAND, False, True, 13),
        ("quince", CommandKind.SKILL, False, False, 5),
    ]
    assert told.expansions[0] == Expansion(
        name="apple",
        kind=CommandKind.SKILL,
        origin="user",
        advertised=True,
        body_bytes=4,
        body_sha256=sha256(b"BODY").hexdigest(),
    )


def test_empty_list_is_left_out() -> None:
    table = ExpansionTable.build(EMPTY)
    listings = Listings()
    assert listings.palette(table) == b"{}"
    assert listings.skills(Inventory(EMPTY, pin(), 0)) == b"{}"
    assert listings.expansions(table, pin(), 7) == b'{"generation":7}'


_SKILLS = st.lists(
    st.builds(skill, st.sampled_from(NAMES), st.sampled_from(["One.", "Two."]), st.sampled_from(["BODY", "OTHER"])),
    max_size=3,
    unique_by=lambda one: one.name,
)
_TOLD = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["One.", "Two."]))


@given(st.lists(st.tuples(_SKILLS, _TOLD, st.booleans()), min_size=1, max_size=5))
def test_what_was_listed_before_changes_nothing(steps: list[tuple[list[Skill], dict[str, str], bool]]) -> None:
    listings, kept = Listings(), {}
    for skills, told, keeps in steps:
        # As a reload does: an equal skill stays the same object.
        now = [kept.get(one.name, one) if keeps and kept.get(one.name) == one else one for one in skills]
        kept = {one.name: one for one in now}
        snapshot = SkillSnapshot(skills=tuple(sorted(now, key=lambda one: one.name)))
        table, inventory = ExpansionTable.build(snapshot), Inventory(snapshot, pin(**told), 1)
        written = (listings.skills(inventory), listings.palette(table), listings.expansions(table, inventory.pin, 1))
        fresh = Listings()
        assert written == (fresh.skills(inventory), fresh.palette(table), fresh.expansions(table, inventory.pin, 1))
        for kind, data in zip((SkillListing, Palette, WireTable), written, strict=True):
            assert json.loads(kind.from_json(data).to_json()) == json.loads(data)


def test_what_a_person_should_know_of_the_model_s_list_is_among_the_notices() -> None:
    snapshot = SkillSnapshot(skills=(skill("apple"),), notices=("of the folders",))
    told = Pin(ToolArray(()), {"apple": "About it."}, ("of the list",))
    listing = SkillListing.from_json(Listings().skills(Inventory(snapshot, told, 1)))
    assert listing.notices == ("of the folders", "of the list")
