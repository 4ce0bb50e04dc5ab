"""Faults that people reported of other products, kept outside this repository: trees of files, and what is right.

`<case>/tree` is copied into an empty root, `<case>/setup.sh` is run on it, `<case>/expect.json` says what must hold.
"""

import json
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from server_stub.build import build
from server_stub.config import Listen, ModelSettings, ServerConfig, SkillSettings
from tests.support.local import config_of, listening

CASES = Path(__file__).parents[2].parent / "shared" / "cases"

needs_cases = pytest.mark.skipif(not CASES.exists(), reason="the reported faults are not on this machine")

UNTRUSTED = frozenset({"T02", "T03", "T05", "T06", "T08", "T09", "C20"})
"""Those whose project is not trusted."""


@dataclass(frozen=True)
class Case:
    """One reported fault."""

    case_id: str
    area: str
    expect: dict[str, Any]

    @property
    def is_trusted(self) -> bool:
        return self.case_id not in UNTRUSTED

    def lay_out(self, root: Path) -> None:
        """Make its files in `root`: `home/`, `project/`, and what else it has."""
        folder = CASES / self.case_id
        if (folder / "tree").exists():
            shutil.copytree(folder / "tree", root, symlinks=True, dirs_exist_ok=True)
        for path in [root, *root.rglob("*")]:
            path.chmod(path.stat().st_mode | stat.S_IRUSR | stat.S_IWUSR | stat.S_IROTH)
        if (folder / "setup.sh").exists():
            subprocess.run(["sh", str(folder / "setup.sh"), str(root)], check=True, capture_output=True)


def all_cases() -> list[Case]:
    """Every case that is there, by id."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(CASES.glob("*/expect.json"))]
    return [Case(case["id"], case["area"], case["expect"]) for case in found]


def settings(case: Case, root: Path, workspace: Path | None = None) -> ServerConfig:
    """The server of a case that is laid out in `root`; what its model is shown goes to `record.jsonl`."""
    # The one case with a second folder of the project's skills wants both configured.
    other = root / "project" / ".other" / "skills"
    explicit = (root / "project" / ".agents" / "skills", other) if other.exists() else ()
    config = config_of(
        root,
        workspace=workspace or root / "project",
        skills=SkillSettings(explicit, trust_project=case.is_trusted),
        model=ModelSettings(record=root / "record.jsonl"),
    )
    return replace(config, listen=Listen(uds=workspace / "s")) if workspace else config


@asynccontextmanager
async def serving(case: Case, root: Path, workspace: Path | None = None) -> AsyncIterator[str]:
    """The real server on a real socket, in this process; gives its address."""
    config = settings(case, root, workspace)
    built = build(config)
    async with listening(built.app, config.listen.uds) as address:
        try:
            yield address
        finally:
            await built.service.drain()
