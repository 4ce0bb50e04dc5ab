"""Faults that people reported of other products, opened in the real app against the real server: the palette shows what
is there, what is lit is what runs, and nothing of a skill's text is taken for an order to the screen."""

import json
import os
import sys
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.command import CommandPalette

from mecatui.app import MecatuiApp
from mecatui.backend import RemoteBackend
from mecatui.slash.builtins import BUILTINS
from mecatui.slash.parse import BuiltinCommand, classify
from server_stub.build import build
from server_stub.config import SkillSettings
from tests.app.fake_session import Chat, FakeBackend, screen_text
from tests.support.cases import Case, all_cases, needs_cases, serving
from tests.support.local import config_of, listening
from tests.support.terminal import Terminal

pytestmark = needs_cases


class Opened(Chat):
    """The app on one case."""

    root: Path

    @property
    def offered(self) -> list[str]:
        """The names in the open menu, in their order."""
        return [row.name for row in self.menu._rows]

    @property
    def requests(self) -> list[list[dict[str, Any]]]:
        """The messages of each request that the model was shown."""
        record = self.root / "record.jsonl"
        lines = record.read_text().splitlines() if record.exists() else []
        return [json.loads(json.loads(line)["body"])["messages"] for line in lines]

    async def write(self, text: str) -> None:
        """Type into an empty prompt; the last key is a real one."""
        self.prompt.set_draft(text[:-1])
        await self.pilot.press("end", "space" if text[-1] == " " else text[-1])
        await self.pilot.pause()

    async def paste(self, text: str) -> None:
        self.prompt.set_draft("")
        self.prompt.post_message(events.Paste(text))
        await self.pilot.pause()

    async def sent(self) -> str:
        """Press Enter, once more where that completed a name, and give what the model was shown."""
        before = len(self.requests)
        await self.pilot.press("enter")
        await self.pilot.pause()
        if self.prompt.text:
            await self.pilot.press("enter")
        await self.until(lambda: len(self.requests) > before and self.view.is_idle)
        assert len(self.requests) == before + 1
        shown: str = self.requests[-1][-1]["content"]
        return shown

    async def back_to_chat(self) -> None:
        while self.app.screen is not self.app.chat:
            await self.pilot.press("escape")
            await self.pilot.pause()
        self.prompt.set_draft("")


@asynccontextmanager
async def opened(case: Case, root: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Opened]:
    case.lay_out(root)
    async with serving(case, root) as address:
        app = MecatuiApp(RemoteBackend(address))
        async with app.run_test(size=size) as pilot:
            it = Opened(app, pilot, FakeBackend(), [])
            it.root = root
            await it.until(lambda: it.view.is_idle and it.view.knows_commands)
            yield it


async def check_first(it: Opened, wanted: dict[str, str]) -> None:
    for typed, name in wanted.items():
        await it.write(typed)
        assert (it.lit, it.offered[0]) == (name, name)


async def check_enter_runs(it: Opened, wanted: dict[str, str]) -> None:
    for typed, body in wanted.items():
        await it.write("/ca")
        await it.pilot.press("down", "down")
        await it.write(typed)
        assert body in await it.sent()


async def check_order(it: Opened, wanted: dict[str, list[str]]) -> None:
    for typed, names in wanted.items():
        await it.write(typed)
        assert it.offered[: len(names)] == names


async def check_rows(it: Opened, fewest: int) -> None:
    await it.write("/wor")
    rows = [row for row in screen_text(it.app).splitlines() if "/wordy-" in row]
    assert len(rows) >= fewest
    assert len(set(it.offered)) == len(it.offered)


async def check_one_row(it: Opened, names: list[str]) -> None:
    for name in names:
        await it.write(f"/{name}")
        rows = [row for row in screen_text(it.app).splitlines() if f"/{name}  " in row and "❯" not in row]
        assert len(rows) == 1


async def check_revealed(it: Opened, parts: list[str]) -> None:
    it.prompt.set_draft("")
    await it.enter("/skills")
    await it.until(lambda: "Skills · " in screen_text(it.app))
    seen = ""
    for _ in range(6):
        await it.pilot.press("down")
        it.app.screen.query_one(".page--detail").scroll_end(animate=False)
        await it.pilot.pause()
        seen += screen_text(it.app)
    assert [part for part in parts if part not in seen] == []


async def check_tab(it: Opened, wanted: str) -> None:
    await it.write(wanted[:4])
    await it.pilot.press("tab")
    assert it.prompt.text == wanted
    await it.type("hello")
    assert "hello" in await it.sent()


async def check_single_enter(it: Opened, _: object) -> None:
    await it.write("/plain-skill")
    await it.pilot.press("enter")
    await it.until(lambda: len(it.requests) == 2 and it.view.is_idle)


async def check_popup(it: Opened, wanted: list[tuple[str, bool]]) -> None:
    for typed, is_open in wanted:
        await it.write(typed)
        assert bool(it.lit) is is_open


async def check_popup_closed(it: Opened, _: object) -> None:
    await check_popup(it, [("/plain-skill a", False), ("/plain-ski", True)])


async def check_empty(it: Opened, _: object) -> None:
    await it.write("/zzz")
    assert "no skills are configured" in screen_text(it.app)


async def check_picked(it: Opened, inserted: str) -> None:
    await it.write("half a draft")
    await it.pilot.press("ctrl+p")
    await it.until(lambda: isinstance(it.app.screen, CommandPalette))
    await it.pilot.press("escape")
    assert it.prompt.text == "half a draft"
    it.prompt.set_draft("")
    await it.pilot.press("ctrl+p")
    await it.type("number 7")
    await it.until(lambda: "pick-07" in screen_text(it.app) and "pick-08" not in screen_text(it.app))
    await it.pilot.press("enter")
    await it.until(lambda: it.prompt.text == inserted)
    assert it.requests == []


async def check_help_texts(it: Opened, _: object) -> None:
    await it.pilot.press("ctrl+p")
    await it.until(lambda: "show all commands and keys" in screen_text(it.app))
    await it.type("disc-2")
    await it.until(lambda: screen_text(it.app).count("disc-2") > 3)
    await it.pilot.press("down", "down", "enter")
    await it.until(lambda: it.prompt.text.startswith("/disc-2"))


async def check_suggests(it: Opened, wanted: dict[str, str]) -> None:
    for typed, suggestion in wanted.items():
        await it.write(typed)
        await it.pilot.press("escape", "enter")
        await it.until(lambda suggestion=suggestion: suggestion in it.transcript)
        assert it.prompt.text == typed
        assert it.requests == []


async def check_builtins_win(it: Opened, names: list[str]) -> None:
    for name in names:
        assert isinstance(classify(f"/{name}", it.app.chat.names), BuiltinCommand)
    await it.write("/help")
    await it.pilot.press("enter")
    await it.until(lambda: it.app.screen is not it.app.chat)
    await it.back_to_chat()
    assert it.requests == []


async def check_noted(it: Opened, names: list[str]) -> None:
    for name in names:
        await it.write(f"/{name}")
        assert "name taken by a builtin" in screen_text(it.app)
        assert it.offered.count(name) == 2
        await it.paste(f"/user/{name} x")
        assert (await it.sent()).endswith("Arguments:\nx")


async def check_screen(it: Opened, parts: list[str]) -> None:
    seen = ""
    await it.write("/")
    for _ in range(len(it.offered)):
        await it.pilot.press("down")
        seen += screen_text(it.app)
    assert [part for part in parts if part not in seen] == []


async def check_not_offered(it: Opened, names: list[str]) -> None:
    for name in names:
        await it.write(f"/{name}")
        assert name not in it.offered
        await it.pilot.press("enter")
        assert it.prompt.text == f"/{name}"
        assert it.requests == []


async def check_recalled(it: Opened, typed: str) -> None:
    await it.paste(typed)
    await it.sent()
    assert f"┃ {typed}" in screen_text(it.app)
    assert it.view.title == typed
    await it.pilot.press("up")
    assert it.prompt.text == typed


async def check_no_request(it: Opened, _: object) -> None:
    """Each builtin that can be typed has an outcome that can be seen, and none is a turn of the model."""
    for builtin in BUILTINS:
        if builtin.name == "quit":
            continue
        before = (screen_text(it.app), it.transcript, it.view.session_id)
        await it.write(f"/{builtin.name}")
        await it.pilot.press("enter")
        await it.until(
            lambda before=before: (
                it.app.screen is not it.app.chat
                or it.transcript != before[1]
                or it.view.session_id not in {"", before[2]}
            )
        )
        await it.back_to_chat()
        await it.until(lambda: it.view.is_idle and it.view.knows_commands)
    assert it.requests == []


async def check_pasted(it: Opened, wanted: list[dict[str, Any]]) -> None:
    for one in wanted:
        await it.paste(one["text"])
        sent = await it.sent()
        assert [part for part in one["contains"] if part not in sent] == []
        assert [part for part in one.get("not_contains", []) if part in sent] == []


async def check_no_controls(it: Opened, _: object) -> None:
    await it.write("/")
    assert [c for c in screen_text(it.app).replace("\n", "") if not c.isprintable()] == []


CHECKS: dict[str, Callable[[Opened, Any], Awaitable[None]]] = {
    "completion_first": check_first,
    "enter_runs": check_enter_runs,
    "completion_order": check_order,
    "min_rows_visible": check_rows,
    "palette_single_row": check_one_row,
    "can_reveal": check_revealed,
    "tab_result": check_tab,
    "single_enter_runs": check_single_enter,
    "popup": check_popup,
    "popup_closed_after_space": check_popup_closed,
    "empty_message": check_empty,
    "inserted": check_picked,
    "help_text_in_both": check_help_texts,
    "suggests": check_suggests,
    "builtin_wins": check_builtins_win,
    "note_for": check_noted,
    "screen_contains": check_screen,
    "not_in_palette": check_not_offered,
    "history_recall": check_recalled,
    "model_requests_delta": check_no_request,
    "no_control_chars_on_screen": check_no_controls,
}
TYPED = {"completion", "input"}
"""Areas whose invocations are about how a text gets into the prompt."""
BUILTIN_NAMES = {"R06", "R12"}
VERY_MANY = {"C16", "G01", "G02", "G04", "L20", "L32"}


def is_about_the_app(case: Case) -> bool:
    return bool(case.expect.keys() & CHECKS.keys()) or (case.area in TYPED and "invoke" in case.expect)


@pytest.mark.parametrize("case", list(filter(is_about_the_app, all_cases())), ids=lambda case: case.case_id)
async def test_fault_is_not_ours(case: Case, open_ground: Path) -> None:
    async with opened(case, open_ground) as it:
        for key, wanted in case.expect.items():
            if key in CHECKS:
                await CHECKS[key](it, wanted)
                await it.back_to_chat()
        if case.area in TYPED:
            await check_pasted(it, case.expect.get("invoke", []))


def laid_out(root: Path) -> tuple[Path, ...]:
    """Nearly all cases, each in a root of its own below `root`; gives every folder of skills."""
    folders = []
    for case in all_cases():
        if case.case_id not in BUILTIN_NAMES | VERY_MANY:
            (root / case.case_id).mkdir()
            case.lay_out(root / case.case_id)
            folders += [root / case.case_id / owner / ".agents" / "skills" for owner in ("project", "home")]
    return tuple(folder for folder in folders if folder.exists())


async def test_all_at_once_are_listed_looked_through_and_reloaded(open_ground: Path) -> None:
    config = config_of(open_ground, skills=SkillSettings(laid_out(open_ground), conventional=False))
    built = build(config)
    async with listening(built.app, config.listen.uds) as address:
        app = MecatuiApp(RemoteBackend(address))
        async with app.run_test(size=(80, 24)) as pilot:
            it = Opened(app, pilot, FakeBackend(), [])
            it.root = open_ground
            await it.until(lambda: it.view.is_idle and it.view.knows_commands)
            await it.write("/")
            seen = ""
            for _ in range(14):
                await pilot.press("pagedown")
                seen += screen_text(app)
            await it.back_to_chat()
            await it.enter("/skills")
            await it.until(lambda: "Skills · " in screen_text(app))
            for _ in range(14):
                await pilot.press("pagedown")
                seen += screen_text(app)
            await it.back_to_chat()
            assert [c for c in seen.replace("\n", "") if unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"}] == []
            await it.enter("/reload-skills")
            await it.until(lambda: "Reloaded" in it.transcript)
            assert "nothing changed" in it.transcript
            names = [command.name for command in it.view.inventory.commands]
            assert len(names) == len(set(names)) > 250
        await built.service.drain()


def test_no_byte_of_a_skill_reaches_the_terminal_as_an_order(open_ground: Path) -> None:
    folders = laid_out(open_ground)
    command = [sys.executable, "-m", "mecatui", "--no-conventional-skills"]
    command += [part for folder in folders for part in ("--skills-dir", str(folder))]
    root = str(Path(__file__).parents[2])
    with Terminal.spawn(command, {**os.environ, "PYTHONPATH": root}, size=(40, 120), cwd=open_ground) as terminal:
        terminal.wait_for(lambda lines: lines[-1].startswith(" idle"))
        # The menu and the page show what hides a description's orders; then the body is run.
        for text in ("/esc-desc", "/hidden-text", "/sly"):
            terminal.type(text)
            terminal.wait_for(f"❯ {text}")
            terminal.press("enter")
            terminal.wait_for(f"{text} became a text of")
            terminal.wait_for(lambda lines: lines[-1].startswith(" idle"))
        terminal.type("/skills")
        terminal.press("enter")
        terminal.wait_for("Skills · ")
        for _ in range(30):
            terminal.press("pagedown")
        terminal.settle()
        raw = bytes(terminal.raw)
        for case in all_cases():
            for part in case.expect.get("raw_output_lacks", []):
                assert part.encode().decode("unicode_escape").encode("latin-1") not in raw
        assert b"\x1b[31mred" not in raw
        assert b"\x1b]52" not in raw
