"""The slash menu and the command palette: what is offered, what is lit, and what Tab and Enter do."""

import pytest
from textual import events
from textual.command import CommandPalette

from mecatui import session_events as ev
from mecatui.inventory import Command, Inventory, Listing, Skill
from tests.app.fake_session import FakeBackend, chat, inventory_of, screen_text


async def test_exact_name_is_lit_and_is_what_enter_runs() -> None:
    async with chat("tchk", "tchk-config", "batch-check", "sync-tchk") as it:
        await it.type("/tchk")
        assert it.lit == "tchk"
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["/tchk"])


async def test_lit_row_is_the_row_that_is_taken_after_the_filter_changed() -> None:
    async with chat("cache", "cargo", "carve", "catalog") as it:
        await it.type("/ca")
        await it.pilot.press("down", "down")
        await it.type("rg")
        assert it.lit == "cargo"
        await it.pilot.press("enter")
        assert it.prompt.text == "/cargo "
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["/cargo "])


async def test_row_lit_by_hand_beats_the_name_that_is_typed() -> None:
    async with chat("plan", "planner") as it:
        await it.type("/plan")
        await it.pilot.press("down", "enter")
        assert (it.prompt.text, it.prompts) == ("/planner ", [])


async def test_tab_completes_and_waits_for_arguments() -> None:
    async with chat("plain-skill") as it:
        await it.type("/pla")
        await it.pilot.press("tab")
        assert it.prompt.text == "/plain-skill "
        assert it.prompt.suggestion == "<what>"
        await it.enter("hello")
        assert it.prompts == ["/plain-skill hello"]


async def test_one_enter_runs_a_name_typed_in_full() -> None:
    async with chat("plain-skill") as it:
        await it.enter("/plain-skill")
        assert it.prompts == ["/plain-skill"]


async def test_enter_on_a_lit_builtin_runs_it() -> None:
    async with chat("story") as it:
        await it.enter("/rel")
        assert it.calls == [("reload", "s1", "1")]
        assert it.prompt.text == ""


async def test_menu_is_open_only_while_a_name_is_typed() -> None:
    async with chat("steady-neighbour") as it:
        await it.type("/steady-n")
        assert it.lit == "steady-neighbour"
        await it.type("eighbour ")
        assert it.lit == ""
        await it.type("abc")
        await it.pilot.press("left", "up", "tab")
        assert it.prompt.text == "/steady-neighbour abc"
        await it.pilot.press("end", *["backspace"] * 6)
        assert it.prompt.text == "/steady-neighbo"
        assert it.lit == "steady-neighbour"


async def test_pasted_command_with_arguments_stays_and_runs() -> None:
    async with chat("plain-skill") as it:
        it.prompt.post_message(events.Paste("/plain-skill two words"))
        await it.pilot.pause()
        assert (it.lit, it.prompt.text) == ("", "/plain-skill two words")
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["/plain-skill two words"])


async def test_escape_closes_the_menu_and_keeps_the_text() -> None:
    async with chat("story") as it:
        await it.type("/st")
        await it.pilot.press("escape")
        assert (it.lit, it.prompt.text) == ("", "/st")
        await it.type("o")
        assert it.lit == ""
        await it.pilot.press(*["backspace"] * 4)
        await it.type("/st")
        assert it.lit == "story"


async def test_empty_menu_says_why() -> None:
    async with chat() as it:
        await it.type("/zzz")
        assert "no skills are configured" in screen_text(it.app)
    async with chat("story") as it:
        await it.type("/zzz")
        assert "no command matches" in screen_text(it.app)
        assert "no skills" not in screen_text(it.app)


async def test_menu_says_when_the_list_is_on_its_way() -> None:
    async with chat(backend=FakeBackend(ev.Opened("s1")), ready=False) as it:
        await it.until(lambda: it.view.session_id == "s1")
        await it.type("/zzz")
        assert "still on its way" in screen_text(it.app)
        await it.happen(ev.InventoryInstalled("s1", inventory_of("zzz-top")))
        assert it.lit == "zzz-top"


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_long_descriptions_take_one_row_each_and_can_be_read(size: tuple[int, int]) -> None:
    commands = tuple(Command(f"wordy-{number}", "word " * 100 + "TAILMARK", origin="user") for number in range(10))
    given = Inventory(commands, Listing(skills=tuple(Skill(row.name, row.description, "user") for row in commands)))
    backend = FakeBackend(ev.Opened("s1"), ev.InventoryInstalled("s1", given))
    async with chat(backend=backend, size=size) as it:
        await it.type("/wor")
        assert screen_text(it.app).count("/wordy-") >= 6
        await it.pilot.press("escape", "ctrl+c")
        await it.enter("/skills")
        await it.until(lambda: "Skills · 10" in screen_text(it.app))
        for _ in range(30):
            await it.pilot.press("down")
            it.app.screen.query_one(".page--detail").scroll_end(animate=False)
            await it.pilot.pause()
        assert "TAILMARK" in screen_text(it.app)


async def test_tier_name_is_completed_within_its_tier() -> None:
    async with chat("help", "story") as it:
        await it.type("/user/h")
        assert it.lit == "help"
        await it.pilot.press("tab")
        assert it.prompt.text == "/user/help "


HOSTILE = ("[/oops]", "[bold", "[/", "[$primary]x", "a [b] c", "\\[x]", "back\\", "[@click=app.quit]q[/]", "{}%s", "]")


async def test_outside_text_is_never_markup() -> None:
    commands = tuple(Command(f"h{number}", text, origin=text) for number, text in enumerate(HOSTILE))
    skills = tuple(Skill(row.name, row.description, "user", warnings=(row.description,)) for row in commands)
    given = Inventory(commands, Listing(skills=skills, notices=HOSTILE))
    backend = FakeBackend(ev.Opened("s1", "[/m]", "[/mode]", "[/p]"), ev.InventoryInstalled("s1", given))
    async with chat(backend=backend, size=(120, 40)) as it:
        await it.happen(ev.TitleChanged("s1", "[/title]"))
        await it.type("/h")
        await it.pilot.press("escape", "ctrl+c")
        await it.enter("/skills")
        await it.until(lambda: "Skills · 10" in screen_text(it.app))
        for text in HOSTILE:
            assert text in screen_text(it.app)
        await it.pilot.press("escape", "ctrl+p")
        await it.until(lambda: isinstance(it.app.screen, CommandPalette))
        await it.type("h")
        await it.until(lambda: "/h9" in screen_text(it.app))
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.app.chat)


async def test_picker_inserts_a_name_and_keeps_the_draft() -> None:
    names = [f"pick-{number:02}" for number in range(30)]
    given = Inventory(
        tuple(Command(name, f"Picks number {int(name[5:])}.", origin="user") for name in names),
        Listing(skills=tuple(Skill(name, origin="user") for name in names)),
    )
    async with chat(backend=FakeBackend(ev.Opened("s1"), ev.InventoryInstalled("s1", given))) as it:
        await it.type("half a draft")
        await it.pilot.press("ctrl+p")
        await it.until(lambda: isinstance(it.app.screen, CommandPalette))
        await it.pilot.press("escape")
        assert it.prompt.text == "half a draft"
        it.prompt.set_draft("")
        await it.pilot.press("ctrl+p")
        await it.until(lambda: isinstance(it.app.screen, CommandPalette))
        await it.type("number 7.")
        await it.until(lambda: "/pick-07" in screen_text(it.app))
        assert "Picks number 7." in screen_text(it.app)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.app.chat)
        await it.until(lambda: it.prompt.text == "/pick-07 ")
        assert it.prompts == []


async def test_picker_says_when_nothing_matches_and_helps_before_typing() -> None:
    async with chat("story") as it:
        await it.pilot.press("ctrl+p")
        await it.until(lambda: "show all commands and keys" in screen_text(it.app))
        await it.type("zzzz")
        await it.until(lambda: "No matches found" in screen_text(it.app))


async def test_picker_lists_names_before_the_frameworks_commands_and_those_before_descriptions() -> None:
    given = Inventory(
        (Command("screen-reader", "Reads."), Command("paint", "Draws a screen.")),
        Listing(skills=(Skill("screen-reader"), Skill("paint"))),
    )
    async with chat(backend=FakeBackend(ev.Opened("s1"), ev.InventoryInstalled("s1", given))) as it:
        await it.pilot.press("ctrl+p")
        await it.until(lambda: isinstance(it.app.screen, CommandPalette))
        await it.type("screen")
        await it.until(lambda: all(word in screen_text(it.app) for word in ("/screen-reader", "Screenshot", "/paint")))
        said = screen_text(it.app)
        assert said.index("/screen-reader") < said.index("Screenshot") < said.index("/paint")


async def test_picker_puts_a_name_in_front_of_a_draft() -> None:
    async with chat("story") as it:
        await it.type("of a cat")
        await it.pilot.press("ctrl+p")
        await it.type("story")
        await it.until(lambda: "/story" in screen_text(it.app))
        await it.pilot.press("enter")
        await it.until(lambda: it.prompt.text == "/story of a cat")


async def test_chosen_skill_goes_into_the_prompt() -> None:
    async with chat("lint", "story") as it:
        await it.enter("/skills")
        await it.until(lambda: "Skills · 2" in screen_text(it.app))
        await it.pilot.press("down", "enter")
        await it.until(lambda: it.prompt.text == "/story ")
