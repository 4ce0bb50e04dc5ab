"""Ten thousand skills: a reload takes its time, and meanwhile others work and a person types."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mecatui.app import MecatuiApp
from mecatui.backend import EmbeddedBackend
from mecatui.embedded import ServerFlags
from mecatui.session_view import ReloadStep
from tests.app.fake_session import Chat, FakeBackend
from tests.support.script import rule, say, wait_for
from tests.support.server import ServerProcess, client_for
from tests.support.session import Session

MANY = 10_000
SHARED = ".shared"


@pytest.fixture(scope="module")
def many() -> Iterator[Path]:
    """A folder of so many skills; all their files are one, which takes a fraction of the time to write."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="mecatui-many-", dir=memory)
    with open(f"{folder}/{SHARED}", "w") as file:
        file.write("---\ndescription: One of very many.\n---\nMANY BODY\n")
    for number in range(MANY):
        os.mkdir(f"{folder}/skill-{number:05}")
        os.link(f"{folder}/{SHARED}", f"{folder}/skill-{number:05}/SKILL.md")
    yield Path(folder)
    shutil.rmtree(folder)


def touch(folder: Path) -> None:
    """Make every file one that has to be read anew."""
    (folder / SHARED).touch()


async def test_another_session_streams_and_is_served_while_a_reload_is_under_way(many: Path, tmp_path: Path) -> None:
    script = [rule("long", [say("begun"), wait_for(tmp_path / "go"), say("ended")])]
    with ServerProcess.start(tmp_path, "--skills-dir", str(many), script=script) as server:
        async with client_for(server) as client:
            streaming, other, reloaded = [await Session.begin(client, tmp_path / "record.jsonl") for _ in range(3)]
            stream = asyncio.create_task(streaming.send("long"))
            touch(many)
            reload = asyncio.create_task(reloaded.reload())
            assert await other.typed("/skill-00007 now") == "MANY BODY\n\nArguments:\nnow"
            (tmp_path / "go").touch()
            assert (await stream).result.text == "begunended"
            assert not reload.done()
            report = await reload
            assert (report.skills, report.added, report.changed, report.removed) == (MANY, 0, 0, 0)


async def test_keys_are_echoed_while_a_reload_is_under_way(many: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    flags = ("--skills-dir", str(many), "--no-conventional-skills")
    backend = EmbeddedBackend(ServerFlags(tmp_path / "project", flags))
    app = MecatuiApp(backend)
    try:
        async with app.run_test(size=(100, 30)) as pilot:
            it = Chat(app, pilot, FakeBackend(), [])
            await it.until(lambda: it.view.is_idle and it.view.knows_commands)
            touch(many)
            await it.enter("/reload-skills")
            assert it.view.reload is ReloadStep.SENT
            for typed in range(1, 6):
                await pilot.press("x")
                assert it.prompt.text == "x" * typed
            assert it.view.reload is not ReloadStep.NONE
            await it.until(lambda: "nothing changed" in it.transcript)
            assert it.prompt.text == "xxxxx"
            it.prompt.set_draft("")
            await it.type("/skill-099")
            assert it.lit == "skill-09900"
    finally:
        backend.close()
