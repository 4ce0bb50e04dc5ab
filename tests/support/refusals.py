"""What every refusal of the server looks like, whoever asked what."""

import json
from dataclasses import dataclass

import httpx

_FIELDS = {"error", "code", "reason", "ask_id", "run_id"}
_INTERNALS = ("Traceback", ".py", "/tmp", "/work", "server_stub", "pydantic", "starlette", "Error(", "\n")


@dataclass(frozen=True)
class Refusal:
    """A refusal in the form that the wire promises."""

    status: int
    code: str
    error: str
    reason: str = ""
    ask_id: str = ""
    run_id: str = ""

    @classmethod
    def of(cls, status: int, headers: httpx.Headers | dict[str, str], body: bytes) -> "Refusal":
        """Read a refusal.

        Raises:
            AssertionError: it is none, its body has another form, or it tells of the server's inside.
        """
        assert status >= 400, f"not refused: {status} {body[:200]!r}"
        assert headers["content-type"] == "application/json"
        told = json.loads(body)
        assert set(told) <= _FIELDS
        assert told["error"]
        assert told["error"].isprintable()
        assert len(told["error"]) <= 500
        leaks = [word for word in _INTERNALS if word in told["error"]]
        assert not leaks, f"{told['error']!r} tells of {leaks}"
        return cls(status, **told)


def refusal_of(answer: httpx.Response) -> Refusal:
    """The refusal that an answer is."""
    return Refusal.of(answer.status_code, answer.headers, answer.content)


def kind_of(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal."""
    refusal = refusal_of(answer)
    return refusal.status, refusal.code
