"""Discovery and reload of many skills, as ratios against floors of the same run."""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from server_stub.skills.resolve import SkillOptions, resolve

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

_ROOT = Path(__file__).parents[2]
_WORDS = tuple(
    word
    for line in (
        "load inspect rewrite the changed files and report what is left open before a release keep every step small",
        "name your source ask first when data may be lost tables forms queries styles notes",
    )
    for word in line.split()
)


def generate(root: Path, count: int) -> None:
    """Skills as people write them: a description in several YAML styles, 2 to 8 KB of Markdown, some with assets."""
    rng = random.Random(count)

    def words(characters: int) -> str:
        text = ""
        while len(text) < characters:
            text += rng.choice(_WORDS) + " "
        return text.strip().capitalize() + "."

    for number in range(count):
        name = f"{rng.choice(_WORDS)}-{rng.choice(_WORDS)}-{number:05}"
        text = words(rng.randint(60, 400))
        style = number % 10
        described = (
            f"description: {text}"
            if style < 6
            else f'description: "{text[:20]}: {text[20:]}"'
            if style < 8
            else f"description: >-\n  {text[:60]}\n  {text[60:]}"
            if style == 8
            else f"description: |-\n  {text}"
        )
        head = ["---", f"name: {name}", described]
        head += ["license: MIT"] * (number % 2)
        head += ["allowed-tools: Read Grep Bash"] * (number % 3 == 0)
        head += ["metadata:", "  author: example", '  version: "1.4"'] * (number % 3 == 1)
        body = "\n\n".join(words(rng.randint(120, 500)) for _ in range(rng.randint(6, 26)))
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("\n".join([*head, "---", "", f"# {name}", "", body, ""]))
        if number % 4 == 0:
            for inner in ("scripts", "references"):
                (folder / inner).mkdir()
                (folder / inner / "file.md").write_text(body)


def stat_everything(root: Path) -> None:
    """The floor of a reload in which nothing changed."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                os.stat(f"{entry.name}/SKILL.md", dir_fd=descriptor)
    finally:
        os.close(descriptor)


def read_everything(root: Path) -> None:
    """The floor of a cold discovery."""
    kept = []
    with os.scandir(root) as entries:
        for entry in entries:
            descriptor = os.open(f"{entry.path}/SKILL.md", os.O_RDONLY)
            kept.append(os.read(descriptor, os.fstat(descriptor).st_size))
            os.close(descriptor)


def cpu(action: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    started = time.process_time()
    action()
    return time.process_time() - started


def change(root: Path, share: int, turn: int) -> None:
    """Edit one skill in `share`, then let the clock move on."""
    for folder in sorted(root.iterdir())[::share]:
        with (folder / "SKILL.md").open("a") as file:
            file.write(f"edit {turn}\n")


def settle() -> None:
    """Wait until no file is younger than the clock's granularity."""
    time.sleep(0.3)


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    base = tmp_path_factory.mktemp("many")
    sizes = {count: base / str(count) for count in (1_000, 10_000)}
    for count, root in sizes.items():
        generate(root, count)
    settle()
    return sizes


def decided(root: Path) -> SkillOptions:
    nowhere = root.parent / "nowhere"
    return SkillOptions(nowhere, (root,), False, False, True, nowhere, nowhere, nowhere / "trust.json", 60.0)


_FIRST_CALLS = {"read": "bench.read_everything(root)", "cold": "bench.resolve(bench.decided(root))"}


def first_call(call: str, root: Path) -> float:
    """Processor seconds of the first call in a process of its own, as a server makes it."""
    code = (
        f"import sys, pathlib, {__name__} as bench; root = pathlib.Path(sys.argv[1]); print(bench.cpu(lambda: {call}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def measure(root: Path, rounds: int) -> dict[str, float]:
    """Medians over rounds in which each figure is taken once, so that noise falls on all alike."""
    options = decided(root)
    cache = resolve(options).cache
    taken: dict[str, list[float]] = {name: [] for name in ("read", "cold", "stat", "unchanged", "changed")}
    for turn in range(rounds):
        for name, call in _FIRST_CALLS.items():
            taken[name].append(first_call(call, root))
        taken["stat"].append(cpu(lambda: stat_everything(root)))
        taken["unchanged"].append(cpu(partial(resolve, options, cache=cache)))
        change(root, 100, turn)
        settle()
        taken["changed"].append(cpu(partial(resolve, options, cache=cache)))
        cache = resolve(options, cache=cache).cache
    return {name: statistics.median(values) for name, values in taken.items()}


def test_discovery_and_reload_keep_to_their_targets(roots: dict[int, Path]) -> None:
    figures = {count: measure(root, 7) for count, root in roots.items()}
    print("\nskills   " + "".join(f"{name:>12}" for name in figures[1_000]) + "   (CPU microseconds per skill)")
    for count, taken in figures.items():
        print(f"{count:>6}   " + "".join(f"{seconds / count * 1e6:12.1f}" for seconds in taken.values()))
    for count, taken in figures.items():
        cold, unchanged = taken["cold"] / taken["read"], taken["unchanged"] / taken["stat"]
        changed = taken["changed"] / taken["unchanged"]
        print(
            f"{count:>6}   cold {cold:.1f} x reading (target 4)   unchanged {unchanged:.1f} x stat (target 3)   "
            f"1 % changed {changed:.2f} x unchanged (target 1.5)"
        )
    growth = figures[10_000]["cold"] / figures[1_000]["cold"]
    print(f"ten times the skills take {growth:.1f} times as long")
    assert growth < 15
    assert all(taken["unchanged"] < 3 * taken["stat"] for taken in figures.values())
    assert all(taken["cold"] < 10 * taken["read"] for taken in figures.values())
