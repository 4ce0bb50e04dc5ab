"""What the transcript and the slash menu cost as they grow: ratios against a floor of the same run."""

import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input, Static

from mecatui.inventory import Command, Inventory
from mecatui.slash.palette import Palette
from mecatui.widgets.prompt import Prompt
from mecatui.widgets.slash_menu import MenuRow, SlashMenu
from mecatui.widgets.transcript import Transcript

pytestmark = pytest.mark.bench

_WORDS = ("each", "finished", "block", "keeps", "its", "rows", "and", "only", "the", "last", "one", "is", "drawn")
_DELTAS = 60
_DELTA = 80
_ROUNDS = 5


def _blocks(rng: random.Random) -> Iterator[str]:
    def words(count: int) -> str:
        return " ".join(rng.choices(_WORDS, k=count))

    while True:
        yield f"## {words(5)}\n\n"
        yield f"{words(rng.randint(20, 70))} with `code` and *emphasis*.\n\n"
        yield "".join(f"- **{words(1)}** {words(9)}\n" for _ in range(4)) + "\n"
        yield f"{words(rng.randint(20, 70))}, [a link](https://example.org) among it.\n\n"
        yield "```python\n" + "".join(f"def {words(1)}_{i}(x):\n    return x + {i}\n" for i in range(5)) + "```\n\n"
        yield "| a | b |\n|---|---|\n" + "".join(f"| {words(1)} | `{words(1)}` |\n" for _ in range(4)) + "\n"
        yield f"{words(rng.randint(20, 70))} and so on.\n\n"


def _markdown(size: int, seed: int) -> str:
    parts, length = [], 0
    for block in _blocks(random.Random(seed)):
        parts.append(block)
        length += len(block)
        if length >= size:
            return "".join(parts)
    raise AssertionError


class _TranscriptApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


def _resident() -> float:
    """MiB of memory of this process."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


async def _load(transcript: Transcript, text: str) -> None:
    """Fill with messages of about 2 KB, each under a prompt, and wait until all of it is drawn."""
    for start in range(0, len(text), 2000):
        transcript.add_prompt("go on")
        transcript.append_text(text[start : start + 2000])
        transcript.end_text()
    await transcript.drawn()


async def _append_cost(size: int) -> dict[str, float]:
    """CPU ms for a delta of 80 characters after `size` characters, and what those cost: CPU s, MiB."""
    new = _markdown(_DELTAS * _DELTA * 3, 2)
    app = _TranscriptApp()
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        await _load(transcript, _markdown(5_000, 3))
        await pilot.pause()
        before, began = _resident(), time.process_time()
        await _load(transcript, _markdown(size, 1))
        await pilot.pause()
        loading, memory = time.process_time() - began, _resident() - before
        costs = []
        for index in range(_DELTAS):
            began = time.process_time()
            transcript.append_text(new[index * _DELTA : (index + 1) * _DELTA])
            await asyncio.sleep(0.04)
            costs.append((time.process_time() - began) * 1000)
    return {"median": statistics.median(costs), "mean": statistics.fmean(costs), "loading": loading, "memory": memory}


async def _opening_cost(size: int) -> dict[str, float]:
    """CPU ms until the end of a transcript that is already there is on the screen."""
    text = _markdown(size, 1) if size else ""
    app = _TranscriptApp()
    began = time.process_time()
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        for start in range(0, len(text), 2000):
            transcript.add_prompt("go on")
            transcript.append_text(text[start : start + 2000])
            transcript.end_text()
        await pilot.pause()
        return {"opening": (time.process_time() - began) * 1000}


class _BareApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("page")
        yield Input()


class _MenuApp(App[None]):
    CSS = "Static { height: 1fr; }"

    def __init__(self, count: int) -> None:
        super().__init__()
        rng = random.Random(4)
        names = [f"{rng.choice(_WORDS)}-{rng.choice(_WORDS)}-{index}" for index in range(count)]
        commands = tuple(Command(name, " ".join(rng.choices(_WORDS, k=20)), origin="user") for name in names)
        self.palette = Palette(Inventory(commands=commands))

    def compose(self) -> ComposeResult:
        yield Static("page")
        yield SlashMenu()
        yield Prompt()

    def on_prompt_edited(self, message: Prompt.Edited) -> None:
        hits = self.palette.find(message.text.removeprefix("/"))
        self.query_one(SlashMenu).show(
            [MenuRow(hit.row.name, hit.row.description, hit.row.badge, hit.matched, hit.row.note) for hit in hits]
        )


async def _key_cost(pilot: Pilot[None], keys: str) -> float:
    """CPU ms from a key to the screen that shows what it did, at the median of the keys."""
    costs = []
    for key in keys:
        began = time.process_time()
        pilot.app.post_message(events.Key(key, key))
        await pilot.pause()
        costs.append((time.process_time() - began) * 1000)
    return statistics.median(costs)


async def _menu_cost(count: int) -> dict[str, float]:
    """CPU ms from key to screen: a bare input, and the prompt with a menu of `count` commands."""
    keys = "/finished-block"
    bare, ours = _BareApp(), _MenuApp(count)
    async with bare.run_test(size=(120, 40)) as pilot:
        await _key_cost(pilot, "warm")
        floor = await _key_cost(pilot, keys)
    async with ours.run_test(size=(120, 40)) as pilot:
        await _key_cost(pilot, "/")
        ours.query_one(Prompt).take()
        await pilot.pause()
        return {"floor": floor, "menu": await _key_cost(pilot, keys)}


def _in_own_process(call: str) -> dict[str, float]:
    """The figures of one of the functions above, in a process that did nothing before."""
    code = f"import asyncio, json, tests.bench.test_transcript as bench; print(json.dumps(asyncio.run(bench.{call})))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(figures, dict)
    return figures


def _medians(call: str, rounds: int = _ROUNDS) -> dict[str, float]:
    runs = [_in_own_process(call) for _ in range(rounds)]
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


@pytest.mark.timeout(600)
def test_appending_costs_the_same_when_the_transcript_is_long() -> None:
    small, large = _medians("_append_cost(10_000)"), _medians("_append_cost(1_000_000)")
    for key in ("median", "mean"):
        ratio = large[key] / small[key]
        print(f"\nCPU ms for a delta, {key}: {small[key]:.1f} at 10 KB, {large[key]:.1f} at 1 MB: {ratio:.2f}x")
    print(f"1 MB takes {large['memory']:.1f} MiB and {large['loading']:.1f} s of CPU to draw all of it")
    assert large["median"] <= 1.2 * small["median"]
    assert large["memory"] <= 50


@pytest.mark.timeout(600)
def test_a_long_transcript_opens_at_its_end_without_drawing_the_rest() -> None:
    floor, large = _medians("_opening_cost(0)")["opening"], _medians("_opening_cost(1_000_000)")["opening"]
    print(f"\nCPU ms to the first screen: {floor:.0f} empty, {large:.0f} at 1 MB: {large / floor:.2f}x")


@pytest.mark.timeout(600)
def test_menu_is_filtered_within_a_key_stroke() -> None:
    for count in (10, 10_000):
        cost = _medians(f"_menu_cost({count})")
        ratio = cost["menu"] / cost["floor"]
        print(
            f"\nCPU ms from key to rows, {count} commands: {cost['menu']:.1f}, bare {cost['floor']:.1f}: {ratio:.2f}x"
        )
