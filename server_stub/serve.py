"""Serves an application on its socket until it is told to stop."""

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from server_stub.build import Built
from server_stub.cli import UsageError
from server_stub.config import Listen, ServerConfig

_STOP_SECONDS = 3
_BACKLOG = 512
_PRIVATE_FILE = 0o600


class Server(uvicorn.Server):
    """A uvicorn server that says when it listens, and drains the service before it stops."""

    def __init__(self, config: uvicorn.Config, built: Built, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._built = built
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the runs, so that their streams end, then close the connections."""
        await self._built.service.drain()
        await super().shutdown(sockets)


def serve(config: ServerConfig, built: Built) -> None:
    """Serve until a signal, or in an embedded server until standard input ends.

    Raises:
        UsageError: the socket or port cannot be had.
    """
    listener = _listener(config.listen)
    address = _address(config.listen, listener)
    uvicorn_config = uvicorn.Config(
        built.app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    server = Server(uvicorn_config, built, lambda: _say_ready(address))
    if config.embedded:
        _end_with_standard_input(server)
    try:
        with asyncio.Runner(loop_factory=uvicorn_config.get_loop_factory()) as runner:
            runner.run(server.serve([listener]))
    finally:
        if config.listen.uds is not None:
            config.listen.uds.unlink(missing_ok=True)


def _listener(listen: Listen) -> socket.socket:
    try:
        if listen.uds is not None:
            return _private_socket(listen.uds)
        family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((listen.host, listen.port))
    except OSError as taken:
        place = listen.uds or f"{listen.host}:{listen.port}"
        raise UsageError(f"cannot listen on {place}: {taken.strerror or taken}") from taken
    listener.listen(_BACKLOG)
    return listener


def _private_socket(path: Path) -> socket.socket:
    """Bind with permissions that are right from the first moment on, over a socket that nobody serves any more."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if path.is_socket() and not _answers(path):
        path.unlink()
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    path.chmod(_PRIVATE_FILE)
    listener.listen(_BACKLOG)
    return listener


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def _address(listen: Listen, listener: socket.socket) -> str:
    if listen.uds is not None:
        return f"unix:{listen.uds}"
    port = listener.getsockname()[1]
    host = f"[{listen.host}]" if ":" in listen.host else listen.host
    return f"http://{host}:{port}"


def _say_ready(address: str) -> None:
    """One line of JSON; nothing else is ever written to standard output."""
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps({"ready": True, "address": address}) + "\n")
        sys.stdout.flush()


def _end_with_standard_input(server: uvicorn.Server) -> None:
    """Stop when the app that started this process is gone, however it went."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        server.should_exit = True

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
