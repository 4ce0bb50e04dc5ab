import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from client.contract.approvals import Verdict
from client.contract.sessions import CreateSession, PermissionMode, SessionState
from client.errors import AddressRefused, ProtocolError
from client.http_client import HttpClient
from tests.support.stand_in import StandIn, serving

SESSION = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def server() -> StandIn:
    return StandIn()


@pytest.fixture(params=["unix", "tcp"])
async def client(request: pytest.FixtureRequest, server: StandIn, tmp_path: Path) -> AsyncIterator[HttpClient]:
    socket = tmp_path / "s" if request.param == "unix" else None
    async with serving(server.app, socket) as address, HttpClient.connect(address, token="secret") as client:
        yield client


EXPECTED = {
    "compatibility": ("GET", "/v1/compatibility", ""),
    "info": ("GET", "/v1/info", ""),
    "create_session": ("POST", "/v1/sessions", '{"mode":2}'),
    "sessions": ("GET", "/v1/sessions?page_size=7&cursor=c1", ""),
    "session": ("GET", f"/v1/sessions/{SESSION}", ""),
    "transcript": ("GET", f"/v1/sessions/{SESSION}/transcript", ""),
    "rename": ("POST", f"/v1/sessions/{SESSION}/rename", '{"title":"é"}'),
    "clear": ("POST", f"/v1/sessions/{SESSION}/clear", ""),
    "delete": ("POST", f"/v1/sessions/{SESSION}/delete", ""),
    "close_session": ("DELETE", f"/v1/sessions/{SESSION}", ""),
    "set_mode": ("POST", f"/v1/sessions/{SESSION}/mode", '{"mode":3}'),
    "approve": ("POST", f"/v1/sessions/{SESSION}/approve", '{"ask_id":"a1","verdict":2}'),
    "cancel": ("POST", f"/v1/sessions/{SESSION}/cancel", ""),
    "reload_skills": ("POST", f"/v1/sessions/{SESSION}/skills-reload", ""),
    "commands": ("GET", f"/v1/commands?session_id={SESSION}", ""),
    "expansions": ("GET", f"/v1/sessions/{SESSION}/expansions", ""),
    "expand": ("POST", f"/v1/sessions/{SESSION}/expand", '{"text":"/a b"}'),
    "skills": ("GET", f"/v1/skills?session_id={SESSION}", ""),
    "skill": ("GET", f"/v1/sessions/{SESSION}/skills/a%2Fb?generation=previous", ""),
    "model_view": ("GET", f"/v1/sessions/{SESSION}/model-view", ""),
}


async def test_client_asks_each_use_case_as_the_wire_says(client: HttpClient, server: StandIn) -> None:
    await client.compatibility()
    await client.info()
    await client.create_session(CreateSession(mode=PermissionMode.PLAN))
    await client.sessions(7, "c1")
    await client.session(SESSION)
    await client.transcript(SESSION)
    await client.rename(SESSION, "é")
    await client.clear(SESSION)
    await client.delete(SESSION)
    await client.close_session(SESSION)
    await client.set_mode(SESSION, PermissionMode.ACCEPT_EDITS)
    await client.approve(SESSION, "a1", Verdict.ALLOW_ONCE)
    await client.cancel(SESSION)
    await client.reload_skills(SESSION)
    await client.commands(SESSION)
    await client.expansions(SESSION)
    await client.expand(SESSION, "/a b")
    await client.skills(SESSION)
    await client.skill(SESSION, "a/b", "previous")
    await client.model_view(SESSION)

    assert [(asked.method, asked.path, asked.body.decode()) for asked in server.asked] == list(EXPECTED.values())
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer secret"}


async def test_client_has_a_checked_request_for_each_of_its_methods() -> None:
    streams = {"prompt", "watch"}
    offered = {name for name, value in vars(HttpClient).items() if not name.startswith("_") and callable(value)}
    assert offered - streams - {"connect", "aclose"} == set(EXPECTED)


async def test_client_sends_no_query_for_what_was_left_out(client: HttpClient, server: StandIn) -> None:
    await client.skills()
    await client.sessions()
    assert [asked.path for asked in server.asked] == ["/v1/skills", "/v1/sessions?page_size=50"]


@pytest.mark.parametrize(
    ("name", "segment"),
    [
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("../../info", "..%2F..%2Finfo"),
        ("a?b#c%2F", "a%3Fb%23c%252F"),
        ("größe 1", "gr%C3%B6%C3%9Fe%201"),
        ("a\tb\x00", "a%09b%00"),
        ("half\ud800", "half%3F"),
        ("ns:name", "ns%3Aname"),
    ],
)
async def test_skill_name_stays_one_segment_of_the_path(
    client: HttpClient, server: StandIn, name: str, segment: str
) -> None:
    await client.skill(SESSION, name)
    assert server.asked[0].path == f"/v1/sessions/{SESSION}/skills/{segment}?generation=current"


async def test_client_refuses_an_empty_path_parameter() -> None:
    async with HttpClient.connect("unix:/nowhere") as client:
        with pytest.raises(ValueError, match="empty"):
            await client.session("")


async def test_client_reads_fields_numbers_and_words_of_a_newer_server(client: HttpClient, server: StandIn) -> None:
    server.answer = json.dumps({"session_id": "x", "mode": 99, "state": "dreaming", "new": {"a": [1]}}).encode()
    info = await client.session(SESSION)
    assert (info.session_id, info.mode, info.state) == ("x", PermissionMode.UNSPECIFIED, SessionState.UNKNOWN)


async def test_client_reads_a_missing_field_as_its_zero_value(client: HttpClient) -> None:
    assert (await client.session(SESSION)).turns == 0


async def test_client_sends_text_with_half_a_surrogate_pair(client: HttpClient, server: StandIn) -> None:
    await client.expand(SESSION, "a\ud83db")
    assert json.loads(server.asked[0].body) == {"text": "a?b"}


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b'{"turns":"many"}', b"\xff\xfe", b'{"turns":1'])
async def test_answer_is_a_protocol_error_when_it_is_not_the_contracts(
    client: HttpClient, server: StandIn, answer: bytes
) -> None:
    server.answer = answer
    with pytest.raises(ProtocolError, match="SessionInfo"):
        await client.session(SESSION)


@pytest.mark.parametrize("status", [300, 301, 307, 304])
async def test_redirect_is_a_protocol_error(client: HttpClient, server: StandIn, status: int) -> None:
    server.status = status
    with pytest.raises(ProtocolError, match=str(status)):
        await client.info()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:80",
        "ftp://localhost",
        "http://",
        "http://user:pw@localhost",
        "http://localhost:99999",
        "http://localhost:0",
        "http://localhost/?q",
        "http://localhost/#f",
        "http://local host",
        "http://[::1",
        "unix:",
        "unix:relative",
        "unix://host/path",
        "unix:/a\x00b",
        "http://localhost\r\nx: y",
    ],
)
def test_connect_refuses_a_malformed_address(address: str) -> None:
    with pytest.raises(AddressRefused, match="not http"):
        HttpClient.connect(address)


def test_connect_does_not_repeat_a_password_of_an_address() -> None:
    with pytest.raises(AddressRefused) as caught:
        HttpClient.connect("http://user:hunter2@localhost")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org",
        "http://10.0.0.7:8080",
        "http://127.0.0.1.example.org",
        "http://0.0.0.0:1",
        "http://[::]:1",
    ],
)
def test_connect_refuses_clear_text_off_loopback(address: str) -> None:
    with pytest.raises(AddressRefused, match="unencrypted"):
        HttpClient.connect(address, token="secret")


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:1", "http://localhost:1", "http://LOCALHOST."],
)
async def test_connect_allows_clear_text_on_loopback(address: str) -> None:
    async with HttpClient.connect(address, token="secret") as client:
        assert client.address == address


async def test_connect_allows_clear_text_when_asked_for() -> None:
    async with HttpClient.connect("http://example.org", allow_plaintext=True) as client:
        assert client.address == "http://example.org"


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ünï", "nul\x00"])
def test_connect_refuses_a_token_that_no_header_can_carry(token: str) -> None:
    with pytest.raises(AddressRefused, match="token"):
        HttpClient.connect("http://localhost", token=token)


async def test_connect_keeps_the_path_of_a_proxied_address(server: StandIn) -> None:
    async with serving(server.app) as address, HttpClient.connect(f"{address}/behind/") as client:
        await client.info()
    assert server.asked[0].path == "/behind/v1/info"
