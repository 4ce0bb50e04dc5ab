"""Domain failures of the server; no HTTP here.

ServerError
├── Refused                  the request was right, something else is not
│   ├── SessionNotFound
│   ├── NotFound
│   ├── InvalidArgument
│   ├── FailedPrecondition   with a reason, and the run or ask in the way
│   ├── NoActiveRun
│   ├── AskNotPending
│   ├── TooManyEngines
│   ├── TooManySessions
│   ├── SessionLeasedElsewhere
│   ├── SourceUnavailable
│   └── Draining
├── AssetUnavailable         a skill's file is not there or not text (skills.assets)
├── TrustFileUnusable        the trust file is left as it is (skills.trust)
├── UsageError               a flag that cannot be followed (cli)
├── ModelUnavailable         a model that this server does not offer (build)
├── ScriptInvalid            the offline model's script is not of the form (engine.models.script)
├── RecordUnusable           the offline model's record cannot be written (engine.models.recorder)
├── EngineBuildFailed
└── PinViolated              the tools array moved: an internal error, nothing was sent
"""

from enum import StrEnum


class Reason(StrEnum):
    """The state in the way of a refused precondition."""

    SESSION_RUNNING = "session_running"
    SESSION_AWAITING = "session_awaiting"
    RELOAD_IN_FLIGHT = "reload_in_flight"
    NOT_MAIN_SESSION = "not_main_session"


class ServerError(Exception):
    """Base of all failures of the server; its text is fit for a person who sends requests."""


class Refused(ServerError):
    """The request was understood and not carried out; nothing changed."""


class SessionNotFound(Refused):
    """No such session, or not the caller's: the two are told apart nowhere."""

    def __init__(self) -> None:
        super().__init__("no such session; list the sessions, or create one")


class NotFound(Refused):
    """Something within a session is not there."""


class InvalidArgument(Refused):
    """The request itself is wrong."""


class FailedPrecondition(Refused):
    """The session is not in a state that admits the request."""

    def __init__(self, message: str, *, reason: Reason, run_id: str = "", ask_id: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.run_id = run_id
        self.ask_id = ask_id


class NoActiveRun(Refused):
    """There is nothing to cancel."""

    def __init__(self) -> None:
        super().__init__("no run is active in this session")


class AskNotPending(Refused):
    """The approval was answered, retracted, or never asked."""

    def __init__(self) -> None:
        super().__init__("this approval is no longer open")


class TooManyEngines(Refused):
    """No room for one more private engine."""


class TooManySessions(Refused):
    """The server holds as many sessions as it may."""


class SessionLeasedElsewhere(Refused):
    """Another server process runs this session."""

    def __init__(self) -> None:
        super().__init__("another server process runs this session; use it there, or wait until it is done")


class SourceUnavailable(Refused):
    """A configured skill source could not be read; what was installed stays."""


class Draining(Refused):
    """The server is about to stop and takes no new work."""

    def __init__(self) -> None:
        super().__init__("the server is stopping; connect again when it is back")


class EngineBuildFailed(ServerError):
    """The next engine could not be built; the one installed stays."""


class PinViolated(ServerError):
    """A model request would have carried other tools bytes than the session's pin."""
