"""Serves an application on its socket until it is told to stop."""

import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

import uvicorn
from sse_starlette.sse import AppStatus

from server_stub.build import Built
from server_stub.config import ServerConfig
from server_stub.lifeline import Lifeline
from server_stub.listener import Listener

_STOP_SECONDS = 2
_LATEST_SECONDS = 4.0
"""A stop takes no longer. The app that embeds the server waits a little more before it insists."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """A uvicorn server that says when it listens, drains the service before it stops, and surely ends."""

    def __init__(self, config: uvicorn.Config, built: Built, listener: Listener) -> None:
        super().__init__(config)
        self._built = built
        self._listener = listener
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_told = asyncio.Event()

    async def main_loop(self) -> None:
        """Sleep until told to stop; uvicorn's own loop looks ten times a second whether it was."""
        self._loop = asyncio.get_running_loop()
        await self.on_tick(0)
        if not self.should_exit:
            await self._is_told.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        _say_ready(self._listener.address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the runs, so that their streams end, then close the connections."""
        _end_in(_LATEST_SECONDS, self._listener)
        await self._built.service.drain()
        await super().shutdown(sockets)

    def stop(self) -> None:
        """Ask the server to end; asked again, it waits for no connection. For any thread."""
        self.force_exit = self.should_exit
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(self._is_told.set)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop on SIGINT and SIGTERM and end with status 0; uvicorn would send itself the signal once more."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


def serve(config: ServerConfig, built: Built, lifeline: Lifeline | None) -> None:
    """Serve until a signal, or until the lifeline is cut.

    Raises:
        UsageError: the socket or port cannot be had.
    """
    listener = Listener.bind(config.listen)
    uvicorn_config = uvicorn.Config(
        built.app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,  # written by the ticks that this server does without
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    # The service ends the streams, each after the last event of its run; the library would cut them off before.
    AppStatus.enable_automatic_graceful_drain = False
    server = Server(uvicorn_config, built, listener)
    if lifeline is not None:
        lifeline.when_cut(server.stop)
    try:
        with asyncio.Runner(loop_factory=uvicorn_config.get_loop_factory()) as runner:
            runner.run(server.serve([listener.socket]))
    finally:
        listener.remove()


def _say_ready(address: str) -> None:
    """One line of JSON; nothing else is ever written to standard output. Nobody has to read it."""
    if sys.stdout is not None:
        with suppress(OSError):
            os.write(sys.stdout.fileno(), json.dumps({"ready": True, "address": address}).encode() + b"\n")


def _end_in(seconds: float, listener: Listener) -> None:
    """End the process even when a thread hangs in a file system, which nothing can interrupt."""

    def end() -> None:
        time.sleep(seconds)
        listener.remove()
        os._exit(0)

    threading.Thread(target=end, name="the latest end", daemon=True).start()
