"""Tool cards: one line that opens to what was asked and what came back."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input

from mecatui.widgets.transcript import Transcript


class CardsApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Input()
        yield Transcript()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)


def _shown(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


async def test_a_card_runs_and_then_tells_how_it_ended() -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.transcript.add_tool("1", "Skill code-review")
        app.transcript.add_tool("2", "Bash ls")
        await pilot.pause()
        await app.transcript.drawn()
        assert _shown(app.transcript)[:2] == ["▸ … Skill code-review", "▸ … Bash ls"]
        app.transcript.finish_tool("1", ok=True, summary="1.2 kB", detail="body")
        app.transcript.finish_tool("2", ok=False, summary="exit 2", detail="no such file")
        await app.transcript.drawn()
        assert _shown(app.transcript)[:2] == ["▸ ✓ Skill code-review  1.2 kB", "▸ ✗ Bash ls  exit 2"]


async def test_a_result_without_a_call_gets_a_card_of_its_own() -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 20)):
        app.transcript.finish_tool("unknown", ok=True, summary="2 lines", detail="x")
        await app.transcript.drawn()
        assert _shown(app.transcript)[0] == "▸ ✓ tool  2 lines"


async def test_the_summary_stays_in_sight_when_the_title_is_long() -> None:
    app = CardsApp()
    async with app.run_test(size=(40, 12)):
        app.transcript.add_tool("1", "Bash " + "very long command " * 10)
        app.transcript.finish_tool("1", ok=True, summary="1.2 kB", detail="")
        await app.transcript.drawn()
        line = _shown(app.transcript)[0]
        assert line.endswith("…  1.2 kB")
        assert len(line) <= 39


async def test_a_click_opens_and_closes_a_card() -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("go")
        transcript.add_tool("1", "Bash ls", '{"command": "ls"}')
        transcript.finish_tool("1", ok=True, summary="2 lines", detail="one\n\x1b[1mtwo\x1b[0m [/x]")
        await transcript.drawn()
        closed = _shown(transcript)
        assert await pilot.click(transcript, offset=(8, 2))
        await pilot.pause()
        await transcript.drawn()
        assert [line for line in _shown(transcript) if line] == [
            *("┃ go", "▾ ✓ Bash ls  2 lines", '    {"command": "ls"}', "    one", "    two [/x]")
        ]
        await pilot.click(transcript, offset=(8, 3))
        await pilot.click(transcript, offset=(8, 2), times=1)
        await pilot.pause()
        await transcript.drawn()
        assert _shown(transcript) == closed
        assert app.focused is app.query_one(Input)


async def test_cards_are_reached_by_keys_and_opened_with_enter() -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.transcript
        for name in ("1", "2"):
            transcript.add_tool(name, f"Bash {name}")
            transcript.finish_tool(name, ok=True, summary="", detail=f"detail {name}")
        await pilot.press("tab", "down", "down", "enter")
        await transcript.drawn()
        assert _shown(transcript)[:3] == ["▸ ✓ Bash 1", "› ✓ Bash 2", "    detail 2"]
        await pilot.press("up", "enter")
        await transcript.drawn()
        assert _shown(transcript)[:3] == ["› ✓ Bash 1", "    detail 1", "▾ ✓ Bash 2"]
        await pilot.press("shift+tab")
        await pilot.pause()
        await transcript.drawn()
        assert _shown(transcript)[0] == "▾ ✓ Bash 1"


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("line\n" * 5_000, "… 4,800 more lines not shown"),
        ("x" * 130_000, "… 110,000 more characters not shown"),
    ],
)
async def test_long_details_are_capped_and_say_how_much_is_hidden(detail: str, said: str) -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.transcript
        transcript.add_tool("1", "Read")
        transcript.finish_tool("1", ok=True, summary="", detail=detail)
        await transcript.drawn()
        await pilot.press("tab", "down", "enter")
        await transcript.drawn()
        assert transcript.text.endswith(said)
        assert transcript.virtual_size.height < 500


async def test_an_opened_card_stays_where_it_is_at_the_end_of_a_long_transcript() -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.transcript
        transcript.append_text("paragraph\n\n" * 40)
        transcript.add_tool("1", "Read")
        transcript.finish_tool("1", ok=True, summary="", detail="line\n" * 100)
        await pilot.pause()
        await transcript.drawn()
        before = transcript.scroll_offset
        await pilot.press("tab", "up", "enter")
        await transcript.drawn()
        assert transcript.scroll_offset == before
        assert not transcript.following
        await pilot.press("enter")
        await transcript.drawn()
        assert transcript.scroll_offset == before
        assert transcript.following


async def test_arrow_keys_scroll_where_no_card_is_in_sight() -> None:
    app = CardsApp()
    async with app.run_test(size=(60, 14)) as pilot:
        transcript = app.transcript
        transcript.add_tool("1", "Bash")
        transcript.append_text("paragraph\n\n" * 40)
        transcript.end_text()
        await transcript.drawn()
        await pilot.press("tab")
        end = transcript.scroll_offset.y
        await pilot.press("up", "up")
        assert transcript.scroll_offset.y == end - 2
        await pilot.press("end")
        await pilot.pause()
        assert transcript.scroll_offset.y == end
