"""Domain failures as answers: the one table of status and code."""

import logging
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from client.contract.errors import ErrorBody, ErrorCode, RefusalReason
from server_stub import errors

_log = logging.getLogger(__name__)

_MESSAGE_CHARACTERS = 500

TABLE: dict[type[errors.ServerError], tuple[int, ErrorCode]] = {
    errors.SessionNotFound: (404, ErrorCode.SESSION_NOT_FOUND),
    errors.NotFound: (404, ErrorCode.NOT_FOUND),
    errors.InvalidArgument: (400, ErrorCode.INVALID_ARGUMENT),
    errors.FailedPrecondition: (412, ErrorCode.FAILED_PRECONDITION),
    errors.NoActiveRun: (409, ErrorCode.NO_ACTIVE_RUN),
    errors.AskNotPending: (409, ErrorCode.ASK_NOT_PENDING),
    errors.SessionLeasedElsewhere: (409, ErrorCode.SESSION_LEASED_ELSEWHERE),
    errors.TooManyEngines: (429, ErrorCode.TOO_MANY_SESSION_ENGINES),
    errors.TooManySessions: (429, ErrorCode.RESOURCE_EXHAUSTED),
    errors.SourceUnavailable: (503, ErrorCode.SKILL_SOURCE_UNAVAILABLE),
    errors.Draining: (503, ErrorCode.DRAINING),
    errors.EngineBuildFailed: (500, ErrorCode.ENGINE_BUILD_FAILED),
    errors.PinViolated: (500, ErrorCode.INTERNAL),
    errors.ServerError: (500, ErrorCode.INTERNAL),
}

_METHOD_NOT_ALLOWED = 405
_OTHERWISE = (ErrorCode.INVALID_ARGUMENT, "this request cannot be understood")
_BY_STATUS = {
    404: (ErrorCode.NOT_FOUND, "this server has no such route"),
    _METHOD_NOT_ALLOWED: (ErrorCode.INVALID_ARGUMENT, "this route does not take that method"),
}


def refusal(status: int, code: ErrorCode, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error answer without more to it than a sentence and a code."""
    return _answer(status, ErrorBody(error=message, code=code), headers)


async def on_server_error(_: Request, failure: Exception) -> Response:
    """Answer a domain failure by the table."""
    kind = next(known for known in type(failure).__mro__ if known in TABLE)
    status, code = TABLE[kind]
    message = str(failure)[:_MESSAGE_CHARACTERS]
    if isinstance(failure, errors.FailedPrecondition):
        return _answer(
            status,
            ErrorBody(
                error=message,
                code=code,
                reason=RefusalReason(failure.reason.value),
                run_id=failure.run_id,
                ask_id=failure.ask_id,
            ),
        )
    return refusal(status, code, message)


async def on_http_error(request: Request, failure: Exception) -> Response:
    """Answer an unknown route or method in the form of every other error."""
    if not isinstance(failure, HTTPException):
        raise failure
    code, message = _BY_STATUS.get(failure.status_code, _OTHERWISE)
    headers = {"allow": ", ".join(_methods(request))} if failure.status_code == _METHOD_NOT_ALLOWED else None
    return refusal(failure.status_code, code, message, headers)


def _methods(request: Request) -> list[str]:
    """What may be done with the path of a request; several routes can share one path."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    here = [route.methods or set() for route in routes if route.path_regex.match(request.scope["path"])]
    return sorted(set().union(*here))


async def on_crash(_: Request, failure: Exception) -> Response:
    """Answer a fault of ours without a word of its inside; the log has it."""
    _log.error("a request failed", exc_info=failure)
    return refusal(500, ErrorCode.INTERNAL, "the server failed; its log says why")


def _answer(status: int, body: ErrorBody, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body.to_json(), status, headers, "application/json")
