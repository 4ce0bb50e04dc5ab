"""Puts a client and a controller together; loaded after the first frame, since it brings httpx and pydantic."""

from client.errors import AddressRefused
from client.http_client import HttpClient
from mecatui.control import BackendUnavailable, Control, Emit
from mecatui.controller import Controller, SessionWish


def open_control(address: str, emit: Emit, model: str, *, is_watched: bool) -> Control:
    """A controller that speaks to this address. Nothing is sent yet.

    With `is_watched` somebody else tells when the server ends, and knows better why.

    Raises:
        BackendUnavailable: the address cannot be used.
    """
    try:
        client = HttpClient.connect(address)
    except AddressRefused as refused:
        raise BackendUnavailable(str(refused)) from refused
    return Controller(client, emit, SessionWish(model), is_watched=is_watched)
