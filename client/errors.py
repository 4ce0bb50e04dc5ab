"""What can go wrong between the app and a server.

ClientError
├── AddressRefused       the address or the token cannot be used; nothing was sent
├── ServerUnreachable    no answer: no connection, a lost one, or none in time
├── ServerRefused        the server understood and said no: status, code, reason
├── StreamBroken         an event stream ended or failed before its run did
└── ProtocolError        an answer that is not what the contract says

The text of each is a sentence for a person: what happened, and what can be done. Text that came from a
server is one line without control characters, at most 500 characters long.
"""

import unicodedata
from enum import StrEnum
from http import HTTPStatus

from pydantic import ValidationError

from client.contract.errors import ErrorBody

_TEXT_CAP = 500
_UNSHOWABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Outage(StrEnum):
    """How a server came not to answer."""

    NO_CONNECTION = "no_connection"
    """Nothing was sent."""
    LOST = "lost"
    """The connection broke; whether the request was carried out is not known."""
    TIMED_OUT = "timed_out"
    """No answer in time; whether the request was carried out is not known."""


class ClientError(Exception):
    """Base of all failures of the client."""


class AddressRefused(ClientError):
    """The address or the token cannot be used, or would not be safe to use; nothing was sent."""


class ServerUnreachable(ClientError):
    """No answer."""

    def __init__(self, message: str, *, outage: Outage) -> None:
        super().__init__(message)
        self.outage = outage


class ServerRefused(ClientError):
    """The server answered with a status of 400 or more."""

    def __init__(self, status: int, body: ErrorBody) -> None:
        super().__init__(body.error)
        self.status = status
        self.error = body.error
        """The server's sentence, cleaned; never empty."""
        self.code = body.code
        """`UNKNOWN` when the server gave none, or one of a newer version."""
        self.reason = body.reason
        self.ask_id = body.ask_id
        self.run_id = body.run_id


class StreamBroken(ClientError):
    """An event stream stopped before the run's `result`; the run itself may still go on."""

    def __init__(self, message: str, *, code: str = "", error: str = "") -> None:
        super().__init__(message)
        self.code = code
        """The server's word for the fault; empty when the stream just ended."""
        self.error = error


class ProtocolError(ClientError):
    """An answer that is not what the contract says."""


def cleaned(text: str) -> str:
    """Outside text as one harmless line: no control or bidi characters, blanks folded, capped."""
    head = text[: 4 * _TEXT_CAP]
    spaced = (" " if unicodedata.category(char) in _UNSHOWABLE else char for char in head)
    line = " ".join("".join(spaced).split())
    return line if len(line) <= _TEXT_CAP and len(head) == len(text) else line[: _TEXT_CAP - 1] + "…"


def error_from(status: int, body: bytes) -> ServerRefused:
    """Read a refusal. A body that is no error body (a proxy's page, say) gives the status's own words."""
    try:
        told = ErrorBody.from_json(body)
    except ValidationError:
        told = ErrorBody()
    return ServerRefused(
        status,
        ErrorBody(
            error=cleaned(told.error) or f"the server answered {_status_words(status)} and gave no reason",
            code=told.code,
            reason=told.reason,
            ask_id=cleaned(told.ask_id),
            run_id=cleaned(told.run_id),
        ),
    )


def _status_words(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
