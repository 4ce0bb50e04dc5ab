"""The seam of the learned tier: what an agent wrote down for itself, listed like any other source."""

from typing import Protocol

from server_stub.skills.diagnostic import SourceFault
from server_stub.skills.source import Listing


class LearnedSource(Protocol):
    """Lists learned skills; the last tier."""

    def list(self) -> Listing | SourceFault:
        """Everything of this tier, in a fixed order."""
        ...
