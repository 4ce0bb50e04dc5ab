"""Typing on the chat screen: prompts, the queue, held commands, approvals, keys, the end of the server."""

import pytest
from textual import events

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.session_view import Link
from mecatui.widgets.approval import ApprovalCard
from tests.app.fake_session import Chat, FakeBackend, chat, inventory_of, screen_text

ASK = runs.Ask("a1", "Shell", '{\n  "command": "rm -rf [/]"\n}', "it [b]deletes[/b]")


def card(it: Chat) -> ApprovalCard:
    return it.app.chat.query_one(ApprovalCard)


def can_be_answered(it: Chat) -> None:
    """As if the card had been on the screen for long enough to be read."""
    card(it)._shown_at = float("-inf")


async def test_prompt_takes_keys_before_the_server_is_there() -> None:
    backend = FakeBackend(ev.Opened("s1"), ev.InventoryInstalled("s1", inventory_of("story")))
    backend.door.clear()
    async with chat(backend=backend, ready=False) as it:
        await it.enter("hello")
        await it.enter("/story now")
        assert [entry.text for entry in it.view.queue] == ["hello", "/story now"]
        assert "starting" in screen_text(it.app)
        backend.door.set()
        await it.until(lambda: it.prompts == ["hello"])
        await it.happen(runs.RunEnded("s1", "end_turn"))
        assert it.prompts == ["hello", "/story now"]


async def test_run_is_written_to_the_transcript() -> None:
    async with chat("story") as it:
        await it.enter("/story of a cat")
        assert it.prompts == ["/story of a cat"]
        await it.happen(
            runs.RunStarted("s1", "r1"),
            runs.ToolStarted("s1", "c1", "Skill", "story", "{}"),
            runs.ToolFinished("s1", "c1", ok=True, content="x" * 1200),
            runs.TextAdded("s1", "Once upon "),
            runs.TextAdded("s1", "a time"),
            runs.TurnEnded("s1", runs.Usage(10, 5, 30)),
            runs.RunEnded("s1", "max_turns"),
        )
        for part in ("/story of a cat", "Skill story", "1.2 kB", "Once upon a time", "The run ended: max turns"):
            assert part in it.transcript


async def test_events_of_another_session_are_not_shown() -> None:
    async with chat("story") as it:
        await it.happen(runs.TextAdded("s0", "from before"), runs.Asked("s0", ASK))
        assert "from before" not in it.transcript
        assert it.view.asks == ()


async def test_enter_queues_while_a_run_is_active_and_up_takes_back() -> None:
    async with chat("story") as it:
        await it.enter("one")
        await it.enter("two")
        await it.enter("/story three")
        assert it.prompts == ["one"]
        shown = screen_text(it.app)
        assert "two" in shown
        assert "/story three" in shown
        await it.pilot.press("up")
        assert it.prompt.text == "/story three"
        await it.pilot.press("enter")
        await it.happen(runs.RunEnded("s1", "end_turn"))
        assert it.prompts == ["one", "two"]


async def test_escape_cancels_the_run_and_keeps_draft_and_queue() -> None:
    async with chat("story") as it:
        await it.enter("one")
        await it.enter("two")
        await it.type("draft")
        await it.pilot.press("escape")
        assert it.calls[-1] == ("cancel", "s1")
        await it.happen(runs.RunEnded("s1", "cancelled"))
        assert it.prompt.text == "draft"
        assert [entry.text for entry in it.view.queue] == ["two"]
        it.prompt.set_draft("")
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["one", "two"])


async def test_unknown_command_stays_in_the_prompt_and_a_second_enter_sends_it() -> None:
    async with chat("plain-skill") as it:
        await it.enter("/plain-skil do it")
        assert (it.prompts, it.prompt.text) == ([], "/plain-skil do it")
        assert "Did you mean /plain-skill" in it.transcript
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["/plain-skil do it"])


async def test_refused_prompt_returns_to_the_prompt() -> None:
    async with chat("story") as it:
        await it.enter("hello")
        await it.happen(runs.PromptFailed("s1", "hello", "no [/room]"))
        assert it.prompt.text == "hello"
        assert "The prompt was not taken: no [/room]" in it.transcript


async def test_every_builtin_has_an_outcome_on_the_screen_and_none_reaches_the_model() -> None:
    async with chat("story") as it:
        before = it.transcript
        await it.enter("/help")
        await it.until(lambda: "Commands" in screen_text(it.app))
        await it.pilot.press("escape")
        await it.enter("/skills")
        await it.until(lambda: "Skills · 1" in screen_text(it.app))
        await it.pilot.press("escape")
        await it.enter("/model-view")
        await it.until(lambda: "it does not say" in it.transcript)
        await it.enter("/clear")
        await it.happen(ev.Cleared("s1", ev.Opened("s2")), ev.InventoryInstalled("s2", inventory_of("story")))
        assert "A new conversation" in it.transcript != before
        assert it.prompts == []
        await it.enter("/quit")
    assert it.app.return_value == "s2"
    assert it.backend.is_closed


@pytest.mark.parametrize(("key", "answer"), [("a", "allow_once"), ("w", "allow_always"), ("d", "deny")])
async def test_approval_is_answered_by_key(key: str, answer: str) -> None:
    async with chat("story") as it:
        await it.enter("do it")
        await it.happen(runs.Asked("s1", ASK), runs.Asked("s1", runs.Ask("a2", "Write")))
        shown = screen_text(it.app)
        for part in ("Allow Shell?", "1 of 2", "rm -rf [/]", "it [b]deletes[/b]", "a once", "w always", "d deny"):
            assert part in shown
        can_be_answered(it)
        await it.pilot.press(key)
        assert it.calls[-1] == ("approve", "s1", "a1", answer)
        await it.happen(runs.AskClosed("s1", "a1"))
        assert "Allow Write?" in screen_text(it.app)
        await it.happen(runs.AskClosed("s1", "a2"))
        assert not card(it).is_open
        assert it.prompt.has_focus


async def test_approval_does_not_take_keys_from_a_draft_nor_one_pressed_too_soon() -> None:
    async with chat("story") as it:
        await it.enter("do it")
        await it.type("dra")
        await it.happen(runs.Asked("s1", ASK))
        await it.type("wd")
        assert it.prompt.text == "drawd"
        assert it.calls == [("prompt", "s1", "do it")]
        assert "tab, then a once" in screen_text(it.app)
        await it.pilot.press("tab")
        assert card(it).has_focus
        assert "tab, then" not in screen_text(it.app)
        card(it)._shown_at = float("inf")
        await it.pilot.press("a")
        assert it.calls == [("prompt", "s1", "do it")]
        can_be_answered(it)
        await it.pilot.press("d")
        assert it.calls[-1][0] == "approve"
        assert it.prompt.text == "drawd"


async def test_what_is_typed_or_pasted_over_the_transcript_goes_to_the_prompt() -> None:
    async with chat("story") as it:
        await it.happen(ev.Noticed("info", "read me"))
        await it.pilot.press("tab")
        await it.until(lambda: not it.prompt.has_focus)
        await it.pilot.press("up", *"/story")
        assert (it.prompt.text, it.prompt.has_focus) == ("/story", True)
        it.prompt.set_draft("")
        await it.pilot.press("tab")
        await it.until(lambda: not it.prompt.has_focus)
        it.app.post_message(events.Paste("pasted"))
        await it.until(lambda: it.prompt.text == "pasted")
        assert it.prompt.has_focus


async def test_end_of_the_server_keeps_the_draft_and_offers_a_restart() -> None:
    async with chat("story") as it:
        await it.enter("hello")
        await it.type("my draft")
        await it.happen(ev.ServerGone("Segfault \x1b[31m in [/red] \x07 main"))
        assert it.view.link is Link.GONE
        assert "The server is gone: Segfault in [/red] main" in it.transcript
        assert "server gone" in screen_text(it.app)
        assert it.prompt.text == "my draft"
        await it.pilot.press("enter")
        assert it.prompt.text == "my draft"
        it.backend.at_open = (ev.Opened("s2"), ev.InventoryInstalled("s2", inventory_of("story")))
        await it.pilot.press("ctrl+r")
        await it.until(lambda: it.view.session_id == "s2")
        assert it.backend.restarts == 1
        assert "The old conversation is gone" in it.transcript
        await it.pilot.press("enter")
        await it.until(lambda: it.calls[-1] == ("prompt", "s2", "my draft"))


async def test_server_that_never_came_up_is_explained_and_can_be_started_again() -> None:
    backend = FakeBackend(ev.Opened("s1"), ev.InventoryInstalled("s1", inventory_of()))
    backend.failure = "no such [module]"
    async with chat(backend=backend, ready=False) as it:
        await it.until(lambda: it.view.link is Link.GONE)
        assert "no such [module]" in it.transcript
        backend.failure = ""
        await it.pilot.press("ctrl+r")
        await it.until(lambda: it.view.link is Link.READY)


async def test_ctrl_c_clears_then_cancels_and_twice_leaves() -> None:
    async with chat("story") as it:
        await it.enter("hello")
        await it.type("draft")
        await it.pilot.press("ctrl+c")
        assert it.prompt.text == ""
        it.app.chat._interrupted_at = float("-inf")
        await it.pilot.press("ctrl+c")
        assert it.calls[-1] == ("cancel", "s1")
        await it.pilot.press("ctrl+c")
        await it.pilot.pause()
    assert it.app.return_value == "s1"


async def test_ctrl_q_leaves() -> None:
    async with chat("story") as it:
        await it.pilot.press("ctrl+q")
    assert it.app.return_value == "s1"


async def test_pasted_line_ends_are_single() -> None:
    async with chat("plain-skill") as it:
        it.prompt.post_message(events.Paste("/plain-skill a\rb\r\nc"))
        await it.pilot.pause()
        assert it.prompt.text == "/plain-skill a\nb\nc"
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["/plain-skill a\nb\nc"])


async def test_two_pasted_commands_are_one_message() -> None:
    async with chat("plain-skill") as it:
        it.prompt.post_message(events.Paste("/plain-skill one\n/reload-skills"))
        await it.pilot.pause()
        await it.pilot.press("enter")
        await it.until(lambda: it.prompts == ["/plain-skill one\n/reload-skills"])
        assert len(it.calls) == 1


async def test_text_and_enter_in_one_burst_are_sent_whole() -> None:
    async with chat("translate", "translate-all") as it:
        for letter in "/translate 你好世界":
            it.app.post_message(events.Key({"/": "slash", " ": "space"}.get(letter, letter), letter))
        it.app.post_message(events.Key("enter", "\r"))
        await it.until(lambda: bool(it.prompts))
        assert it.prompts == ["/translate 你好世界"]


async def test_offline_model_is_told_in_one_line() -> None:
    backend = FakeBackend(ev.Opened("s1", "offline"), ev.InventoryInstalled("s1", inventory_of()))
    async with chat(backend=backend) as it:
        assert it.transcript.count("offline model") == 1


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (250, 60)])
async def test_everything_fits_on_the_screen(size: tuple[int, int]) -> None:
    async with chat("story", size=size) as it:
        await it.enter("do it")
        for number in range(5):
            await it.enter(f"queued {number}")
        await it.happen(runs.Asked("s1", runs.Ask("a1", "Shell", '{\n  "x": 1\n}' * 50)))
        shown = screen_text(it.app)
        assert "a once   w always   d deny" in shown
        assert "awaiting" in shown
        assert "❯" in shown
        for widget in it.app.chat.children:
            assert it.app.chat.region.contains_region(widget.region), widget


async def test_reading_back_is_not_disturbed_and_what_came_below_is_counted() -> None:
    async with chat("story") as it:
        for number in range(40):
            await it.happen(ev.Noticed("info", f"line {number}"))
        await it.pilot.press("pageup", "pageup")
        await it.happen(ev.Noticed("info", "the latest"))
        await it.until(lambda: "1 new below" in screen_text(it.app))
        assert "the latest" not in screen_text(it.app)
        await it.pilot.press("ctrl+end")
        await it.until(lambda: "the latest" in screen_text(it.app))
        await it.until(lambda: "new below" not in screen_text(it.app))


async def test_fault_of_our_own_ends_the_run_and_keeps_the_conversation() -> None:
    async with chat("story") as it:
        it.backend.controls[0].fault = KeyError("[/]")
        await it.enter("hello")
        await it.until(lambda: "An internal fault stopped this" in it.transcript)
        assert it.view.is_idle
        await it.enter("/reload-skills")
        await it.until(lambda: "No word of the reload" in it.transcript)
        assert it.view.is_idle
