"""How a handler reads a request and writes an answer."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from pydantic import ValidationError
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response

from client.contract.base import Request as WireRequest
from client.contract.base import Response as WireResponse
from client.contract.errors import ErrorCode
from client.contract.events import StreamFault
from server_stub.errors import InvalidArgument
from server_stub.skills.text import clean_line

Wire = TypeVar("Wire", bound=WireRequest)

PING_SECONDS = 15

_FAULT = StreamFault(code=ErrorCode.INTERNAL, error="the server failed; its log says why")

_log = logging.getLogger(__name__)


async def read(request: Request, kind: type[Wire]) -> Wire:
    """The request's body, strictly; an empty one stands for an empty object.

    Raises:
        InvalidArgument: it is not JSON, or a field is unknown, missing or wrong; the first such field is named.
    """
    try:
        return kind.from_json(await request.body() or b"{}")
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the body"
        raise InvalidArgument(f"{clean_line(place)[:100]}: {first['msg'][:200]}") from invalid


async def read_nothing(request: Request) -> None:
    """Make sure that nothing was sent along.

    Raises:
        InvalidArgument: there is a body.
    """
    if await request.body():
        raise InvalidArgument("this request takes no body: the server alone decides what is loaded and from where")


def answer(value: WireResponse, status: int = 200) -> Response:
    """A wire value as the answer."""
    return Response(value.to_json(), status, media_type="application/json")


def nothing() -> Response:
    """204: done, and there is nothing to say."""
    return Response(status_code=204)


def caller(request: Request) -> str:
    """Who is asking, as the door found out."""
    name: str = request.state.caller
    return name


def session_id(request: Request) -> str:
    """The session that the path names."""
    name: str = request.path_params["session_id"]
    return name


def number(request: Request, name: str, default: int) -> int:
    """A number from the query.

    Raises:
        InvalidArgument: it is not one.
    """
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**63)):
        raise InvalidArgument(f"{name} is a number")
    return int(text)


def stream(events: AsyncGenerator[list[bytes]]) -> Response:
    """Batches of JSON objects as server-sent events, one `data:` line each; a fault of ours ends them, told as one."""
    return EventSourceResponse(_lines(events), ping=PING_SECONDS, sep="\n")


async def _lines(events: AsyncGenerator[list[bytes]]) -> AsyncGenerator[bytes]:
    try:
        async with aclosing(events) as batches:
            async for batch in batches:
                yield b"".join(b"data: %s\n\n" % line for line in batch)
    except Exception:  # noqa: BLE001 - the answer has begun: only the stream itself can still tell
        _log.exception("a stream failed")
        yield b"event: error\ndata: %s\n\n" % _FAULT.to_json()
