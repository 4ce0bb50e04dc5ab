"""Tiers: through which door a skill came in; earlier doors win."""

from enum import StrEnum


class Tier(StrEnum):
    """Where a skill comes from, in order of precedence."""

    EXPLICIT = "explicit"
    """A folder that the operator named."""
    PROJECT = "project"
    """A folder of the workspace; only there when the workspace is trusted."""
    USER = "user"
    """A folder of the person that the server runs for."""
    LEARNED = "learned"
    """What an agent wrote down for itself."""
