"""A prompt: its events in order, its end always told, one run at a time, and no reader needed."""

import asyncio
import json
import threading
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import pytest

from client.contract.events import MessageDelta, RunEnded, SessionInit, Stop
from client.contract.sessions import SessionState
from client.errors import StreamBroken
from server_stub.config import Limits
from tests.support.local import DEADLINE, Local, connected, opened, until
from tests.support.refusals import refusal_of
from tests.support.script import ask, call, fail, rule, say, think, wait_for


async def test_the_wire_of_a_run(tmp_path: Path) -> None:
    told = rule("go", [think("hm"), say("one two", chunk=4), call("Skill", name="alpha")], [say("done")])
    async with opened(tmp_path, rules=[told], skills={"alpha": "V1"}) as server:
        a = await server.session()
        answer = await server.http.post(f"/v1/sessions/{a}/prompt", json={"text": "go"})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.text.endswith("\n\n")
        lines = answer.text.removesuffix("\n\n").split("\n\n")
        assert all(line.startswith("data: {") and "\n" not in line for line in lines)
        events = [json.loads(line.removeprefix("data: ")) for line in lines]
        assert [event["type"] for event in events] == [
            "session.init",
            "session.title",
            "turn.start",
            "reasoning.delta",
            "message.delta",
            "message.delta",
            "turn.end",
            "tool.call",
            "tool.result",
            "turn.start",
            "message.delta",
            "turn.end",
            "result",
        ]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert [event.get("turn", 0) for event in events] == [0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2]
        init, call_told, returned, result = events[0], events[7], events[8], events[-1]["result"]
        assert init["session_id"] == a
        assert len(init["run_id"]) == 16
        assert call_told["tool_call"]["name"] == "Skill"
        assert call_told["tool_call"]["args"] == {"name": "alpha"}
        assert returned["tool_result"]["call_id"] == call_told["tool_call"]["id"]
        assert (result["stop"], result["text"]) == ("end_turn", "done")
        spent = [event["usage"] for event in events if event["type"] == "turn.end"]
        assert result["usage"]["output_tokens"] == sum(usage["output_tokens"] for usage in spent)


async def test_seq_begins_anew_with_each_run_and_the_title_comes_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        runs = [await server.run(a, "  hello\n there ") for _ in range(2)]
        for events in runs:
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [event.title for events in runs for event in events if event.type == "session.title"] == ["hello there"]
        inits = [events[0] for events in runs]
        assert isinstance(inits[0], SessionInit)
        assert isinstance(inits[1], SessionInit)
        assert inits[0].run_id != inits[1].run_id


@pytest.mark.parametrize(
    ("text", "stop", "state", "error"),
    [
        ("well", Stop.END_TURN, SessionState.COMPLETED, ""),
        ("fail", Stop.ERROR, SessionState.FAILED, "the provider said no"),
        ("loop", Stop.MAX_TURNS, SessionState.COMPLETED, ""),
    ],
)
async def test_the_last_event_is_the_result_however_a_run_ends(
    tmp_path: Path, text: str, stop: Stop, state: SessionState, error: str
) -> None:
    again = [call("Skill", name="alpha")]
    rules = [rule("well", [say("fine")]), rule("fail", [fail("the provider said no")]), rule("loop", *[again] * 9)]
    async with opened(tmp_path, rules=rules, limits=Limits(turns=3), skills={"alpha": "V1"}) as server:
        a = await server.session()
        events = await server.run(a, text)
        assert [isinstance(event, RunEnded) for event in events] == [False] * (len(events) - 1) + [True]
        last = events[-1]
        assert isinstance(last, RunEnded)
        assert (last.result.stop, last.result.error) == (stop, error)
        assert (await server.client.session(a)).state is state
        assert (await server.client.transcript(a)).complete


async def test_the_events_of_a_run_are_all_told_before_its_session_is_free(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        for _ in range(5):
            last = (await server.run(a, "hello"))[-1]
            assert isinstance(last, RunEnded), "the next prompt is admitted as soon as the result is read"


async def test_a_prompt_is_refused_while_a_run_is_active(tmp_path: Path) -> None:
    rules = [rule("slow", [say("x"), wait_for(tmp_path / "go"), say("y")]), rule("careful", [ask("a")], [say("z")])]
    async with opened(tmp_path, rules=rules) as server:
        for text, reason, has_ask in (("slow", "session_running", False), ("careful", "session_awaiting", True)):
            a = await server.session()
            async with aclosing(server.client.prompt(a, text)) as events:
                init = await anext(events)
                assert isinstance(init, SessionInit)
                await until(lambda of=a, to=reason: f"session_{server.inside(of).state}" == to)
                before = await server.everything(a)
                refusal = refusal_of(await server.http.post(f"/v1/sessions/{a}/prompt", json={"text": "me too"}))
                assert (refusal.status, refusal.code, refusal.reason) == (412, "failed_precondition", reason)
                assert refusal.run_id == init.run_id
                assert bool(refusal.ask_id) is has_ask
                assert await server.everything(a) == before
                await server.client.cancel(a)
                assert "me too" not in (await server.http.get(f"/v1/sessions/{a}/transcript")).text


async def test_of_many_prompts_at_once_one_runs(tmp_path: Path) -> None:
    async with opened(tmp_path, rules=[rule("", [wait_for(tmp_path / "go"), say("y")])]) as server:
        a = await server.session()
        path = f"/v1/sessions/{a}/prompt"
        sent = [asyncio.create_task(server.http.post(path, json={"text": f"number {n}"})) for n in range(8)]
        await until(lambda: sum(task.done() for task in sent) == 7)
        refused = [task.result() for task in sent if task.done()]
        assert {refusal_of(answer).reason for answer in refused} == {"session_running"}
        (tmp_path / "go").touch()
        (won,) = [answer for answer in await asyncio.gather(*sent) if answer.status_code == 200]
        assert won.text.count('"type":"result"') == 1
        assert len((await server.client.transcript(a)).messages) == 2


async def test_a_prompt_on_a_slow_disk_holds_up_its_own_session_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, skills={"alpha": "V1"}) as server:
        a, b = await server.session(), await server.session()
        go = threading.Event()
        is_read = server.slow_disk(a, go)
        prompt = asyncio.create_task(server.run(a, "/alpha"))
        try:
            await until(is_read.is_set)
            assert isinstance((await server.run(b, "/alpha"))[-1], RunEnded)
            assert not prompt.done()
        finally:
            go.set()
        assert isinstance((await prompt)[-1], RunEnded)
        assert server.inside(a).messages[0] == server.inside(b).messages[0]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2003"])
async def test_a_prompt_without_text_begins_nothing(tmp_path: Path, text: str) -> None:
    async with opened(tmp_path) as server:
        a = await server.session()
        before = await server.everything(a)
        refusal = refusal_of(await server.http.post(f"/v1/sessions/{a}/prompt", json={"text": text}))
        assert (refusal.status, refusal.code) == (400, "invalid_argument")
        assert await server.everything(a) == before


async def test_a_reader_who_goes_away_does_not_end_the_run(tmp_path: Path) -> None:
    rules = [rule("slow", [say("begun"), wait_for(tmp_path / "go"), say("ended")])]
    async with opened(tmp_path, rules=rules) as server:
        a = await server.session()
        async with aclosing(server.client.prompt(a, "slow")) as events:
            async for event in events:
                if isinstance(event, MessageDelta):
                    break
        log = server.inside(a).log
        await until(lambda: not log._followers)
        assert (await server.client.session(a)).state is SessionState.RUNNING
        (tmp_path / "go").touch()
        async with aclosing(server.client.watch(a)) as watched:
            seen = []
            async for one in watched:
                seen.append(one.event)
                if isinstance(one.event, RunEnded):
                    assert one.event.result.stop is Stop.END_TURN
                    break
        assert [one.text for one in seen if isinstance(one, MessageDelta)] == ["begun", "ended"]
        assert all(before.seq < after.seq for before, after in pairwise(one for one in seen if one))


async def test_a_reader_slower_than_the_log_gets_the_result_all_the_same(tmp_path: Path) -> None:
    rules = [rule("much", [say("x" * 2_000_000, chunk=100_000)])]
    async with opened(tmp_path, rules=rules, limits=Limits(log_entries=4)) as server:
        a = await server.session()
        text = await _read_late(server, a, then=[])
        assert text.count('"type":"result"') == 1
        assert text.count("message.delta") < 20


async def test_a_reader_who_missed_the_result_is_not_left_waiting(tmp_path: Path) -> None:
    rules = [rule("much", [say("x" * 2_000_000, chunk=100_000)]), rule("next", [say("secret", chunk=1)])]
    async with opened(tmp_path, rules=rules, limits=Limits(log_entries=4)) as server:
        a = await server.session()
        text = await _read_late(server, a, then=["next"])
        assert '"type":"result"' not in text
        assert '"text":"s"' not in text
        assert '"text":"secret"' not in text


async def _read_late(server: Local, session_id: str, then: list[str]) -> str:
    """What a prompt's reader gets who begins to read when the run, and all that follows it, is over."""
    body = b'{"text":"much"}'
    reader, writer = await connected(server.address)
    try:
        start = f"POST /v1/sessions/{session_id}/prompt HTTP/1.1".encode()
        headers = b"Host: localhost\r\nConnection: close\r\nContent-Length: %d" % len(body)
        writer.write(start + b"\r\n" + headers + b"\r\n\r\n" + body)
        session = server.inside(session_id)
        await until(lambda: bool(session.messages) and session.run is None)
        for text in then:
            await server.run(session_id, text)
        async with asyncio.timeout(DEADLINE):
            return (await reader.read()).decode()
    finally:
        writer.close()


async def test_our_client_is_told_that_it_missed_the_end(tmp_path: Path) -> None:
    rules = [rule("much", [say("x" * 8_000_000, chunk=100_000)]), rule("next", [say("more", chunk=1)])]
    async with opened(tmp_path, rules=rules, limits=Limits(log_entries=4)) as server:
        a = await server.session()
        session = server.inside(a)
        async with aclosing(server.client.prompt(a, "much")) as events:
            await anext(events)
            await until(lambda: session.run is None)
            await server.run(a, "next")
            with pytest.raises(StreamBroken):
                async for _ in events:
                    pass
