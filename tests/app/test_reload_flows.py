"""`/reload-skills` on the screen: progress, verdict, refusals, failures, stale answers, retries."""

from dataclasses import replace

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.inventory import Inventory, Skill
from mecatui.session_view import Freshness
from tests.app.fake_session import FakeBackend, chat, inventory_of, screen_text

OLD = inventory_of("story", "lint")
NEW = Inventory(
    inventory_of("story", "relint").commands,
    replace(
        OLD.listing,
        generation=2,
        skills=(
            Skill("lint", "About lint.", advertised=True, in_inventory=False),
            Skill("relint", "About relint.", "user", body_sha256="1"),
            Skill("story", "About story.", "user", advertised=True, body_sha256="2"),
        ),
    ),
)


async def test_reload_shows_progress_then_a_verdict_by_name() -> None:
    async with chat("story", "lint") as it:
        await it.enter("/reload-skills")
        assert it.calls == [("reload", "s1", "1")]
        assert "Reloading the skills of this session" in it.transcript
        assert it.prompt.text == ""
        await it.happen(ev.ReloadInstalled("s1", 1), ev.ReloadDone("s1", 1, NEW))
        for part in ("Reloaded 2 skills: 1 added, 1 body changed, 1 removed", "added: relint", "removed: lint"):
            assert part in it.transcript
        assert "The model still sees the list it started with" in it.transcript
        await it.type("/rel")
        assert it.lit == "reload-skills"
        await it.type("i")
        assert it.lit == "relint"
        assert [message for message in it.messages if type(message).__name__ == "Happened"]


async def test_enter_on_the_verdict_lists_the_skills_that_changed() -> None:
    async with chat("story", "lint", "calm") as it:
        (calm,) = inventory_of("calm").listing.skills
        now = replace(NEW.listing, skills=(calm, *NEW.listing.skills))
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadInstalled("s1", 1), ev.ReloadDone("s1", 1, Inventory(NEW.commands, now)))
        await it.pilot.press("tab", "up", "enter")
        await it.until(lambda: "the 3 that changed" in screen_text(it.app))
        said = screen_text(it.app)
        assert [name in said for name in ("relint", "story", "lint", "calm")] == [True, True, True, False]
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.app.chat)


async def test_old_menu_stays_whole_until_the_new_list_is_there() -> None:
    async with chat("story", "lint") as it:
        await it.enter("/reload-skills")
        await it.type("/lin")
        assert it.lit == "lint"
        await it.happen(ev.ReloadInstalled("s1", 1))
        assert it.lit == "lint"
        await it.happen(ev.ReloadDone("s1", 1, NEW))
        assert it.lit == "relint"


async def test_second_submit_is_not_taken_and_prompts_wait() -> None:
    async with chat("story") as it:
        await it.enter("/reload-skills")
        await it.enter("/reload-skills")
        assert len(it.calls) == 1
        assert it.prompt.text == "/reload-skills"
        assert "already under way" in it.transcript
        it.prompt.set_draft("")
        await it.enter("hello")
        assert (it.prompts, [entry.text for entry in it.view.queue]) == ([], ["hello"])
        await it.type("my draft")
        await it.happen(ev.ReloadInstalled("s1", 1), ev.ReloadDone("s1", 1, OLD))
        assert it.prompts == ["hello"]
        assert it.prompt.text == "my draft"


async def test_reload_that_changed_nothing_says_so() -> None:
    async with chat("story", "lint") as it:
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadInstalled("s1", 1), ev.ReloadDone("s1", 1, OLD))
        assert "Reloaded 2 skills: nothing changed" in it.transcript


async def test_reload_is_refused_here_while_a_run_is_active_and_runs_later_on_request() -> None:
    async with chat("story") as it:
        await it.enter("tell me")
        await it.enter("/reload-skills")
        assert it.calls == [("prompt", "s1", "tell me")]
        assert "the run “tell me” is active" in it.transcript
        assert it.prompt.text == "/reload-skills"
        await it.pilot.press("ctrl+r")
        assert (it.prompt.text, [entry.text for entry in it.view.queue]) == ("", ["/reload-skills"])
        await it.happen(runs.RunEnded("s1", "end_turn"))
        assert it.calls[-1] == ("reload", "s1", "1")


async def test_reload_is_refused_here_while_an_approval_is_open() -> None:
    async with chat("story") as it:
        await it.enter("do it")
        await it.type("/reload-skills")
        await it.happen(runs.Asked("s1", runs.Ask("a1", "Shell", "{}")))
        await it.pilot.press("enter")
        await it.pilot.pause()
        assert "awaits your approval of Shell" in it.transcript
        assert it.calls == [("prompt", "s1", "do it")]


async def test_refusal_of_the_server_says_what_is_in_the_way_and_offers_to_wait() -> None:
    async with chat("story") as it:
        await it.enter("/reload-skills")
        await it.type("draft")
        await it.happen(ev.ReloadRefused("s1", 1, "session_awaiting", "an approval is open", "ask7"))
        assert "an approval is open" in it.transcript
        assert "In the way: ask7." in it.transcript
        assert "ctrl+r: try again" in it.transcript
        assert it.prompt.text == "draft"
        assert it.view.inventory == inventory_of("story")
        await it.pilot.press("ctrl+r")
        assert it.calls[-1] == ("reload", "s1", "2")


async def test_failed_reload_keeps_the_old_skills_and_says_what_to_do() -> None:
    async with chat("story") as it:
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadFailed("s1", 1, "the folder ~/skills cannot be read"))
        assert "the folder ~/skills cannot be read" in it.transcript
        assert "The skills that you had still work." in it.transcript
        await it.type("/sto")
        assert it.lit == "story"


async def test_answer_of_an_older_conversation_is_dropped() -> None:
    async with chat("story") as it:
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadFailed("s1", 1, "first"))
        await it.enter("/clear")
        await it.happen(ev.Cleared("s1", ev.Opened("s2")), ev.InventoryInstalled("s2", OLD))
        await it.happen(ev.ReloadDone("s1", 1, NEW))
        assert it.view.inventory == OLD
        assert "Reloaded" not in it.transcript


async def test_answer_to_an_older_request_is_dropped() -> None:
    async with chat("story") as it:
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadFailed("s1", 1, "first"))
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadDone("s1", 1, NEW))
        assert it.view.inventory == inventory_of("story")
        await it.happen(ev.ReloadDone("s1", 2, NEW))
        assert it.view.inventory == NEW


async def test_failed_refetch_says_just_that_and_offers_a_retry() -> None:
    async with chat("story", "lint") as it:
        await it.enter("/reload-skills")
        await it.happen(ev.ReloadInstalled("s1", 1), ev.RefetchFailed("s1", 1, "the connection broke"))
        assert "The server reloaded the skills, but the new list could not be fetched" in it.transcript
        assert it.view.freshness is Freshness.STALE
        await it.type("/lin")
        assert it.lit == "lint"
        await it.pilot.press("ctrl+r")
        assert it.calls[-1] == ("refetch", "s1", "2")
        await it.happen(ev.ReloadDone("s1", 2, NEW))
        assert "added: relint" in it.transcript
        assert it.view.freshness is Freshness.CURRENT


async def test_reload_with_arguments_is_sent_nowhere() -> None:
    async with chat("story") as it:
        await it.enter("/reload-skills /etc")
        assert it.calls == []
        assert it.prompt.text == "/reload-skills /etc"
        assert "/reload-skills takes no arguments; nothing was sent." in it.transcript


async def test_server_without_the_capability_is_not_asked() -> None:
    backend = FakeBackend(ev.Opened("s1"), ev.InventoryInstalled("s1", OLD))
    async with chat(backend=backend) as it:
        await it.enter("/reload-skills")
        assert it.calls == []
        assert "this server cannot reload skills" in it.transcript
