"""What a refusal looks like on the wire."""

from client.contract.base import Response, WireStrEnum


class ErrorCode(WireStrEnum):
    """Why a request was refused. Stable words: programs decide by them."""

    UNKNOWN = ""
    INVALID_ARGUMENT = "invalid_argument"
    UNAUTHENTICATED = "unauthenticated"
    SESSION_NOT_FOUND = "session_not_found"
    NOT_FOUND = "not_found"
    NO_ACTIVE_RUN = "no_active_run"
    SESSION_LEASED_ELSEWHERE = "session_leased_elsewhere"
    ASK_NOT_PENDING = "ask_not_pending"
    STALE_RUN_CONTROL = "stale_run_control"
    FAILED_PRECONDITION = "failed_precondition"
    REQUEST_TOO_LARGE = "request_too_large"
    TOO_MANY_SESSION_ENGINES = "too_many_session_engines"
    RESOURCE_EXHAUSTED = "resource_exhausted"
    INTERNAL = "internal"
    ENGINE_BUILD_FAILED = "engine_build_failed"
    UNIMPLEMENTED = "unimplemented"
    DRAINING = "draining"
    SKILL_SOURCE_UNAVAILABLE = "skill_source_unavailable"


class RefusalReason(WireStrEnum):
    """The state that stands in the way of a `failed_precondition`."""

    UNKNOWN = ""
    SESSION_RUNNING = "session_running"
    SESSION_AWAITING = "session_awaiting"
    RELOAD_IN_FLIGHT = "reload_in_flight"
    NOT_MAIN_SESSION = "not_main_session"


class ErrorBody(Response):
    """The body of every answer with a status of 400 or more."""

    error: str = ""
    """A sentence for people: what happened and what can be done. No paths, no internals."""
    code: ErrorCode = ErrorCode.UNKNOWN
    reason: RefusalReason = RefusalReason.UNKNOWN
    ask_id: str = ""
    """The approval in the way, when `reason` is `session_awaiting`."""
    run_id: str = ""
    """The run in the way, when `reason` is `session_running` or `session_awaiting`."""
