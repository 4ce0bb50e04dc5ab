"""Leases: which server process may run a session. One process on its own holds them all."""

from typing import Protocol


class Leases(Protocol):
    """Asks for the right to run or to reload a session."""

    async def hold(self, session_id: str) -> bool:
        """True when this process holds the session's lease, or has just taken it."""
        ...


class SoleProcess:
    """The leases of a process that shares its sessions with nobody."""

    async def hold(self, session_id: str) -> bool:
        """Always: there is nobody else."""
        del session_id
        return True
