"""What the transcript and the slash menu cost as they grow: ratios against a floor of the same run."""

import asyncio
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from mecatui.widgets.prompt import Prompt
from mecatui.widgets.slash_menu import MenuRow, SlashMenu
from mecatui.widgets.transcript import Transcript

pytestmark = pytest.mark.bench

_WORDS = (
    "each finished block keeps its rows and only the last one is drawn again so that long sessions stay quick".split()
)
_DELTAS = 60
_DELTA = 80


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
    while transcript.column.undrawn is not None or not transcript.column.height:
        await asyncio.sleep(0.05)


async def _append_cost(size: int) -> dict[str, float]:
    """CPU ms per delta of 80 characters, and MiB for the transcript before them."""
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


def _in_own_process(call: str) -> dict[str, float]:
    code = f"import asyncio, json\nfrom tests.bench.test_transcript import *\nfrom tests.bench.test_transcript import _append_cost, _menu_cost\nprint(json.dumps(asyncio.run({call})))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    import json

    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert isinstance(result, dict)
    return result


def test_appending_costs_the_same_when_the_transcript_is_long() -> None:
    small, large = [], []
    for _ in range(3):
        small.append(_in_own_process("_append_cost(10_000)"))
        large.append(_in_own_process("_append_cost(1_000_000)"))
    for key in ("median", "mean"):
        at_small = statistics.median(run[key] for run in small)
        at_large = statistics.median(run[key] for run in large)
        print(f"\nCPU ms per delta, {key}: {at_small:.2f} at 10 KB, {at_large:.2f} at 1 MB: {at_large / at_small:.2f}x")
    memory = statistics.median(run["memory"] for run in large)
    print(f"memory per MB: {memory:.1f} MiB; loading 1 MB: {statistics.median(run['loading'] for run in large):.2f} s")
    ratio = statistics.median(r["median"] for r in large) / statistics.median(r["median"] for r in small)
    assert ratio <= 1.2
    assert memory <= 50
