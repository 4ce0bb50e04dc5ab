"""Requests and answers over TCP or a UNIX socket: the one place that knows httpx."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import urlencode

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from client.address import Address
from client.errors import AddressRefused, Outage, ProtocolError, ServerUnreachable, error_from

MAX_BYTES = 64 * 1024 * 1024
"""The largest answer, and the largest line of an event stream, that is read."""

# Shorter than any server's, so that a request never meets a connection that is just being closed.
_KEEP_ALIVE_SECONDS = 2.0
_HEADERS = {"accept-encoding": "identity", "user-agent": "mecatui"}
_NO_QUERY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait, in seconds. An event stream may be silent for any time once it has begun."""

    connect: float = 5.0
    answer: float = 15.0
    reload: float = 30.0


class Transport:
    """Carries bytes to and from one server; nothing is sent before the first call.

    Raises:
        AddressRefused: the address is malformed in a way that only shows here.
    """

    def __init__(self, address: Address, *, token: str | None, timeouts: Timeouts) -> None:
        self._address = address
        self._timeouts = timeouts
        headers = _HEADERS if token is None else {**_HEADERS, "authorization": f"Bearer {token}"}
        # Without encryption no certificates are read: loading them takes longer than the rest of a start.
        trust = True if address.encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        transport = httpx.AsyncHTTPTransport(
            uds=address.socket or None, verify=trust, limits=httpx.Limits(keepalive_expiry=_KEEP_ALIVE_SECONDS)
        )
        self._http = httpx.AsyncClient(transport=transport, headers=headers, trust_env=False)
        try:
            self._base = str(httpx.URL(address.url)).rstrip("/")
        except (httpx.InvalidURL, UnicodeError) as error:
            raise AddressRefused(f"the address {str(address)!r} cannot be used") from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        query: Mapping[str, str] = _NO_QUERY,
        wait: float | None = None,
    ) -> bytes:
        """One request and the whole body of its answer; `wait` is the longest silence in seconds."""
        seconds = wait or self._timeouts.answer
        request = self._request(method, path, body, query, silence=seconds)
        with self._failures(seconds):
            response = await self._http.send(request, stream=True)
            try:
                return await _checked(response)
            finally:
                await response.aclose()

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, *, body: bytes | None = None, query: Mapping[str, str] = _NO_QUERY
    ) -> AsyncIterator[AsyncIterator[ServerSentEvent]]:
        """One request and the messages of the event stream that answers it."""
        request = self._request(method, path, body, query, silence=None)
        request.headers["accept"] = "text/event-stream"
        with self._failures(self._timeouts.answer):
            async with asyncio.timeout(self._timeouts.answer):
                response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    await _checked(response)
                _refuse_encoding(response)
                if isinstance(response.stream, httpx.AsyncByteStream):
                    response.stream = _LineCap(response.stream)
                async with aclosing(EventSource(response).aiter_sse()) as messages:
                    yield messages
            finally:
                await response.aclose()

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None,
        query: Mapping[str, str],
        *,
        silence: float | None,
    ) -> httpx.Request:
        waits = self._timeouts
        asked = urlencode({key: value for key, value in query.items() if value})
        # One absolute URL, since httpx takes longer to merge a relative one with its base than to send it.
        return self._http.build_request(
            method,
            httpx.URL(f"{self._base}{path}?{asked}" if asked else f"{self._base}{path}"),
            content=body,
            headers={"content-type": "application/json"} if body else {},
            timeout=httpx.Timeout(connect=waits.connect, read=silence, write=waits.answer, pool=waits.answer),
        )

    @contextmanager
    def _failures(self, seconds: float) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            message = f"no server answers at {self._address}; check that it runs and that the address is right"
            raise ServerUnreachable(message, outage=Outage.NO_CONNECTION) from error
        except (httpx.TimeoutException, TimeoutError) as error:
            message = f"the server did not answer within {seconds:g} s; look at the session before you repeat"
            raise ServerUnreachable(message, outage=Outage.TIMED_OUT) from error
        except httpx.RemoteProtocolError as error:
            if "disconnected" in str(error) or "closed connection" in str(error):
                raise _lost() from error
            raise ProtocolError(f"{self._address} does not speak HTTP as expected; check the address") from error
        except SSEError as error:
            raise ProtocolError("the server answered with no event stream") from error
        except httpx.TransportError as error:
            raise _lost() from error


def _lost() -> ServerUnreachable:
    message = "the connection to the server was lost; what was asked may have been done: connect again and look"
    return ServerUnreachable(message, outage=Outage.LOST)


class _LineCap(httpx.AsyncByteStream):
    """The bytes of an event stream; fails on a line without an end."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        line = 0
        async for chunk in self._stream:
            end = chunk.rfind(b"\n")
            line = line + len(chunk) if end < 0 else len(chunk) - end
            if line > MAX_BYTES:
                raise _too_large()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _checked(response: httpx.Response) -> bytes:
    """The whole body of an answer that is a success."""
    _refuse_encoding(response)
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > MAX_BYTES:
            raise _too_large()
        parts.append(chunk)
    body = b"".join(parts)
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        raise error_from(response.status_code, body)
    if not response.is_success:
        raise ProtocolError(f"the server answered {response.status_code}, which no request of ours expects")
    return body


def _refuse_encoding(response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ProtocolError("the server compressed an answer although it was told not to")


def _too_large() -> ProtocolError:
    return ProtocolError(f"the server's answer is larger than {MAX_BYTES // 2**20} MiB and was not read")
