"""The door: what every request passes before a route sees it."""

import hmac

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
        """Let the request in with its caller's name, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        answer = self._refused(headers)
        if answer is not None:
            await answer(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = TOKEN_CALLER if self._token else LOCAL_CALLER
        await self._app(scope, _Capped(receive, self._body_limit), send)

    def _refused(self, headers: dict[bytes, bytes]) -> Response | None:
        try:
            self._service.take_work()
        except Draining as draining:
            return refusal(503, ErrorCode.DRAINING, str(draining))
        if self._hosts is not None and _host(headers) not in self._hosts:
            return refusal(400, ErrorCode.INVALID_ARGUMENT, "this server does not answer for that host name")
        if self._token and not hmac.compare_digest(_bearer(headers), self._token):
            return refusal(401, ErrorCode.UNAUTHENTICATED, "show the server's token as a bearer token")
        if int(headers.get(b"content-length", b"0") or 0) > self._body_limit:
            return refusal(413, ErrorCode.REQUEST_TOO_LARGE, _too_large(self._body_limit))
        return None


class BodyTooLarge(Exception):
    """A body without a stated length grew past the limit."""


class _Capped:
    """A `receive` that counts what it hands on."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise BodyTooLarge
        return message


async def on_body_too_large(*_: object) -> Response:
    """Answer a body that grew past the limit."""
    return refusal(413, ErrorCode.REQUEST_TOO_LARGE, "the request is larger than this server takes")


def _too_large(limit: int) -> str:
    return f"the request is larger than the {limit // 2**20} MiB that this server takes"


def _host(headers: dict[bytes, bytes]) -> str:
    """The host name of the request, without its port."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    return host.rsplit(":", 1)[0] if not host.endswith("]") else host


def _bearer(headers: dict[bytes, bytes]) -> bytes:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""
