import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from client.contract.events import (
    Event,
    MessageDelta,
    Phase,
    RunEnded,
    RunResult,
    SkillsReloaded,
    Stop,
    TurnStart,
    UnknownEvent,
    Watched,
)
from client.errors import ClientError, Outage, ProtocolError, ServerUnreachable, StreamBroken
from client.http_client import HttpClient
from client.transport import MAX_BYTES, Timeouts
from tests.support.stand_in import raw_server

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = RunEnded(seq=9, result=RunResult(stop=Stop.END_TURN, text="grüße"))


def line(event: Event | Watched) -> bytes:
    return b"data: " + event.to_json() + b"\n\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


@asynccontextmanager
async def streaming(folder: Path, parts: Sequence[bytes], *, whole: bool = True) -> AsyncIterator[HttpClient]:
    """A client of a server that answers with these parts, each its own write; cut off unless `whole`."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for part in parts:
            writer.write(chunk(part))
            await writer.drain()
            await asyncio.sleep(0)
        if whole:
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async with raw_server(folder / "s", talk) as address, HttpClient.connect(address) as client:
        yield client


async def events_of(client: HttpClient) -> list[Event]:
    async with aclosing(client.prompt("s1", "hello")) as events:
        return [event async for event in events]


async def test_prompt_gives_each_event_and_ends_with_the_result(tmp_path: Path) -> None:
    events = [TurnStart(seq=1, turn=1), MessageDelta(seq=2, text="a\nb\u2028c"), END]
    async with streaming(tmp_path, [line(event) for event in events]) as client:
        assert await events_of(client) == events


async def test_prompt_passes_over_comments_and_fields_of_no_use(tmp_path: Path) -> None:
    noise = [b": ping\n\n", b"retry: 10\n\n", b"id: 7\n\n", b"event: message\n" + line(TurnStart(seq=1)), b"data\n\n"]
    async with streaming(tmp_path, [*noise, line(END)]) as client:
        assert await events_of(client) == [TurnStart(seq=1), END]


async def test_prompt_gives_an_event_of_a_newer_server_as_unknown(tmp_path: Path) -> None:
    new = b'data: {"type":"moon.phase","seq":3,"phase":{"full":true}}\n\n'
    more = b'data: {"type":"turn.start","seq":4,"colour":"red"}\n\n'
    async with streaming(tmp_path, [new, more, line(END)]) as client:
        assert await events_of(client) == [UnknownEvent(type="moon.phase", seq=3), TurnStart(seq=4), END]


async def test_prompt_is_broken_when_the_stream_ends_without_a_result(tmp_path: Path) -> None:
    async with streaming(tmp_path, [line(TurnStart(seq=1))]) as client:
        with pytest.raises(StreamBroken, match="before the run did") as caught:
            await events_of(client)
    assert caught.value.code == ""


@pytest.mark.parametrize(
    ("data", "code", "error"),
    [
        (b'{"code":"internal","error":"bad\\u001b[2J thing"}', "internal", "bad [2J thing"),
        (b"not json", "", ""),
        (b"", "", ""),
    ],
)
async def test_prompt_is_broken_by_a_fault_of_the_stream(tmp_path: Path, data: bytes, code: str, error: str) -> None:
    async with streaming(tmp_path, [line(TurnStart(seq=1)), b"event: error\ndata: " + data + b"\n\n"]) as client:
        with pytest.raises(StreamBroken) as caught:
            await events_of(client)
    assert (caught.value.code, caught.value.error) == (code, error)


@pytest.mark.parametrize(
    "data", [b"{", b"7", b'{"type":"turn.start","seq":"x"}', b'{"type":"message.delta","text":"\xff']
)
async def test_prompt_raises_when_a_message_is_no_event(tmp_path: Path, data: bytes) -> None:
    async with streaming(tmp_path, [b"data: " + data + b"\n\n", line(END)]) as client:
        with pytest.raises(ProtocolError, match="not understood"):
            await events_of(client)


async def test_prompt_says_so_when_the_server_dies_in_mid_stream(tmp_path: Path) -> None:
    async with streaming(tmp_path, [line(TurnStart(seq=1)), b"data: {"], whole=False) as client:
        events = client.prompt("s1", "hello")
        assert await anext(events) == TurnStart(seq=1)
        with pytest.raises(ServerUnreachable) as caught:
            await anext(events)
    assert caught.value.outage is Outage.LOST


async def test_prompt_says_so_when_the_answer_is_no_stream(tmp_path: Path) -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()

    async with raw_server(tmp_path / "s", talk) as address, HttpClient.connect(address) as client:
        with pytest.raises(ProtocolError, match="no event stream"):
            await events_of(client)


async def test_prompt_waits_longer_than_for_an_answer_once_the_stream_began(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        await writer.drain()
        await go.wait()
        writer.write(chunk(line(END)))
        await writer.drain()

    hasty = Timeouts(connect=5, answer=0.05)
    async with raw_server(tmp_path / "s", talk) as address, HttpClient.connect(address, timeouts=hasty) as client:
        asyncio.get_running_loop().call_later(0.3, go.set)
        assert await events_of(client) == [END]


async def test_prompt_lets_go_of_the_connection_when_the_reader_stops(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + chunk(line(TurnStart(seq=1))))
        await reader.read()
        gone.set()

    async with raw_server(tmp_path / "s", talk) as address, HttpClient.connect(address) as client:
        async with aclosing(client.prompt("s1", "hello")) as events:
            assert await anext(events) == TurnStart(seq=1)
        await asyncio.wait_for(gone.wait(), 5)


async def test_prompt_stops_at_once_when_cancelled(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        begun.set()
        await reader.read()

    async with raw_server(tmp_path / "s", talk) as address, HttpClient.connect(address) as client:
        task = asyncio.create_task(events_of(client))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_prompt_stops_reading_a_line_without_an_end(tmp_path: Path) -> None:
    parts = [b"data: ", *[b"x" * 2**20] * (MAX_BYTES // 2**20 + 2)]
    async with streaming(tmp_path, parts) as client:
        with pytest.raises(ProtocolError, match="64 MiB"):
            await events_of(client)


async def test_watch_gives_cursors_phases_and_gaps_until_the_server_ends(tmp_path: Path) -> None:
    watched = [
        Watched(cursor="5", phase=Phase.GAP),
        Watched(event=TurnStart(seq=6), cursor="6", phase=Phase.REPLAY),
        Watched(event=SkillsReloaded(generation=2), cursor="6", phase=Phase.LIVE),
        Watched(event=UnknownEvent(type="moon"), cursor="7", phase=Phase.LIVE),
    ]
    async with streaming(tmp_path, [b": ping\n\n", *map(line, watched)]) as client:
        assert [one async for one in client.watch("s1", "4")] == watched


async def test_watch_is_broken_by_a_fault_of_the_stream(tmp_path: Path) -> None:
    async with streaming(tmp_path, [b'event: error\ndata: {"code":"draining","error":"bye"}\n\n']) as client:
        with pytest.raises(StreamBroken, match="bye"):
            await anext(client.watch("s1"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(max_size=20), max_size=5),
    cuts=st.lists(st.integers(0, 600), max_size=12),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
async def test_prompt_gives_the_same_events_wherever_the_bytes_are_cut(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cuts: list[int], newline: bytes
) -> None:
    events: list[Event] = [*(MessageDelta(seq=i, text=text) for i, text in enumerate(texts, 1)), END]
    data = b"".join(b": ping\n\n" + line(event) for event in events).replace(b"\n", newline)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    parts = [data[a:b] for a, b in pairwise(edges)]
    async with streaming(tmp_path_factory.mktemp("cut"), parts) as client:
        assert await events_of(client) == events


def test_every_error_of_the_client_is_a_client_error() -> None:
    assert all(issubclass(kind, ClientError) for kind in (ProtocolError, ServerUnreachable, StreamBroken))
