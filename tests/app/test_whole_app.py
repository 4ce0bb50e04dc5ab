"""The app with its real client and its real embedded server, and nothing faked but the terminal."""

import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mecatui.app import MecatuiApp
from mecatui.backend import EmbeddedBackend, RemoteBackend
from mecatui.embedded import EmbeddedServer, ServerFlags
from mecatui.session_view import Activity, Link, ReloadStep
from tests.app.fake_session import Chat, FakeBackend, screen_text
from tests.support.skills import write_skill


@asynccontextmanager
async def running(backend: EmbeddedBackend | RemoteBackend) -> AsyncIterator[Chat]:
    app = MecatuiApp(backend)
    try:
        async with app.run_test(size=(100, 30)) as pilot:
            it = Chat(app, pilot, FakeBackend(), [])
            yield it
    finally:
        backend.close()


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    for name in ("story", "lint", "oldie"):
        write_skill(tmp_path / "skills", name, description=f"About {name}.", body=f"BODY of {name}\n")
    (tmp_path / "project").mkdir()
    return tmp_path


def backend(ground: Path, script: Sequence[dict[str, Any]] = ()) -> EmbeddedBackend:
    flags = ["--skills-dir", str(ground / "skills"), "--no-conventional-skills"]
    flags += ["--mock-record", str(ground / "record.jsonl")]
    if script:
        (ground / "script.json").write_text(json.dumps(script))
        flags += ["--mock-script", str(ground / "script.json")]
    return EmbeddedBackend(ServerFlags(ground / "project", tuple(flags)))


def requests(ground: Path) -> list[str]:
    record = ground / "record.jsonl"
    return record.read_text().splitlines() if record.exists() else []


async def ready(it: Chat) -> None:
    await it.until(lambda: it.view.is_idle and it.view.knows_commands)


async def test_person_runs_a_skill_edits_the_folder_reloads_and_runs_again(ground: Path) -> None:
    async with running(backend(ground)) as it:
        await it.enter("/story of a cat")
        await it.until(lambda: "of a cat" in "".join(requests(ground)))
        await it.until(lambda: it.view.is_idle)
        assert "BODY of story" in requests(ground)[-1]
        write_skill(ground / "skills", "story", description="About story.", body="ANOTHER TEXT\n")
        write_skill(ground / "skills", "fresh", description="About fresh.", body="BODY of fresh\n")
        shutil.rmtree(ground / "skills" / "oldie")
        (ground / "skills" / "lint" / "SKILL.md").write_text("---\nname: [lint\n---\n")
        await it.enter("/reload-skills")
        await it.until(lambda: "Reloaded 2 skills" in it.transcript)
        for part in ("1 added, 1 body changed, 2 removed", "added: fresh", "removed: lint, oldie", "skipped: lint ("):
            assert part in it.transcript
        await it.enter("/story again")
        await it.until(lambda: len(requests(ground)) == 2)
        await it.until(lambda: it.view.is_idle)
        assert "ANOTHER TEXT" in requests(ground)[-1]
        await it.enter("/oldie please")
        assert "/oldie is gone" in it.transcript
        it.prompt.set_draft("")
        await it.enter("/reload-skills")
        await it.until(lambda: "nothing changed" in it.transcript)
        await it.enter("/skills")
        await it.until(lambda: "new: only you can call it" in screen_text(it.app))
        assert "gone: the model may still ask for it" in screen_text(it.app)
        await it.pilot.press("escape")
        await it.enter("/model-view")
        await it.until(lambda: "Requests (2)" in screen_text(it.app))
        assert "differs" not in screen_text(it.app)
        assert len(requests(ground)) == 2


async def test_command_typed_before_the_server_is_up_is_never_sent_as_prose(ground: Path) -> None:
    async with running(backend(ground)) as it:
        await it.enter("/story hi")
        await it.until(lambda: len(requests(ground)) == 1)
        assert "BODY of story" in requests(ground)[0]


async def test_reload_waits_for_an_approval_when_asked_to(ground: Path) -> None:
    script = [{"when": "ask", "turns": [[{"ask": "a rehearsal"}], [{"text": "thank you"}]]}]
    async with running(backend(ground, script)) as it:
        await ready(it)
        await it.enter("ask me")
        await it.until(lambda: it.view.activity is Activity.AWAITING)
        it.prompt.focus()
        await it.enter("/reload-skills")
        assert "awaits your approval" in it.transcript
        await it.pilot.press("ctrl+r")
        assert [entry.text for entry in it.view.queue] == ["/reload-skills"]
        await it.pilot.press("tab")
        it.app.chat._card._shown_at = float("-inf")
        await it.pilot.press("a")
        await it.until(lambda: "thank you" in it.transcript)
        await it.until(lambda: "nothing changed" in it.transcript)


async def test_cancelled_run_ends_and_keeps_the_queue(ground: Path) -> None:
    script = [{"when": "slow", "turns": [[{"text": "one moment"}, {"wait_for": str(ground / "never")}]]}]
    async with running(backend(ground, script)) as it:
        await ready(it)
        await it.enter("slow")
        await it.until(lambda: "one moment" in it.transcript)
        await it.enter("next")
        await it.pilot.press("escape")
        await it.until(lambda: "The run was cancelled." in it.transcript)
        assert [entry.text for entry in it.view.queue] == ["next"]


async def test_conversation_begins_anew_with_the_skills_as_they_are(ground: Path) -> None:
    async with running(backend(ground)) as it:
        await ready(it)
        write_skill(ground / "skills", "fresh", description="About fresh.")
        await it.enter("/reload-skills")
        await it.until(lambda: "added: fresh" in it.transcript)
        before = it.view.session_id
        await it.enter("/new")
        await it.until(lambda: it.view.session_id not in {"", before} and it.view.knows_commands)
        assert not any(skill.is_untold for skill in it.view.inventory.listing.skills)


async def test_killed_server_is_explained_and_started_again(ground: Path) -> None:
    script = [{"when": "slow", "turns": [[{"wait_for": str(ground / "never")}]]}]
    given = backend(ground, script)
    async with running(given) as it:
        await ready(it)
        await it.enter("slow")
        await it.until(lambda: bool(it.view.run_id))
        await it.type("my draft")
        server = given._server
        assert server is not None
        os.kill(server.pid, signal.SIGKILL)
        await it.until(lambda: it.view.link is Link.GONE)
        assert "it was ended by signal 9" in it.transcript
        assert it.prompt.text == "my draft"
        await it.pilot.press("ctrl+r")
        await ready(it)
        await it.pilot.press("enter")
        await it.until(lambda: "my draft" in "".join(requests(ground)))


async def test_server_that_stands_still_holds_no_key_up_and_the_old_skills_stay_until_it_goes_on(ground: Path) -> None:
    given = backend(ground)
    async with running(given) as it:
        await ready(it)
        server = given._server
        assert server is not None
        write_skill(ground / "skills", "fresh", description="About fresh.")
        os.kill(server.pid, signal.SIGSTOP)
        try:
            await it.enter("/reload-skills")
            await it.type("my draft")
            assert (it.prompt.text, it.view.reload) == ("my draft", ReloadStep.SENT)
            await it.enter("")
            assert [entry.text for entry in it.view.queue] == ["my draft"]
            await it.type("/sto")
            assert it.lit == "story"
            assert "Reloaded" not in it.transcript
        finally:
            os.kill(server.pid, signal.SIGCONT)
        await it.until(lambda: "added: fresh" in it.transcript)
        await it.until(lambda: "my draft" in "".join(requests(ground)))
        assert it.prompt.text == "/sto"


async def test_app_connects_to_a_running_server(ground: Path) -> None:
    flags = ("--skills-dir", str(ground / "skills"), "--no-conventional-skills")
    server = EmbeddedServer.start(ServerFlags(ground / "project", flags))
    try:
        async with running(RemoteBackend(server.wait_ready())) as it:
            await ready(it)
            server.stop()
            await it.enter("hello")
            await it.until(lambda: it.view.link is Link.GONE)
            assert it.prompt.text == "hello"
    finally:
        server.stop()


async def test_address_without_a_server_is_explained() -> None:
    async with running(RemoteBackend("unix:/nowhere/s")) as it:
        await it.until(lambda: it.view.link is Link.GONE)
        await it.enter("/help")
        await it.until(lambda: "Commands" in screen_text(it.app))
