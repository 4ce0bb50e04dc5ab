"""Approvals: what a run asks and what a person answers."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from client.contract.base import Request, WireIntEnum


class Verdict(WireIntEnum):
    """A person's answer to an ask."""

    UNSPECIFIED = 0
    DENY = 1
    ALLOW_ONCE = 2
    ALLOW_ALWAYS = 3


def _from_word(value: Any) -> Any:
    """Accept `allow_once` for 2 and so on."""
    words = {verdict.name.lower(): verdict for verdict in Verdict}
    return words.get(value, value) if isinstance(value, str) else value


class Approve(Request):
    """What `POST …/approve` takes."""

    ask_id: str
    verdict: Annotated[Verdict, BeforeValidator(_from_word)]
