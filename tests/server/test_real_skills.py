"""Real SKILL.md files of many authors through the real server: listed, read, and run by name as they are."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.skills.folders import SHARED
from tests.support.local import opened

CORPUS = SHARED / "corpus"

_RUN_EACH = 12
"""All are expanded; one in so many is also sent, in a session of its own, since a conversation grows with each."""

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of real files is not here")


def _rows() -> list[dict[str, Any]]:
    """Those that load, one for each name."""
    expected = CORPUS / "expected_open.jsonl"
    rows = [json.loads(line) for line in expected.read_text(encoding="utf-8").splitlines()] if expected.exists() else []
    return list(
        {row["folder"]: row for row in rows if row["class"] == "load" and row["name"] == row["folder"]}.values()
    )


async def test_every_real_skill_is_listed_read_and_run_by_name(tmp_path: Path) -> None:
    rows = _rows()
    for row in rows:
        folder = tmp_path / "skills" / row["folder"]
        folder.mkdir(parents=True)
        shutil.copyfile(CORPUS / "open" / row["repo"].replace("/", "+") / row["path"], folder / "SKILL.md")
    async with opened(tmp_path) as server:
        session = await server.recorded()
        listed = {skill.name: skill for skill in (await server.client.skills(session.session_id)).skills}
        assert set(listed) == {row["name"] for row in rows}
        hidden = {name for name, skill in listed.items() if not skill.user_invocable}
        assert set(await session.palette()) == set(listed) - hidden
        for place, name in enumerate(sorted(set(listed) - hidden)):
            first = _first_line((await server.client.skill(session.session_id, name)).body)
            typed = f"/{name} and [this]"
            assert first in (await server.client.expand(session.session_id, typed)).text, name
            if place % _RUN_EACH == 0:
                assert first in await (await server.recorded()).typed(typed), name
        assert (await session.reload()).status == "unchanged"


def _first_line(body: str) -> str:
    return next(line for line in body.splitlines() if line.strip())
