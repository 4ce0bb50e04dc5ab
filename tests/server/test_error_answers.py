"""Error answers: one form for all of them, a fixed code and status each, and nothing of the server's inside."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from client.contract.errors import ErrorCode
from server_stub import errors
from server_stub.api.answers import stream
from server_stub.api.failures import TABLE
from tests.support.local import Local, listening, opened
from tests.support.refusals import kind_of, refusal_of

BODIES = {
    "prompt": b'{"text":"hi"}',
    "approve": b'{"ask_id":"a","verdict":2}',
    "rename": b'{"title":"t"}',
    "mode": b'{"mode":2}',
    "expand": b'{"text":"/a"}',
}
POSTS = [*BODIES, "cancel", "clear", "delete", "skills-reload"]
GETS = ["", "/transcript", "/watch", "/expansions", "/model-view", "/skills/alpha"]
ODD_IDS = [
    "0" * 32,
    "x" * 50_000,
    "%00",
    "%ff%fe",
    "a%20b",
    "%e2%80%ae",
    "%27%3B--",
    "..%5c..",
    "*",
    "Ünï",
    "\U0001f600",
]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Local]:
    async with opened(tmp_path, skills={"alpha": "V1"}) as opened_server:
        yield opened_server


@pytest.mark.parametrize("session_id", ODD_IDS, ids=lambda text: ascii(text[:12]))
async def test_a_session_that_is_not_there_is_not_found_on_every_route(server: Local, session_id: str) -> None:
    base = f"/v1/sessions/{session_id}"
    answers = [await server.http.post(f"{base}/{verb}", content=BODIES.get(verb, b"")) for verb in POSTS]
    answers += [await server.http.get(base + rest) for rest in GETS]
    answers.append(await server.http.delete(base))
    answers += [await server.http.get(f"/v1/{what}?session_id={session_id}") for what in ("commands", "skills")]
    assert {kind_of(answer) for answer in answers} == {(404, "session_not_found")}
    assert len({answer.content for answer in answers}) == 1


async def test_the_session_is_looked_for_before_the_body_is_read(server: Local) -> None:
    for verb in [*BODIES, "skills-reload"]:
        answer = await server.http.post(f"/v1/sessions/{'0' * 32}/{verb}", content=b'{"nonsense":')
        assert kind_of(answer) == (404, "session_not_found")


async def test_a_session_of_another_owner_is_the_same_bytes_as_an_absent_one(server: Local) -> None:
    session_id = await server.session()
    server.inside(session_id).owner = "somebody else"
    for method, rest in [("POST", "/skills-reload"), ("POST", "/clear"), ("GET", ""), ("DELETE", "")]:
        foreign = await server.http.request(method, f"/v1/sessions/{session_id}{rest}")
        absent = await server.http.request(method, f"/v1/sessions/{'0' * 32}{rest}")
        assert kind_of(foreign) == (404, "session_not_found")
        assert foreign.content == absent.content
    assert (await server.client.sessions()).total_count == 0
    assert server.inside(session_id)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/",
        "/v2/info",
        "/V1/info",
        "/v1/sessions/",
        "/v1/info/",
        "//v1/info",
        "/v1/sessions/a/nothing",
        "/v1/sessions/a%2Fb",
        "/v1/sessions/a/skills/b%2Fc",
        "/v1/../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/docs",
        "/openapi.json",
    ],
)
async def test_an_unknown_route_is_not_found_and_redirects_nowhere(server: Local, path: str) -> None:
    assert kind_of(await server.http.get(path)) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/sessions", {"GET", "HEAD", "POST"}),
        ("OPTIONS", "/v1/info", {"GET", "HEAD"}),
        ("PATCH", "/v1/sessions/a", {"GET", "HEAD", "DELETE"}),
        ("GET", "/v1/sessions/a/skills-reload", {"POST"}),
        ("GET", "/v1/sessions/a/prompt", {"POST"}),
        ("POST", "/v1/skills", {"GET", "HEAD"}),
        ("DELETE", "/v1/sessions/a/watch", {"GET", "HEAD"}),
        ("BREW", "/v1/info", None),
    ],
)
async def test_a_method_that_a_route_does_not_take(
    server: Local, method: str, path: str, allowed: set[str] | None
) -> None:
    answer = await server.http.request(method, path)
    if allowed is None:  # the HTTP parser's own answer: no such method ever reaches a route
        assert answer.status_code == 400
        return
    assert kind_of(answer) == (405, "invalid_argument")
    assert set(answer.headers["allow"].split(", ")) == allowed


async def test_head_is_get_without_a_body(server: Local) -> None:
    answer = await server.http.head("/v1/info")
    assert (answer.status_code, answer.content) == (200, b"")


async def test_a_fault_of_the_server_tells_nothing_of_its_inside(
    server: Local, caplog: pytest.LogCaptureFixture
) -> None:
    session_id = await server.session()
    server.inside(session_id).title = None  # type: ignore[assignment]
    async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=server.address[5:], verify=False)) as http:
        refusal = refusal_of(await http.get(f"http://localhost/v1/sessions/{session_id}"))
    assert (refusal.status, refusal.code) == (500, "internal")
    assert refusal.error == "the server failed; its log says why"
    assert "AttributeError" in caplog.text


async def test_a_fault_in_a_stream_ends_it_as_an_event(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def failing() -> AsyncIterator[list[bytes]]:
        yield [b'{"type":"turn.start"}']
        raise RuntimeError("secret")

    async def handler(_: Request) -> Response:
        return stream(failing())

    async with (
        listening(Starlette(routes=[Route("/", handler)]), tmp_path / "s") as address,
        httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=address[5:], verify=False)) as http,
    ):
        answer = await http.get("http://localhost/")
    first, fault = answer.text.strip().split("\n\n")
    assert first == 'data: {"type":"turn.start"}'
    kind, data = fault.split("\n")
    assert kind == "event: error"
    told = json.loads(data.removeprefix("data: "))
    assert told == {"code": "internal", "error": "the server failed; its log says why"}
    assert "secret" in caplog.text


def test_every_failure_has_the_code_and_status_of_the_wire() -> None:
    statuses: dict[ErrorCode, int] = {}
    for status, code in TABLE.values():
        assert statuses.setdefault(code, status) == status
    assert statuses == {
        ErrorCode.INVALID_ARGUMENT: 400,
        ErrorCode.SESSION_NOT_FOUND: 404,
        ErrorCode.NOT_FOUND: 404,
        ErrorCode.NO_ACTIVE_RUN: 409,
        ErrorCode.SESSION_LEASED_ELSEWHERE: 409,
        ErrorCode.ASK_NOT_PENDING: 409,
        ErrorCode.FAILED_PRECONDITION: 412,
        ErrorCode.TOO_MANY_SESSION_ENGINES: 429,
        ErrorCode.RESOURCE_EXHAUSTED: 429,
        ErrorCode.INTERNAL: 500,
        ErrorCode.ENGINE_BUILD_FAILED: 500,
        ErrorCode.DRAINING: 503,
        ErrorCode.SKILL_SOURCE_UNAVAILABLE: 503,
    }
    refused = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.Refused)}
    assert refused - {errors.Refused} <= set(TABLE)
