"""The rows that a person may pick from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from mecatui.inventory import Command, Inventory, Listing, Skill
from mecatui.slash.builtins import BUILTINS, Actions
from mecatui.slash.nearest import nearest
from mecatui.slash.palette import Palette, PaletteRow
from mecatui.slash.provider import help_of


class FakeActions:
    """Notes which builtin ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def _note(self, name: str) -> bool:
        self.ran.append(name)
        return True

    def show_help(self) -> bool:
        return self._note("help")

    def reload_skills(self) -> bool:
        return self._note("reload-skills")

    def show_skills(self) -> bool:
        return self._note("skills")

    def clear_conversation(self) -> bool:
        return self._note("clear")

    def show_model_view(self) -> bool:
        return self._note("model-view")

    def leave(self) -> bool:
        return self._note("quit")


def inventory(*commands: Command, new: tuple[str, ...] = (), generation: int = 1) -> Inventory:
    skills = tuple(Skill(command.name, advertised=command.name not in new) for command in commands)
    return Inventory(commands, Listing(generation, skills))


def test_each_builtin_runs_its_own_action() -> None:
    actions = FakeActions()
    as_protocol: Actions = actions
    assert all(builtin.run(as_protocol, "") for builtin in BUILTINS)
    assert actions.ran == [builtin.name for builtin in BUILTINS]


def test_builtins_are_in_their_order_and_each_name_is_there_once() -> None:
    names = [name for builtin in BUILTINS for name in builtin.names]
    assert names == ["help", "reload-skills", "skills", "clear", "new", "model-view", "quit", "exit"]
    assert all(builtin.summary for builtin in BUILTINS)


def test_empty_query_lists_builtins_then_commands_by_name_without_aliases() -> None:
    rows = [hit.row.name for hit in Palette(inventory(Command("zeta"), Command("alpha"))).find("")]
    assert rows == [*(builtin.name for builtin in BUILTINS), "alpha", "zeta"]


def test_alias_is_found_when_it_is_typed() -> None:
    row = Palette().find("new")[0].row
    assert (row.name, row.runs_at_once) == ("new", True)


def test_builtins_do_not_come_before_a_better_match() -> None:
    palette = Palette(inventory(Command("skil")))
    assert [hit.row.name for hit in palette.find("skil")][:2] == ["skil", "skills"]


def test_builtins_come_before_an_equal_match() -> None:
    palette = Palette(inventory(Command("relint"), Command("release-notes")))
    assert [hit.row.name for hit in palette.find("rel")][:3] == ["reload-skills", "relint", "release-notes"]


def test_each_name_is_listed_once() -> None:
    palette = Palette(inventory(*(Command(f"skill-{number}") for number in range(10))))
    names = [hit.row.name for hit in palette.find("skill")]
    assert len(names) == len(set(names))


def test_builtin_wins_its_name_and_the_row_of_the_loser_says_so() -> None:
    rows = [hit.row for hit in Palette(inventory(Command("help", origin="user"))).find("help")]
    assert [row.badge for row in rows[:2]] == ["builtin", "user"]
    assert rows[1].note == "name taken by a builtin; use /user/help"
    assert rows[1].inserts == "user/help"


def test_badge_tells_tier_and_reach() -> None:
    rows = {
        row.name: row.badge
        for row in Palette(
            inventory(
                Command("a", origin="user", read_only=True),
                Command("b", origin="project", writes=True),
                Command("c", kind="mcp_prompt"),
                Command("d", kind="command"),
            )
        ).rows
        if row.builtin is None
    }
    assert rows == {"a": "user · read-only", "b": "project · writes", "c": "mcp prompt", "d": "command"}


@pytest.mark.parametrize(
    ("generation", "note"), [(1, "not in the model's list: only you can call it"), (2, "new: only you can call it")]
)
def test_skill_that_the_model_was_not_told_of_is_marked(generation: int, note: str) -> None:
    palette = Palette(inventory(Command("relint"), new=("relint",), generation=generation))
    assert palette.find("relint")[0].row.note == note


def test_words_are_all_looked_for() -> None:
    palette = Palette(inventory(*(Command(f"pick-{number:02}", f"The number {number}.") for number in range(30))))
    assert [hit.row.name for hit in palette.find_by_words("number 7.")] == ["pick-07", "pick-17", "pick-27"]
    assert palette.find_by_words("zzz") == []


def test_nearest_names_are_offered_for_a_mistyped_one() -> None:
    known = ["reload-skills", "plain-skill", "help"]
    assert nearest("reload-skils", known)[0] == "reload-skills"
    assert nearest("plain-skil", known)[0] == "plain-skill"
    assert nearest("zzqqxx", known) == ()


@pytest.mark.parametrize("name", ["", "a" * 5000, "ａ" * 64])
def test_nearest_takes_any_name(name: str) -> None:
    nearest(name, [name, "x", "a" * 64])


def test_row_is_not_a_builtin_when_it_comes_from_the_server() -> None:
    row = PaletteRow("x", "", "user")
    assert not row.runs_at_once


@given(st.text(alphabet="[]\\\\/@$=ab '\"", max_size=30))
def test_description_is_not_read_as_markup_by_the_command_palette(text: str) -> None:
    assert Content.from_markup(help_of(PaletteRow("x", text, "user"))).plain == text
