"""What a fetch gives, whatever was fetched before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from client.contract.commands import CommandKind, CommandRow, Expansion, ExpansionTable, Palette
from client.contract.skills import SkillListing, SkillRow
from mecatui.inventory import Inventory
from mecatui.wire_values import inventory_of

NAMES = st.sampled_from(["apple", "pear"])
TEXTS = st.sampled_from(["", "Plain.", "two  spaces", "\x1b[31mred\nline", " edges "])
FLAGS = st.booleans()

SKILLS = st.builds(
    SkillRow,
    name=NAMES,
    description=TEXTS,
    origin=TEXTS,
    advertised=FLAGS,
    description_stale=FLAGS,
    in_inventory=FLAGS,
    user_invocable=FLAGS,
    model_invocable=FLAGS,
    body_sha256=st.sampled_from(["1", "2"]),
    warnings=st.sampled_from([(), ("Odd.",), ("Odd.\n",)]),
)
COMMANDS = st.builds(CommandRow, name=NAMES, description=TEXTS)
EXPANSIONS = st.builds(
    Expansion,
    name=NAMES,
    kind=st.sampled_from(CommandKind),
    origin=TEXTS,
    advertised=FLAGS,
    argument_hint=TEXTS,
    read_only=FLAGS,
    writes=FLAGS,
)


def of(palette: list[CommandRow], table: list[Expansion], listing: list[SkillRow], before: Inventory) -> Inventory:
    return inventory_of(
        Palette(commands=tuple(palette)),
        ExpansionTable(expansions=tuple(table)),
        SkillListing(skills=tuple(listing)),
        before,
    )


FETCHES = st.tuples(st.lists(COMMANDS, max_size=2), st.lists(EXPANSIONS, max_size=2), st.lists(SKILLS, max_size=2))


@given(FETCHES, FETCHES)
def test_what_was_fetched_before_changes_nothing(
    first: tuple[list[CommandRow], list[Expansion], list[SkillRow]],
    second: tuple[list[CommandRow], list[Expansion], list[SkillRow]],
) -> None:
    assert of(*second, of(*first, Inventory())) == of(*second, Inventory())


@given(SKILLS, SKILLS)
@settings(max_examples=300)
def test_skill_that_differs_in_anything_is_made_anew(first: SkillRow, second: SkillRow) -> None:
    for field in SkillRow.model_fields:
        other = first.model_copy(update={field: getattr(second, field)})
        assert of([], [], [other], of([], [], [first], Inventory())) == of([], [], [other], Inventory())


@given(COMMANDS, EXPANSIONS, EXPANSIONS)
@settings(max_examples=300)
def test_command_that_differs_in_anything_is_made_anew(row: CommandRow, first: Expansion, second: Expansion) -> None:
    before = of([row], [first.model_copy(update={"name": row.name})], [], Inventory())
    for field in Expansion.model_fields:
        other = first.model_copy(update={"name": row.name, field: getattr(second, field)})
        assert of([row], [other], [], before) == of([row], [other], [], Inventory())


def test_what_is_the_same_is_the_same_object() -> None:
    row, expansion = CommandRow(name="apple", description="Plain."), Expansion(name="apple", kind=CommandKind.SKILL)
    skill = SkillRow(name="apple", description="Plain.", origin="user", warnings=("Odd.",))
    first = of([row], [expansion], [skill], Inventory())
    second = of([row], [expansion], [skill], first)
    assert second.commands[0] is first.commands[0]
    assert second.listing.skills[0] is first.listing.skills[0]
