"""The door: what every request passes before a route sees it."""

import hmac
from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from client.contract.errors import ErrorCode
from server_stub.api.failures import refusal
from server_stub.errors import Draining
from server_stub.sessions.service import SessionService

LOCAL_CALLER = "local"
"""Whoever can open the private socket: its permissions are the credential."""

TOKEN_CALLER = "token"  # noqa: S105 - the name of a caller, not a secret
"""Whoever shows the server's token."""


Headers = Iterable[tuple[bytes, bytes]]
"""Names in lower case with their values, in the order they came in."""

_CHALLENGE = {"www-authenticate": "Bearer"}


class Door:
    """Refuses requests while draining, for a foreign host, without the token, or with too large a body."""

    def __init__(
        self, app: ASGIApp, *, service: SessionService, hosts: frozenset[str] | None, token: str, body_limit: int
    ) -> None:
        self._app = app
        self._service = service
        self._hosts = hosts
        self._token = token.encode()
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in with its caller's name, or answer it here.

        The body is read here, whole: no handler ever meets one that is too large or breaks off.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._refused(scope["headers"])
        try:
            body = b"" if answer else await _read(receive, self._body_limit)
            answer = answer or self._stopping()
        except _BodyTooLarge:
            answer = self._too_large()
        except _CallerGone:
            return
        if answer is not None:
            await answer(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = TOKEN_CALLER if self._token else LOCAL_CALLER
        await self._app(scope, _replayed(body, receive), send)

    def _refused(self, headers: Headers) -> Response | None:
        stopping = self._stopping()
        if stopping is not None:
            return stopping
        if self._hosts is not None and _host(headers) not in self._hosts:
            return refusal(400, ErrorCode.INVALID_ARGUMENT, "this server does not answer for that host name")
        if self._token and not hmac.compare_digest(_bearer(headers), self._token):
            return refusal(401, ErrorCode.UNAUTHENTICATED, "show the server's token as a bearer token", _CHALLENGE)
        if int(_only(headers, b"content-length") or 0) > self._body_limit:
            return self._too_large()
        return None

    def _stopping(self) -> Response | None:
        try:
            self._service.take_work()
        except Draining as draining:
            return refusal(503, ErrorCode.DRAINING, str(draining))
        return None

    def _too_large(self) -> Response:
        limit = f"{self._body_limit:,} bytes"
        return refusal(
            413, ErrorCode.REQUEST_TOO_LARGE, f"the request is larger than the {limit} that this server takes"
        )


class _BodyTooLarge(Exception):
    """The body grew past the limit."""


class _CallerGone(Exception):
    """The connection ended before the body did."""


async def _read(receive: Receive, limit: int) -> bytes:
    """The whole body.

    Raises:
        _BodyTooLarge: it has more bytes than `limit`; the rest is not read.
        _CallerGone: it broke off.
    """
    pieces: list[bytes] = []
    left = limit
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _CallerGone
        pieces.append(message.get("body", b""))
        left -= len(pieces[-1])
        if left < 0:
            raise _BodyTooLarge
        if not message.get("more_body", False):
            return b"".join(pieces)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, then whatever comes after it: that the caller has gone."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _only(headers: Headers, name: bytes) -> bytes:
    """The value of a header that is there once; empty when it is absent or there several times."""
    values = [value for key, value in headers if key == name]
    return values[0] if len(values) == 1 else b""


def _host(headers: Headers) -> str:
    """The host name of the request, without its port."""
    host = _only(headers, b"host").decode("latin-1").lower()
    return host.rsplit(":", 1)[0] if not host.endswith("]") else host


def _bearer(headers: Headers) -> bytes:
    scheme, _, token = _only(headers, b"authorization").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""
