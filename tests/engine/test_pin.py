"""The pin: the tools bytes of a session are compared before each request, and a request with others is not sent."""

from pathlib import Path

import pytest

from client.contract.events import RunEnded, Stop
from client.http_client import HttpClient
from server_stub.engine.engine import Catalog, Engine
from server_stub.engine.events import TurnStarted
from server_stub.engine.models.model import TextPart
from server_stub.engine.pin import Pin
from server_stub.engine.tool_spec import ToolArray, ToolSpec
from server_stub.errors import PinViolated
from tests.engine.parts import Doing, Playing, Talk, skill, snapshot
from tests.support.running import running
from tests.support.script import rule, say, write_script
from tests.support.session import Session
from tests.support.skills import write_skill

DRIFTS = """
import sys
from dataclasses import replace
from pathlib import Path

drifts = Path(sys.argv.pop(1))
from server_stub.engine.engine import Engine
request = Engine.request

def drifting(self, *arguments):
    made = request(self, *arguments)
    return replace(made, tools=made.tools.replace(b"Load", b"load", 1)) if drifts.exists() else made

Engine.request = drifting
from server_stub.__main__ import main
sys.exit(main())
"""
"""The server with an engine whose requests carry one other byte while the file of the first argument exists."""


def array(description: str = "d") -> ToolArray:
    return ToolArray((ToolSpec.of("Do", description, {}),))


def test_same_bytes_pass_in_each_dialect() -> None:
    pin = Pin(array(), {})
    for _ in range(2):
        pin.check("one", array(), b"[1]")
        pin.check("other", array(), b"[2]")


@pytest.mark.parametrize("sent", [b"[1] ", b"[2]", b"", b"[1"])
def test_one_other_byte_is_caught_and_changes_nothing(sent: bytes) -> None:
    pin = Pin(array(), {})
    pin.check("one", array(), b"[1]")
    with pytest.raises(PinViolated, match="the request was not sent"):
        pin.check("one", array(), sent)
    pin.check("one", array(), b"[1]")


def test_other_array_is_caught_before_anything_was_sent() -> None:
    pin = Pin(array(), {})
    with pytest.raises(PinViolated):
        pin.check("one", array("D"), b"[1]")
    pin.check("one", array(), b"[2]")


def test_pin_keeps_its_own_list_of_what_was_told() -> None:
    told = {"a": "A"}
    pin = Pin(array(), told)
    told["b"] = "B"
    assert pin.advertised == {"a": "A"}


async def test_engine_with_other_tools_sends_nothing() -> None:
    talk = Talk(model := Playing([TextPart("a")]), Doing(), skills=snapshot(skill("a")))
    (do, told) = talk.engine.catalog.tools
    drifted = Doing(spec=ToolSpec.of("Do", "Does it!", {"type": "object"}))
    for tools in ((drifted, told), (told, do), (do,), ()):
        talk.engine = Engine(model, Catalog(tools), "system", talk.engine.snapshot, talk.engine.expansions)
        with pytest.raises(PinViolated):
            await talk.run()
    assert model.requests == []
    assert not [event for event in talk.events if isinstance(event, TurnStarted)]
    talk.engine = Engine(model, Catalog((do, told)), "system", talk.engine.snapshot, talk.engine.expansions)
    await talk.run()
    assert len(model.requests) == 1


async def test_run_of_an_engine_that_drifts_fails_and_the_session_goes_on(tmp_path: Path) -> None:
    drifts, record = tmp_path / "drifts", tmp_path / "record.jsonl"
    write_skill(tmp_path / "skills", "alpha")
    script = write_script(tmp_path / "script.json", rule("", [say("answered")]))
    flags = ["--embedded", "--uds", str(tmp_path / "s"), "--skills-dir", str(tmp_path / "skills")]
    flags += ["--mock-script", str(script), "--mock-record", str(record)]
    with running(tmp_path, *flags, program=["-c", DRIFTS, str(drifts)]) as server:
        async with HttpClient.connect(server.ready()["address"]) as client:
            session = await Session.begin(client, record)
            assert (await session.send("first")).result.text == "answered"
            drifts.touch()
            refused = await session.send("second")
            assert isinstance(refused, RunEnded)
            assert (refused.result.stop, refused.result.text) == (Stop.ERROR, "")
            assert "the request was not sent" in refused.result.error
            assert len(session.shown) == 1
            assert (await client.session(session.session_id)).state == "failed"
            drifts.unlink()
            assert (await session.send("third")).result.text == "answered"
            first, third = session.shown
            assert first.tools == third.tools
            assert [message["content"] for message in third.messages] == ["first", "answered", "second", "third"]
            assert len((await client.model_view(session.session_id)).requests) == 2
