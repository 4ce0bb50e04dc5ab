"""The one exception within parsing: why a SKILL.md cannot become a skill."""

from server_stub.skills.diagnostic import SkipCode


class Rejected(Exception):
    """Raised and caught within parsing; callers get a `Skipped` instead."""

    def __init__(self, code: SkipCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
