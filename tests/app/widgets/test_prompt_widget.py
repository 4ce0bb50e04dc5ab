"""The prompt: what is typed, pasted and recalled is exactly what is submitted."""

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mecatui.widgets.prompt import Prompt


class PromptApp(App[None]):
    """A prompt alone; it takes whatever is submitted."""

    def __init__(self) -> None:
        super().__init__()
        self.submitted: list[str] = []
        self.taken: list[str] = []
        self.posted: list[object] = []
        self.edits: list[tuple[str, int]] = []

    def compose(self) -> ComposeResult:
        yield Prompt(placeholder="Ask, or type / for commands")

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        self.submitted.append(message.text)
        self.taken.append(self.prompt.take())

    def on_prompt_edited(self, message: Prompt.Edited) -> None:
        self.edits.append((message.text, message.cursor_offset))

    def open_menu(self, *, refusing: str = "") -> None:
        """From now on a menu takes its keys, but for one."""

        def takes(key: str) -> bool:
            self.posted.append((key, self.prompt.text))
            return key != refusing

        self.prompt.menu_takes = takes

    def on_prompt_tab_pressed(self) -> None:
        self.posted.append("tab")

    def on_prompt_escape_pressed(self) -> None:
        self.posted.append("escape")


async def _paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.query_one(Prompt).post_message(events.Paste(text))
    await pilot.pause()


def _lines(prompt: Prompt) -> list[str]:
    return [prompt.render_line(y).text.rstrip() for y in range(prompt.size.height)]


async def test_enter_submits_the_text_and_take_clears_it() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        assert (app.submitted, app.taken, app.prompt.text) == (["hello"], ["hello"], "")


async def test_blank_text_is_not_submitted() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("space", "shift+enter", "enter")
        await pilot.pause()
        assert app.submitted == []


@pytest.mark.parametrize("keys", [["shift+enter"], ["ctrl+j"], ["alt+enter"], ["backslash", "enter"]])
async def test_a_line_break_is_inserted_without_submitting(keys: list[str]) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", *keys, "b")
        assert (app.prompt.text, app.submitted) == ("a\nb", [])
        assert _lines(app.prompt) == ["❯ a", "  b"]


@pytest.mark.parametrize("sequence", ["\n", "\x1b[13;2u", "\x1b[13;3u", "\x1b[27;2;13~", "\x1b[27;3;13~"])
async def test_enter_with_a_modifier_is_known_in_every_way_terminals_send_it(sequence: str) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        parser = XTermParser(debug=False)
        await pilot.press("a")
        for event in [*parser.feed(sequence), *parser.feed("")]:
            app.post_message(event)
        await pilot.pause()
        assert (app.prompt.text, app.submitted) == ("a\n", [])


async def test_prompt_grows_to_eight_rows_and_no_further() -> None:
    app = PromptApp()
    async with app.run_test(size=(40, 24)) as pilot:
        assert app.prompt.size.height == 1
        for rows in (2, 3):
            await pilot.press("shift+enter")
            await pilot.pause()
            assert app.prompt.size.height == rows
        app.prompt.set_draft("\n".join(map(str, range(15))))
        await pilot.pause()
        assert app.prompt.size.height == 8
        assert _lines(app.prompt)[-1] == "  14"


async def test_keys_in_one_burst_submit_exactly_the_whole_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        for character in "/translate 你好世界":
            app.post_message(events.Key(character, character))
        app.post_message(events.Key("enter", "\r"))
        for character in "next":
            app.post_message(events.Key(character, character))
        await pilot.pause()
        await pilot.pause()
        assert app.submitted == app.taken == ["/translate 你好世界"]
        assert app.prompt.text == "next"


async def test_pasted_text_never_submits_and_has_plain_line_breaks() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await _paste(pilot, "one\r\ntwo\rthree\n\x1b[31mred\x1b[0m\u202e")
        assert app.prompt.text == "one\ntwo\nthree\nred"
        assert app.submitted == []


async def test_a_long_paste_is_folded_and_submitted_whole() -> None:
    app = PromptApp()
    pasted = "\n".join(f"line {index}" for index in range(120))
    async with app.run_test() as pilot:
        await pilot.press(*"see ")
        await _paste(pilot, pasted)
        await pilot.press("!")
        assert app.prompt.text == "see [pasted 120 lines]!"
        await pilot.press("enter")
        await pilot.pause()
        assert app.submitted == app.taken == [f"see {pasted}!"]


async def test_two_pastes_of_one_size_keep_apart() -> None:
    app = PromptApp()
    first, second = ("\n".join(f"{name} {index}" for index in range(30)) for name in ("a", "b"))
    async with app.run_test() as pilot:
        await _paste(pilot, first)
        await _paste(pilot, second)
        assert app.prompt.text == "[pasted 30 lines][pasted 30 lines #2]"
        assert app.prompt.draft == first + second


async def test_a_marker_is_one_piece_to_cursor_and_keys() -> None:
    app = PromptApp()
    pasted = "\n".join(map(str, range(30)))
    async with app.run_test() as pilot:
        prompt = app.prompt
        await pilot.press("a")
        await _paste(pilot, pasted)
        await pilot.press("b", "left", "left")
        assert prompt.cursor_location == (0, 1)
        await pilot.press("right")
        assert prompt.text[prompt.cursor_index :] == "b"
        await pilot.press("backspace")
        assert prompt.text == "ab"
        await pilot.press("ctrl+z")
        assert prompt.draft == f"a{pasted}b"
        await pilot.press("end", "left", "ctrl+w")
        assert "lines" not in prompt.text


async def test_text_that_looks_like_a_marker_is_left_alone() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.set_draft("[pasted 120 lines]")
        await pilot.press("enter")
        await pilot.pause()
        assert app.submitted == ["[pasted 120 lines]"]


async def test_history_is_walked_from_the_first_row_and_keeps_the_draft() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        for text in ("one", "two"):
            await pilot.press(*text, "enter")
            await pilot.pause()
        await pilot.press(*"draft", "shift+enter", *"more", "up")
        assert app.prompt.text == "draft\nmore"
        await pilot.press("up")
        assert app.prompt.text == "two"
        await pilot.press("up", "up", "up")
        assert app.prompt.text == "one"
        await pilot.press("down", "down")
        assert app.prompt.text == "draft\nmore"
        await pilot.press("down")
        assert app.prompt.text == "draft\nmore"


async def test_a_recalled_paste_is_folded_again() -> None:
    app = PromptApp()
    pasted = "\n".join(map(str, range(50)))
    async with app.run_test() as pilot:
        app.prompt.load_history([pasted])
        await pilot.press("up")
        assert app.prompt.text == "[pasted 50 lines]"
        assert app.prompt.draft == pasted


async def test_edits_and_cursor_moves_are_told_with_the_offset_in_the_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "shift+enter", "b", "left")
        await pilot.pause()
        assert app.edits == [("a", 1), ("a\n", 2), ("a\nb", 3), ("a\nb", 2)]


async def test_an_open_menu_takes_its_keys() -> None:
    app = PromptApp()
    keys = ["up", "down", "tab", "enter", "escape", "pageup", "pagedown"]
    async with app.run_test() as pilot:
        await pilot.press(*"/re")
        app.open_menu()
        await pilot.press(*keys)
        await pilot.pause()
        assert app.posted == [(key, "/re") for key in keys]
        assert (app.prompt.text, app.submitted) == ("/re", [])
        await pilot.press("l")
        assert app.prompt.text == "/rel"


async def test_a_key_that_the_menu_leaves_is_the_prompts() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"/re")
        app.open_menu(refusing="enter")
        await pilot.press("enter")
        await pilot.pause()
        assert (app.posted, app.submitted) == ([("enter", "/re")], ["/re"])


async def test_tab_and_escape_are_posted_and_insert_nothing() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "tab", "escape")
        await pilot.pause()
        assert (app.prompt.text, app.posted) == ("a", ["tab", "escape"])
        assert app.prompt.has_focus


async def test_hint_is_seen_at_the_end_only_and_never_becomes_text() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        app.prompt.set_draft("/review ")
        app.prompt.set_hint("[/path]\x1b[31m and more")
        await pilot.pause()
        assert _lines(app.prompt) == ["❯ /review [/path] and more"]
        await pilot.press("right")
        assert app.prompt.text == "/review "
        await pilot.press("left")
        assert "path" not in _lines(app.prompt)[0]
        await pilot.press("right")
        assert "path" in _lines(app.prompt)[0]
        app.prompt.set_hint("")
        assert _lines(app.prompt) == ["❯ /review"]


@pytest.mark.parametrize("size", [(40, 12), (250, 50)])
async def test_every_row_is_exactly_as_wide_as_the_prompt(size: tuple[int, int]) -> None:
    app = PromptApp()
    async with app.run_test(size=size) as pilot:
        assert app.prompt.render_line(0).text.startswith("❯ Ask, or type")
        for text in ("你好世界" * 40, "👨\u200d👩\u200d👧e\u0301" * 30, "[/x] " * 60, "a" * 500):
            app.prompt.set_draft(text)
            app.prompt.set_hint("hint " * 50)
            await pilot.pause()
            widths = {app.prompt.render_line(y).cell_length for y in range(app.prompt.size.height)}
            assert widths in ({app.prompt.scrollable_content_region.width}, {app.prompt.size.width})


async def test_cursor_does_not_blink() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.prompt.has_focus
        assert not app.prompt.cursor_blink
        assert not app.prompt.blink_timer._active.is_set()
