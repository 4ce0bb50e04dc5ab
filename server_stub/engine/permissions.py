"""Permissions: reads pass, writes ask, plan mode refuses them; what a person allowed for good is remembered."""

from dataclasses import dataclass, field
from enum import StrEnum

from server_stub.engine.tools.tool import Access


class Mode(StrEnum):
    """How much a session's agent may do without asking."""

    DEFAULT = "default"
    PLAN = "plan"
    ACCEPT_EDITS = "accept_edits"


class Ruling(StrEnum):
    """What becomes of one tool call."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


class Verdict(StrEnum):
    """A person's answer to an ask."""

    DENY = "deny"
    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"


@dataclass(slots=True)
class Permissions:
    """One session's rules. They belong to the session, so no reload and no engine replaces them."""

    mode: Mode = Mode.DEFAULT
    remembered: set[str] = field(default_factory=set)
    """Tools that the person allowed for the rest of the session."""

    def rule(self, tool: str, access: Access) -> Ruling:
        """Decide one call. A mode never drops a tool from the array: it refuses here instead."""
        if access is Access.READ:
            return Ruling.ALLOW
        if self.mode is Mode.PLAN:
            return Ruling.REFUSE
        return Ruling.ALLOW if tool in self.remembered else Ruling.ASK

    def learn(self, tool: str, verdict: Verdict) -> bool:
        """Take a person's verdict on one call in; true when the call may run."""
        if verdict is Verdict.ALLOW_ALWAYS:
            self.remembered.add(tool)
        return verdict is not Verdict.DENY
