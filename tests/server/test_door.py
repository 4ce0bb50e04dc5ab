"""The door: the host, the token and the size of the body, before any route sees a request."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from server_stub.config import Limits
from tests.support.local import DEADLINE, Local, answer_of, connected, exchange, opened
from tests.support.refusals import Refusal, kind_of, refusal_of

TOKEN = "correct-horse"
AUTH = f"Authorization: Bearer {TOKEN}\r\n".encode()
LIMIT = 1000
NOTHING_THERE = "/v1/sessions/" + "0" * 32


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[Local]:
    async with opened(tmp_path, token=TOKEN, on_port=True, limits=Limits(request_bytes=LIMIT)) as server:
        yield server


def head(server: Local, *lines: bytes, start: bytes = b"GET /v1/info HTTP/1.1") -> bytes:
    host = b"Host: " + server.address.removeprefix("http://").encode()
    return b"\r\n".join([start, host, AUTH.strip(), *lines, b"", b""])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:9", "[::1]", "[::1]:8642"])
async def test_the_hosts_of_this_machine_are_answered(port: Local, host: str) -> None:
    answer = await port.http.get("/v1/info", headers={"host": host})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8642",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example#localhost",
        "localhost@evil.example",
        "localhost:80:80",
        "localhost.",
        "127.0.0.2",
        "[::2]",
        "::1",
        "",
    ],
)
async def test_a_foreign_host_is_refused_whatever_is_asked(port: Local, host: str) -> None:
    for path in ("/v1/info", "/v1/sessions", "/nowhere"):
        refusal = refusal_of(await port.http.get(path, headers={"host": host}))
        assert (refusal.status, refusal.code) == (400, "invalid_argument")
        assert "host name" in refusal.error


async def test_a_request_without_a_host_or_with_two_is_refused(port: Local) -> None:
    none = b"GET /v1/info HTTP/1.0\r\n" + AUTH + b"\r\n"
    two = b"GET /v1/info HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n" + AUTH + b"\r\n"
    for request in (none, two):
        assert Refusal.of(*await exchange(port.address, request)).code == "invalid_argument"


async def test_the_host_of_a_private_socket_is_not_asked_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        assert (await server.http.get("/v1/info", headers={"host": "evil.example"})).status_code == 200


@pytest.mark.parametrize(
    "credential",
    [
        None,
        "",
        "Bearer",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN[0]}",
        "Bearer " + "x" * 10_000,
        "Bearer é\xff".encode("latin-1"),
    ],
    ids=lambda credential: ascii(credential)[:32],
)
async def test_without_the_token_nothing_is_told(port: Local, credential: str | bytes | None) -> None:
    headers = {} if credential is None else {"authorization": credential}
    async with httpx.AsyncClient(base_url=port.address, verify=False) as stranger:
        answers = [
            await stranger.get("/v1/info", headers=headers),
            await stranger.get(f"{NOTHING_THERE}/transcript", headers=headers),
            await stranger.post("/v1/sessions", headers=headers, content=b"{"),
            await stranger.get("/nowhere", headers=headers),
        ]
    assert {kind_of(answer) for answer in answers} == {(401, "unauthenticated")}
    assert len({answer.content for answer in answers}) == 1
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}
    assert TOKEN not in answers[0].text
    assert (await port.client.sessions()).total_count == 0


@pytest.mark.parametrize("credential", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER   {TOKEN}"])
async def test_the_token_opens_the_door(port: Local, credential: str) -> None:
    async with httpx.AsyncClient(base_url=port.address, verify=False) as caller:
        assert (await caller.get("/v1/info", headers={"authorization": credential})).status_code == 200


async def test_two_credentials_are_none(port: Local) -> None:
    request = head(port, b"Authorization: Bearer wrong")
    assert Refusal.of(*await exchange(port.address, request)).code == "unauthenticated"


async def test_a_private_socket_with_a_token_asks_for_it(tmp_path: Path) -> None:
    async with opened(tmp_path, token=TOKEN) as server:
        assert (await server.http.get("/v1/info")).status_code == 200
        assert kind_of(await server.http.get("/v1/info", headers={"authorization": ""})) == (401, "unauthenticated")


async def test_no_page_of_another_origin_is_let_in(port: Local) -> None:
    origin = {"origin": "http://evil.example"}
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    preflight = await port.http.options("/v1/sessions", headers={**origin, **asked, "authorization": ""})
    assert kind_of(preflight) == (401, "unauthenticated")
    answers = [
        preflight,
        await port.http.options("/v1/sessions", headers={**origin, **asked}),
        await port.http.get("/v1/info", headers=origin),
    ]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]


async def test_a_body_of_the_limit_passes_and_one_byte_more_does_not(port: Local) -> None:
    blank = b"{}" + b" " * (LIMIT - 2)
    assert (await port.http.post("/v1/sessions", content=blank)).status_code == 201
    refusal = refusal_of(await port.http.post("/v1/sessions", content=blank + b" "))
    assert (refusal.status, refusal.code) == (413, "request_too_large")
    assert "1,000 bytes" in refusal.error
    assert (await port.client.sessions()).total_count == 1


@pytest.mark.parametrize("path", ["/v1/sessions", "/nowhere", f"{NOTHING_THERE}/skills-reload"])
async def test_a_body_of_unstated_length_is_cut_at_the_limit(port: Local, path: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b" " * (LIMIT // 4)

    assert kind_of(await port.http.post(path, content=pieces())) == (413, "request_too_large")


@pytest.mark.parametrize("stated", [True, False], ids=["stated", "unstated"])
async def test_a_stream_is_not_begun_for_a_body_over_the_limit(port: Local, stated: bool) -> None:
    session_id = await port.session()
    start = f"GET /v1/sessions/{session_id}/watch HTTP/1.1".encode()
    if stated:
        request = head(port, b"Content-Length: 1001", start=start) + b"x" * 1001
    else:
        request = head(port, b"Transfer-Encoding: chunked", start=start) + b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n"
    assert Refusal.of(*await exchange(port.address, request)).code == "request_too_large"


async def test_bytes_beyond_the_stated_length_reach_no_handler(port: Local) -> None:
    reader, writer = await connected(port.address)
    try:
        writer.write(head(port, b"Content-Length: 2", start=b"POST /v1/sessions HTTP/1.1") + b"{}")
        assert (await answer_of(reader))[0] == 201
        writer.write(b'{"profile":"no-fs"}' * 100)
        async with asyncio.timeout(DEADLINE):
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    finally:
        writer.close()
    assert (await port.client.sessions()).total_count == 1


async def test_the_answer_to_a_large_body_does_not_wait_for_it(port: Local) -> None:
    request = head(port, b"Content-Length: 999999999", start=b"POST /v1/sessions HTTP/1.1")
    assert Refusal.of(*await exchange(port.address, request)).status == 413


async def test_a_connection_goes_on_after_a_body_over_the_limit(port: Local) -> None:
    start = b"POST /v1/sessions HTTP/1.1"
    chunk = b"200\r\n" + b"x" * 512 + b"\r\n"
    reader, writer = await connected(port.address)
    try:
        writer.write(head(port, b"Transfer-Encoding: chunked", start=start) + chunk * 3)
        assert Refusal.of(*await answer_of(reader)).code == "request_too_large"
        writer.write(chunk * 100 + b"0\r\n\r\n" + head(port))
        status, _, body = await answer_of(reader)
        assert (status, b"mecatui" in body) == (200, True)
    finally:
        writer.close()


async def test_a_caller_who_goes_in_mid_body_leaves_nothing_behind(
    port: Local, caplog: pytest.LogCaptureFixture
) -> None:
    _, writer = await connected(port.address)
    writer.write(head(port, b"Content-Length: 100", start=b"POST /v1/sessions HTTP/1.1") + b"{}")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    async with asyncio.timeout(DEADLINE):
        assert (await port.client.sessions()).total_count == 0
    assert not caplog.records
