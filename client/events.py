"""From the messages of an event stream to events."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Protocol, TypeVar

from pydantic import ValidationError

from client.answers import first_fault
from client.contract.events import Event, RunEnded, StreamFault, Watched, event_from_json
from client.errors import ProtocolError, StreamBroken, cleaned

T = TypeVar("T")


class Message(Protocol):
    """One message of a `text/event-stream`, as its decoder gives it."""

    @property
    def event(self) -> str:
        """The `event:` field; `message` or empty when there was none."""

    @property
    def data(self) -> str:
        """The `data:` lines, joined."""


async def run_events(messages: AsyncIterator[Message]) -> AsyncGenerator[Event, None]:
    """The events of one run, `result` last; types of a newer server come as `UnknownEvent`.

    Raises:
        StreamBroken: the server reported a fault, or the stream ended without a `result`.
        ProtocolError: a message is no event.
    """
    async for message in messages:
        if not message.data and message.event != "error":
            continue
        event = _read(message, event_from_json)
        yield event
        if isinstance(event, RunEnded):
            return
    raise StreamBroken("the event stream ended before the run did; watch the session to see the rest")


async def watched_events(messages: AsyncIterator[Message]) -> AsyncGenerator[Watched, None]:
    """The events of a session, each with the cursor to resume after it, until the server ends the stream.

    Raises:
        StreamBroken: the server reported a fault.
        ProtocolError: a message is no watched event.
    """
    async for message in messages:
        if message.data or message.event == "error":
            yield _read(message, Watched.from_json)


def _read(message: Message, decode: Callable[[str], T]) -> T:
    if message.event == "error":
        raise _fault(message.data)
    try:
        return decode(message.data)
    except ValidationError as error:
        raise ProtocolError(f"an event of the server was not understood: {first_fault(error)}") from error


def _fault(data: str) -> StreamBroken:
    try:
        told = StreamFault.from_json(data)
    except ValidationError:
        told = StreamFault()
    error = cleaned(told.error)
    message = f"the event stream failed: {error}" if error else "the event stream failed; the server gave no reason"
    return StreamBroken(message, code=cleaned(told.code), error=error)
