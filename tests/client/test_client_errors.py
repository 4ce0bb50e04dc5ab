import asyncio
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.contract.errors import ErrorBody, ErrorCode, RefusalReason
from client.errors import Outage, ProtocolError, ServerRefused, ServerUnreachable, cleaned, error_from
from client.http_client import HttpClient
from client.transport import MAX_BYTES, Timeouts
from tests.support.stand_in import StandIn, raw_server, serving

HASTY = Timeouts(connect=0.2, answer=0.2, reload=0.4)


@given(st.text())
def test_cleaned_text_is_one_short_printable_line(text: str) -> None:
    line = cleaned(text)
    assert len(line) <= 500
    assert line.isprintable()
    assert line == line.strip()


def test_cleaned_text_marks_its_cut() -> None:
    assert cleaned("x" * 501) == "x" * 499 + "…"
    assert cleaned("x" * 500) == "x" * 500
    assert cleaned(" " * 3000 + "far").endswith("…")


def test_cleaned_text_has_no_terminal_control_or_bidi() -> None:
    assert cleaned("a\x1b[31mred\x07 b\u202egnp\u2028c\td") == "a [31mred b gnp c d"


def test_refusal_has_all_the_server_said() -> None:
    body = ErrorBody(
        error="a run is active",
        code=ErrorCode.FAILED_PRECONDITION,
        reason=RefusalReason.SESSION_AWAITING,
        ask_id="a1",
        run_id="r1",
    )
    refused = error_from(412, body.to_json())
    assert (refused.status, refused.code, refused.reason) == (412, body.code, body.reason)
    assert (refused.error, refused.ask_id, refused.run_id, str(refused)) == (
        "a run is active",
        "a1",
        "r1",
        "a run is active",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"null",
        b"[]",
        b'{"error":7}',
        b"\xff",
        b'{"error":"\\ud800"}',
        b"{}",
        b'{"error":"\\u0007"}',
    ],
)
def test_refusal_falls_back_on_the_status_when_its_body_is_no_error_body(body: bytes) -> None:
    refused = error_from(502, body)
    assert str(refused) == "the server answered 502 Bad Gateway and gave no reason"
    assert refused.code is ErrorCode.UNKNOWN


def test_refusal_reads_a_code_and_a_reason_of_a_newer_server() -> None:
    refused = error_from(499, b'{"error":"no","code":"too_shiny","reason":"moon","more":1}')
    assert (refused.error, refused.code, refused.reason) == ("no", ErrorCode.UNKNOWN, RefusalReason.UNKNOWN)


def test_refusal_names_a_status_without_words() -> None:
    assert "599" in str(error_from(599, b""))


@given(st.binary(), st.integers(400, 599))
def test_refusal_is_readable_whatever_the_body(body: bytes, status: int) -> None:
    assert str(error_from(status, body))


async def test_client_raises_the_refusal_of_the_server(tmp_path: Path) -> None:
    refusal = {"error": "busy\x1b[2J", "code": "failed_precondition", "reason": "session_running", "run_id": "r\n1"}
    server = StandIn(json.dumps(refusal).encode(), status=412)
    async with serving(server.app, tmp_path / "s") as address, HttpClient.connect(address) as client:
        with pytest.raises(ServerRefused) as caught:
            await client.reload_skills("s1")
        with pytest.raises(ServerRefused):
            await anext(client.prompt("s1", "hello"))
    refused = caught.value
    assert (refused.error, refused.reason, refused.run_id) == ("busy [2J", RefusalReason.SESSION_RUNNING, "r 1")


@pytest.mark.parametrize("address", ["unix:{tmp}/absent", "unix:{tmp}/" + "x" * 200, "http://127.0.0.1:1"])
async def test_client_says_so_when_nothing_listens(tmp_path: Path, address: str) -> None:
    async with HttpClient.connect(address.format(tmp=tmp_path)) as client:
        with pytest.raises(ServerUnreachable, match="check that it runs") as caught:
            await client.info()
        with pytest.raises(ServerUnreachable):
            await anext(client.watch("s1"))
    assert caught.value.outage is Outage.NO_CONNECTION


async def test_client_says_so_when_the_socket_is_stale(tmp_path: Path) -> None:
    async with serving(StandIn().app, tmp_path / "s"):
        os.link(tmp_path / "s", tmp_path / "stale")
    async with HttpClient.connect(f"unix:{tmp_path}/stale") as client:
        with pytest.raises(ServerUnreachable) as caught:
            await client.info()
    assert caught.value.outage is Outage.NO_CONNECTION


async def test_client_gives_up_on_a_server_that_is_too_slow(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with raw_server(tmp_path / "s", silent) as address, HttpClient.connect(address, timeouts=HASTY) as client:
        with pytest.raises(ServerUnreachable, match=r"within 0\.2 s") as caught:
            await client.info()
        with pytest.raises(ServerUnreachable, match=r"within 0\.4 s"):
            await client.reload_skills("s1")
        with pytest.raises(ServerUnreachable, match=r"within 0\.2 s"):
            await anext(client.prompt("s1", "hello"))
    assert caught.value.outage is Outage.TIMED_OUT


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
    ],
)
async def test_client_says_so_when_the_server_dies_while_it_answers(tmp_path: Path, sent: bytes) -> None:
    async def dies(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()

    async with raw_server(tmp_path / "s", dies) as address, HttpClient.connect(address) as client:
        with pytest.raises(ServerUnreachable, match="lost") as caught:
            await client.info()
    assert caught.value.outage is Outage.LOST


async def test_client_says_so_when_the_other_end_speaks_no_http(tmp_path: Path) -> None:
    async def other(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        await writer.drain()

    async with raw_server(tmp_path / "s", other) as address, HttpClient.connect(address) as client:
        with pytest.raises(ProtocolError, match="does not speak HTTP"):
            await client.info()


async def test_client_stops_reading_an_endless_answer(tmp_path: Path) -> None:
    async def floods(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (4 * MAX_BYTES))
        for _ in range(4 * MAX_BYTES // 2**20):
            writer.write(b" " * 2**20)
            await writer.drain()

    async with raw_server(tmp_path / "s", floods) as address, HttpClient.connect(address) as client:
        with pytest.raises(ProtocolError, match="64 MiB"):
            await client.info()


async def test_client_refuses_a_compressed_answer(tmp_path: Path) -> None:
    async def compresses(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()

    async with raw_server(tmp_path / "s", compresses) as address, HttpClient.connect(address) as client:
        with pytest.raises(ProtocolError, match="compressed"):
            await client.info()


async def test_client_works_again_when_the_server_came_back(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    async with HttpClient.connect(f"unix:{socket}") as client:
        async with serving(StandIn().app, socket):
            await client.info()
        with pytest.raises(ServerUnreachable):
            await client.info()
        async with serving(StandIn().app, socket):
            await client.info()
