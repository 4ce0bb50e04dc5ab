"""From the bytes of an answer to a value of the contract."""

from typing import TypeVar

from pydantic import ValidationError

from client.contract.base import Response
from client.errors import ProtocolError, cleaned

R = TypeVar("R", bound=Response)


def decoded(kind: type[R], data: bytes) -> R:
    """The answer as a `kind`.

    Raises:
        ProtocolError: it is none.
    """
    try:
        return kind.from_json(data)
    except ValidationError as error:
        raise ProtocolError(
            f"the server's answer is no {kind.__name__} ({first_fault(error)}); "
            "check that the address is that of a mecated or mecatui-server of this version"
        ) from error


def first_fault(error: ValidationError) -> str:
    """Where a value departs from the contract, and how, as one cleaned line without the value itself."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return cleaned(f"{where}: {fault['msg']}" if where else fault["msg"])
