"""Request bodies: read strictly, and a wrong one changes nothing and is told in one plain sentence."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from client.contract.sessions import PermissionMode
from tests.support.local import Local, opened
from tests.support.refusals import refusal_of

RIGHT = {
    "prompt": {"text": "hello"},
    "rename": {"title": "t"},
    "mode": {"mode": 2},
    "approve": {"ask_id": "a", "verdict": 2},
    "expand": {"text": "/alpha"},
}

NOT_AN_OBJECT = [b"null", b"[]", b'"text"', b"7", b"true"]
NOT_JSON = [
    b"{",
    b"{'text':1}",
    b"text=hello",
    b'{"text":"a"} {"text":"b"}',
    b'{"text":"a",}',
    b"\xff\xfe",
    b'{"text":"\xff"}',
    b'{"text":"\\ud800"}',
    b'{"text":"a\nb"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"\x00",
    b" ",
    b'\xef\xbb\xbf{"text":"a"}',
]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Local]:
    async with opened(tmp_path, skills={"alpha": "V1"}) as opened_server:
        yield opened_server


async def refused(server: Local, path: str, body: bytes) -> str:
    """The sentence of a refusal of this body."""
    refusal = refusal_of(await server.http.post(path, content=body))
    assert (refusal.status, refusal.code, refusal.reason) == (400, "invalid_argument", ""), body[:50]
    return refusal.error


@pytest.mark.parametrize("verb", RIGHT)
async def test_what_is_no_object_is_refused(server: Local, verb: str) -> None:
    a = await server.session()
    before = await server.everything(a)
    for body in [*NOT_AN_OBJECT, *NOT_JSON]:
        assert (await refused(server, f"/v1/sessions/{a}/{verb}", body)).startswith("the body: ")
    assert await server.everything(a) == before


@pytest.mark.parametrize("verb", RIGHT)
async def test_the_wrong_field_is_named(server: Local, verb: str) -> None:
    a = await server.session()
    path, right = f"/v1/sessions/{a}/{verb}", RIGHT[verb]
    before = await server.everything(a)
    assert (await refused(server, path, json.dumps({**right, "colour": 1}).encode())).startswith("colour: ")
    for name in right:
        missing = {key: value for key, value in right.items() if key != name}
        assert (await refused(server, path, json.dumps(missing).encode())).startswith(f"{name}: ")
        for wrong in (None, [], {}, 1.5, [right[name]]):
            body = json.dumps({**right, name: wrong}).encode()
            assert (await refused(server, path, body)).startswith(f"{name}: ")
    empty = await server.http.post(path)
    assert refusal_of(empty).code == "invalid_argument"
    assert await server.everything(a) == before


async def test_a_field_with_an_odd_name_is_told_harmlessly(server: Local) -> None:
    body = json.dumps({"\x1b[2J\u202e" + "x" * 5000 + "\n": 1}).encode()
    error = await refused(server, "/v1/sessions", body)
    assert error.isprintable()
    assert len(error) < 400


@pytest.mark.parametrize("mode", [4, -1, 10**30, True, False, "2", "plan", 2.0, None, [], 1e308])
async def test_what_is_no_mode_is_not_taken_for_the_default_one(server: Local, mode: object) -> None:
    body = json.dumps({"mode": mode}).encode()
    a = await server.session()
    await server.client.set_mode(a, PermissionMode.PLAN)
    assert (await refused(server, "/v1/sessions", body)).startswith("mode: ")
    assert (await refused(server, f"/v1/sessions/{a}/mode", body)).startswith("mode: ")
    assert (await server.client.session(a)).mode is PermissionMode.PLAN
    assert (await server.client.sessions()).total_count == 1


@pytest.mark.parametrize(
    ("body", "about"),
    [
        (b'{"profile":"NO-FS"}', "profile"),
        (b'{"profile":"../etc"}', "profile"),
        (b'{"model_id":"gpt"}', "model"),
        (b'{"provider_id":"openai"}', "model"),
        (b'{"model_id":["offline"]}', "model_id: "),
        (b'{"skills_dir":"/etc"}', "skills_dir: "),
        (b'{"session_id":"mine"}', "session_id: "),
    ],
)
async def test_a_session_that_this_server_does_not_offer_is_not_begun(server: Local, body: bytes, about: str) -> None:
    assert about in await refused(server, "/v1/sessions", body)
    assert (await server.client.sessions()).total_count == 0


async def test_the_media_type_is_not_asked_for(server: Local) -> None:
    a = await server.session()
    for media_type in ("application/json", "application/json; charset=utf-8", "text/plain", ""):
        headers = {"content-type": media_type} if media_type else {}
        answer = await server.http.post(f"/v1/sessions/{a}/rename", content=b'{"title":"t"}', headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"


async def test_routes_without_a_request_pass_over_a_body(server: Local) -> None:
    a = await server.session()
    for verb, status in (("cancel", 409), ("clear", 201), ("delete", 204)):
        answer = await server.http.post(f"/v1/sessions/{a}/{verb}", content=b'{"nonsense":')
        assert answer.status_code == status
