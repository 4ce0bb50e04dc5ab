"""The server's process: what it says when it is ready, what ends it, and how soon."""

import asyncio
import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from client.contract.events import RunEnded, Stop
from client.errors import ClientError
from client.http_client import HttpClient
from mecatui import embedded as embedded_server
from server_stub import serve
from tests.support.running import HUNG, PROGRAM, Running, running
from tests.support.script import rule, say, wait_for, write_script
from tests.support.skills import write_skill

ENDINGS: dict[str, Callable[[Running], None]] = {
    "SIGTERM": lambda server: server.signal(signal.SIGTERM),
    "SIGINT": lambda server: server.signal(signal.SIGINT),
    "the end of standard input": Running.cut_standard_input,
}


def embedded(root: Path, *rules: dict[str, object]) -> list[str]:
    script = write_script(root / "script.json", *rules)
    return ["--embedded", "--uds", str(root / "s"), "--workspace", str(root), "--mock-script", str(script)]


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():  # noqa: ASYNC110 - a process tells of nothing
            await asyncio.sleep(0.01)


def test_ready_line_is_all_that_is_written_on_standard_output(tmp_path: Path) -> None:
    with running(tmp_path, *embedded(tmp_path)) as server:
        line = server.ready_line()
        assert line == json.dumps({"ready": True, "address": f"unix:{tmp_path}/s"}).encode() + b"\n"
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
        server.cut_standard_input()
        assert server.status() == 0
        assert server.rest() == b""
        assert "Traceback" not in server.log
        assert "Warning" not in server.log


async def test_port_is_served_and_told_without_a_standard_input(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-long-random-word\n")
    token.chmod(0o600)
    with running(tmp_path, "--port", "0", "--auth-token-file", str(token)) as server:
        address = server.ready()["address"]
        assert address.startswith("http://127.0.0.1:")
        assert not address.endswith(":0")
        server.cut_standard_input()
        async with HttpClient.connect(address, token="a-long-random-word") as client:
            assert (await client.compatibility()).capabilities.skills_reload
        server.signal(signal.SIGTERM)
        assert server.status() == 0
        assert "chmod" not in server.log


@pytest.mark.parametrize("ending", ENDINGS)
async def test_end_gives_open_streams_their_last_event(tmp_path: Path, ending: str) -> None:
    rules = [rule("slow", [say("one moment"), wait_for(tmp_path / "never")])]
    with running(tmp_path, *embedded(tmp_path, *rules)) as server:
        async with HttpClient.connect(server.ready()["address"]) as client:
            made = await client.create_session()
            async with (
                aclosing(client.prompt(made.session_id, "slow")) as told,
                aclosing(client.watch(made.session_id)) as watched,
            ):
                assert (await anext(told)).type == "session.init"
                assert (await anext(watched)).event
                ENDINGS[ending](server)
                *_, last = [event async for event in told]
                *_, last_watched = [one async for one in watched]
        assert isinstance(last, RunEnded)
        assert last.result.stop is Stop.CANCELLED
        assert last_watched.event == last
        assert server.status() == 0
        assert "Traceback" not in server.log
    assert not (tmp_path / "s").exists()


def test_stream_that_nobody_reads_does_not_hold_the_server(tmp_path: Path) -> None:
    rules = [rule("", [say("x" * 20_000_000, chunk=1_000_000), wait_for(tmp_path / "never")])]
    with running(tmp_path, *embedded(tmp_path, *rules)) as server, socket.socket(socket.AF_UNIX) as reader:
        server.ready()
        reader.connect(str(tmp_path / "s"))
        body = _asked(reader, "/v1/sessions", b"{}")
        path = f"/v1/sessions/{json.loads(body)['session_id']}/prompt"
        _send(reader, path, b'{"text": "go"}')
        assert reader.recv(1000).startswith(b"HTTP/1.1 200")
        server.signal(signal.SIGTERM)
        assert server.status() == 0


async def test_hung_file_system_does_not_hold_the_server(tmp_path: Path) -> None:
    hangs, is_hung = tmp_path / "hangs", tmp_path / "hung"
    write_skill(tmp_path / "skills", "alpha")
    flags = [*embedded(tmp_path), "--skills-dir", str(tmp_path / "skills")]
    with running(tmp_path, *flags, program=["-c", HUNG, str(hangs), str(is_hung)]) as server:
        async with HttpClient.connect(server.ready()["address"]) as client:
            made = await client.create_session()
            hangs.touch()
            detail = asyncio.create_task(client.skill(made.session_id, "alpha"))
            await eventually(is_hung.exists)
            is_hung.unlink()
            reload = asyncio.create_task(client.reload_skills(made.session_id))
            await eventually(is_hung.exists)
            server.cut_standard_input()
            assert await asyncio.to_thread(server.status) == 0
            for request in (detail, reload):
                with pytest.raises(ClientError):
                    await request
    assert not (tmp_path / "s").exists()


async def test_start_on_a_hung_file_system_ends_with_the_app(tmp_path: Path) -> None:
    hangs, is_hung = tmp_path / "hangs", tmp_path / "hung"
    (tmp_path / "skills").mkdir()
    hangs.touch()
    flags = [*embedded(tmp_path), "--skills-dir", str(tmp_path / "skills")]
    with running(tmp_path, *flags, program=["-c", HUNG, str(hangs), str(is_hung)]) as server:
        await eventually(is_hung.exists)
        server.cut_standard_input()
        assert server.status() == 0
        assert server.rest() == b""


def test_server_is_gone_before_the_app_that_embeds_it_insists() -> None:
    assert serve._STOP_SECONDS < serve._LATEST_SECONDS < embedded_server._PATIENCE_SECONDS


def test_embedded_server_needs_a_standard_input(tmp_path: Path) -> None:
    shell = f"exec {sys.executable} -m server_stub --embedded --uds {tmp_path}/s <&-"
    root = Path(__file__).parents[2]
    ended = subprocess.run(["sh", "-c", shell], cwd=root, capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "give it a pipe" in ended.stderr


def test_nobody_has_to_read_the_ready_line(tmp_path: Path) -> None:
    shell = f"exec {sys.executable} -m server_stub --uds {tmp_path}/s >&-"
    with running(tmp_path, program=["-c", f"import os; os.execvp('sh', ['sh', '-c', {shell!r}])"]) as server:
        assert server.rest() == b""
        asyncio.run(eventually((tmp_path / "s").is_socket))
        with socket.socket(socket.AF_UNIX) as reader:
            reader.connect(str(tmp_path / "s"))
            assert b"mecatui" in _asked(reader, "/v1/info", None)
        server.signal(signal.SIGTERM)
        assert server.status() == 0
        assert "Traceback" not in server.log


def test_skills_folder_that_is_not_there_is_a_notice(tmp_path: Path) -> None:
    with (
        running(tmp_path, *embedded(tmp_path), "--skills-dir", "nowhere") as server,
        socket.socket(socket.AF_UNIX) as reader,
    ):
        server.ready()
        reader.connect(str(tmp_path / "s"))
        listing = json.loads(_asked(reader, "/v1/skills", None))
        assert ["nowhere" in notice for notice in listing["notices"]] == [True]


def test_version_is_told_without_loading_the_server(tmp_path: Path) -> None:
    program = ["-X", "importtime", *PROGRAM]
    with running(tmp_path, "--version", program=program) as server:
        assert server.rest().startswith(b"mecatui-server ")
        assert server.status() == 0
        assert not [name for name in ("pydantic", "starlette", "uvicorn", "yaml") if f" {name}\n" in server.log]


def _send(connection: socket.socket, path: str, body: bytes | None) -> None:
    method = "GET" if body is None else "POST"
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body or b'')}\r\n\r\n"
    connection.sendall(head.encode() + (body or b""))


def _asked(connection: socket.socket, path: str, body: bytes | None) -> bytes:
    _send(connection, path, body)
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
        answer += connection.recv(65536)
    return answer.partition(b"\r\n\r\n")[2]
