"""Header and status line: the most that fits in one line, and nothing beyond its edge."""

import pytest
from textual.app import App, ComposeResult

from mecatui.widgets.header import Header, HeaderValues
from mecatui.widgets.status_line import StatusLine, StatusValues

_FULL = StatusValues("ready", 0.42, 12_345, 1_100, 0.96, 14, 1, 1)
_SESSION = HeaderValues("7f3a91c2b04e", "anthropic/claude-opus-4", "default", "local")
_HOSTILE = "[/oops] \x1b[31mred\n\u202e你好 👨\u200d👩\u200d👧" * 5


class LinesApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Header()
        yield StatusLine()


async def _lines(width: int, header: HeaderValues, status: StatusValues) -> tuple[str, str]:
    app = LinesApp()
    async with app.run_test(size=(width, 12)) as pilot:
        app.query_one(Header).show(header)
        app.query_one(StatusLine).show(status)
        await pilot.pause()
        strips = [app.query_one(kind).render_line(0) for kind in (Header, StatusLine)]
        assert all(strip.cell_length == width - 2 for strip in strips)
        return strips[0].text.rstrip(), strips[1].text.rstrip()


async def test_everything_is_said_when_there_is_room() -> None:
    header, status = await _lines(80, _SESSION, _FULL)
    assert header == "mecatui   7f3a91c2b04e   anthropic/claude-opus-4   default   local"
    assert status.endswith("ctx ▓▓░░░ 42%  ↑12.3k ↓1.1k  cache 96%  skills 14 · 1 new · 1 gone")
    assert status.startswith("ready ")


async def test_short_forms_stand_on_a_narrow_screen() -> None:
    header, status = await _lines(40, _SESSION, _FULL)
    assert header == "mecatui   7f3a91c   claude-opus-4"
    assert status.startswith("ready ")
    assert status.endswith("ctx 42%  cache 96%  skills 14")


async def test_the_state_outlives_every_figure() -> None:
    _, status = await _lines(40, _SESSION, StatusValues("server gone · enter starts it again", 0.9, 1, 1, 0.5, 3))
    assert status == "server gone · enter starts it again"


async def test_unknown_parts_are_left_out() -> None:
    header, status = await _lines(80, HeaderValues(), StatusValues("starting…"))
    assert (header, status) == ("mecatui", "starting…")
    _, status = await _lines(80, HeaderValues(), StatusValues("ready", skills=3, tokens_in=0))
    assert status.split() == ["ready", "↑0", "skills", "3"]


@pytest.mark.parametrize("width", [10, 40, 80, 250])
async def test_hostile_values_stay_literal_and_inside(width: int) -> None:
    header = HeaderValues(_HOSTILE, _HOSTILE, _HOSTILE, _HOSTILE, _HOSTILE)
    for line in await _lines(width, header, StatusValues(_HOSTILE, 7.0, 10**12, -1, -3.0, 10**9, 5, 5)):
        assert not {"\x1b", "\u202e", "\n"} & set(line)


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (0, "↑0"),
        (999, "↑999"),
        (1_100, "↑1.1k"),
        (123_456, "↑123k"),
        (999_999, "↑1.0M"),
        (9_999, "↑10.0k"),
        (1_250_000, "↑1.2M"),
    ],
)
async def test_counts_are_short(tokens: int, shown: str) -> None:
    _, status = await _lines(80, HeaderValues(), StatusValues(tokens_in=tokens))
    assert status.strip() == shown


async def test_the_title_is_said_on_a_wide_screen() -> None:
    values = HeaderValues("7f3a91c2b04e", "model", "default", "local", "Fix the token check")
    header, _ = await _lines(120, values, _FULL)
    assert header == "mecatui   7f3a91c2b04e   Fix the token check   model   default   local"
