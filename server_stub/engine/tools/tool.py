"""What the run loop asks of a tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from server_stub.engine.tool_spec import ToolSpec


class Access(StrEnum):
    """What a call may do: reads pass, writes are subject to a person's permission."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gave back, as the model is shown it."""

    content: str
    is_error: bool = False


class Tool(Protocol):
    """One entry of a catalog."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""
        ...

    def access(self, args: Mapping[str, object]) -> Access:
        """What this call may do."""
        ...

    async def run(self, args: Mapping[str, object]) -> ToolOutput:
        """Run one call. Failures that a model can act on are outputs with `is_error`, not exceptions."""
        ...
