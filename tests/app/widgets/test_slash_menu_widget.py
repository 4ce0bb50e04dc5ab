"""The slash menu: one line for each row, whatever stands in it."""

from collections.abc import Sequence
from typing import overload

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from mecatui.widgets.slash_menu import MenuRow, SlashMenu

_HOSTILE = [
    "[/oops]",
    "[@click=app.quit]x[/]",
    "\x1b[31mred\x1b[2J",
    "user\u202etxt.exe",
    "e\u0301" * 80,
    "你好" * 60,
    "👨\u200d👩\u200d👧" * 30,
    "a\nb\r\nc\td",
    "",
    "x" * 5_000,
]


class MenuApp(App[None]):
    """A menu between a page and an input, as on the chat screen."""

    CSS = "Static { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.picked: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("page")
        yield SlashMenu()
        yield Input()

    @property
    def menu(self) -> SlashMenu:
        return self.query_one(SlashMenu)

    def on_slash_menu_picked(self, message: SlashMenu.Picked) -> None:
        self.picked.append(message.row.name)


def _rows(count: int, description: str = "does a thing") -> list[MenuRow]:
    return [MenuRow(f"skill-{index}", f"{description} {index}", "user") for index in range(count)]


def _lines(menu: SlashMenu) -> list[str]:
    return [menu.render_line(y).text.rstrip() for y in range(menu.size.height)]


def _names(menu: SlashMenu) -> list[str]:
    return [line.removeprefix("›").split()[0] for line in _lines(menu) if "/skill-" in line]


async def test_menu_shows_its_rows_the_first_one_lit() -> None:
    app = MenuApp()
    async with app.run_test(size=(60, 24)) as pilot:
        assert not app.menu.display
        app.menu.show(
            [MenuRow("reload-skills", "load changed skills", "builtin"), MenuRow("rel", "", "user", note="new")]
        )
        await pilot.pause()
        assert _lines(app.menu)[:2] == [
            "› /reload-skills  load changed skills            builtin",
            "  /rel            new                               user",
        ]
        assert app.menu.lit is not None
        assert app.menu.lit.name == "reload-skills"
        app.menu.hide()
        await pilot.pause()
        assert app.menu.lit is None
        assert not app.menu.display


async def test_matched_letters_are_set_off_by_more_than_colour() -> None:
    app = MenuApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.menu.show([MenuRow("abc", "", ""), MenuRow("reload", "", "", matched=(0, 1, 4))])
        await pilot.pause()
        strip = app.menu.render_line(1)
        marked = "".join(segment.text for segment in strip if segment.style and segment.style.underline)
        assert marked == "rea"
        assert all(segment.style.bold for segment in strip if segment.style and segment.style.underline)


@pytest.mark.parametrize("width", [40, 80, 250])
async def test_hostile_rows_are_literal_single_lines_of_exact_width(width: int) -> None:
    app = MenuApp()
    rows = [
        MenuRow(text, text, text, matched=tuple(range(0, len(text), 2)), note=note)
        for text in _HOSTILE
        for note in ("", text)
    ]
    async with app.run_test(size=(width, 30)) as pilot:
        app.menu.show(rows)
        await pilot.pause()
        for _ in rows:
            for y in range(app.menu.size.height):
                strip = app.menu.render_line(y)
                assert strip.cell_length == app.menu.size.width
                assert not {"\x1b", "\u202e", "\n", "\t"} & set(strip.text)
                assert not any(segment.style and "@click" in segment.style.meta for segment in strip)
            app.menu.move(1)
        assert app.is_running
        assert "[/oops]" in _lines(app.menu)[0]


async def test_window_scrolls_by_index_and_goes_round() -> None:
    app = MenuApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.menu.show(_rows(20))
        await pilot.pause()
        assert _names(app.menu) == [f"/skill-{index}" for index in range(8)]
        for _ in range(8):
            app.menu.move(1)
        assert _names(app.menu) == [f"/skill-{index}" for index in range(1, 9)]
        app.menu.move(-9)
        assert app.menu.lit == _rows(20)[0]
        app.menu.move(-1)
        assert app.menu.lit == _rows(20)[19]
        assert _names(app.menu) == [f"/skill-{index}" for index in range(12, 20)]
        app.menu.move(1)
        assert app.menu.lit == _rows(20)[0]
        app.menu.move(500)
        assert app.menu.lit == _rows(20)[19]


@pytest.mark.parametrize(("height", "rows"), [(12, 3), (18, 6), (24, 8), (50, 8)])
async def test_menu_leaves_room_for_the_rest_of_a_low_screen(height: int, rows: int) -> None:
    app = MenuApp()
    async with app.run_test(size=(40, height)) as pilot:
        app.menu.show(_rows(20, "a long description " * 20))
        await pilot.pause()
        assert sum("/skill-" in line for line in _lines(app.menu)) == rows
        assert app.menu.region.height <= height - 4
        assert app.screen.region.contains_region(app.menu.region)


async def test_the_whole_description_of_the_lit_row_can_be_read() -> None:
    app = MenuApp()
    description = "Starts here " + "and continues with many words " * 18 + "and ends with TAILMARK"
    async with app.run_test(size=(80, 24)) as pilot:
        app.menu.show([MenuRow("short", "does a thing", "user"), MenuRow("tail-word", description, "user")])
        await pilot.pause()
        app.menu.move(1)
        await pilot.pause()
        assert "TAILMARK" in "\n".join(_lines(app.menu))


async def test_a_description_too_long_for_the_room_ends_in_an_ellipsis() -> None:
    app = MenuApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.menu.show([MenuRow("endless", "word " * 2_000, "user")])
        await pilot.pause()
        assert _lines(app.menu)[-1].endswith("…")


async def test_the_menu_does_not_shrink_while_rows_are_walked_through() -> None:
    app = MenuApp()
    async with app.run_test(size=(80, 30)) as pilot:
        app.menu.show([MenuRow("long", "word " * 100, "user"), MenuRow("short", "word", "user")])
        await pilot.pause()
        height = app.menu.region.height
        app.menu.move(1)
        await pilot.pause()
        assert app.menu.region.height == height


async def test_short_descriptions_leave_no_blank_lines_and_walking_moves_nothing() -> None:
    app = MenuApp()
    async with app.run_test(size=(80, 30)) as pilot:
        app.menu.show([MenuRow("one", "word", "user"), MenuRow("two", "word", "user")])
        await pilot.pause()
        assert app.menu.size.height == 3
        app.menu.show([MenuRow("short", "word", "user"), MenuRow("long", "word " * 30, "user")])
        await pilot.pause()
        height = app.menu.region.height
        app.menu.move(1)
        await pilot.pause()
        assert app.menu.region.height == height
        assert height == 2 + 2 + 2


async def test_a_click_picks_the_row_under_the_pointer() -> None:
    app = MenuApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.menu.show(_rows(20))
        app.menu.move(10)
        await pilot.pause()
        await pilot.click(SlashMenu, offset=(6, 3))
        await pilot.pause()
        assert app.picked == ["skill-5"]


async def test_a_message_stands_in_place_of_rows() -> None:
    app = MenuApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.menu.show(_rows(3))
        app.menu.show_message("no command matches\n[/oops]")
        await pilot.pause()
        assert _lines(app.menu) == ["no command matches [/oops]"]
        assert app.menu.lit is None
        app.menu.move(1)
        assert app.menu.lit is None


class CountingRows(Sequence[MenuRow]):
    """Rows that tell which of them were read."""

    def __init__(self, rows: list[MenuRow]) -> None:
        self._rows = rows
        self.read: set[int] = set()

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> MenuRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[MenuRow]: ...
    def __getitem__(self, index: int | slice) -> MenuRow | list[MenuRow]:
        if isinstance(index, slice):
            self.read.update(range(len(self))[index])
            return self._rows[index]
        self.read.add(index)
        return self._rows[index]


async def test_ten_thousand_rows_are_read_only_where_they_are_seen() -> None:
    app, rows = MenuApp(), CountingRows(_rows(10_000))
    async with app.run_test(size=(80, 24)) as pilot:
        app.menu.show(rows)
        await pilot.pause()
        app.menu.move(5_000)
        await pilot.pause()
        assert len(rows.read) < 40
