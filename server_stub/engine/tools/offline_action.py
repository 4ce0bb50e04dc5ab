"""A tool of the offline model's scripts: it does nothing, but it asks first, so that approvals can be rehearsed."""

from collections.abc import Mapping
from dataclasses import dataclass

from server_stub.engine.tool_spec import ToolSpec
from server_stub.engine.tools.tool import Access, ToolOutput

TOOL_NAME = "OfflineAction"

_SPEC = ToolSpec.of(
    TOOL_NAME,
    "Rehearse an action that needs the user's permission. Nothing is changed anywhere.",
    {
        "type": "object",
        "properties": {"label": {"type": "string", "description": "What the rehearsed action is called."}},
        "required": ["label"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class OfflineAction:
    """Counts as a write, changes nothing."""

    spec: ToolSpec = _SPEC

    def access(self, args: Mapping[str, object]) -> Access:
        """A write, always: the point is the ask."""
        del args
        return Access.WRITE

    async def run(self, args: Mapping[str, object]) -> ToolOutput:
        """Say that it was allowed."""
        return ToolOutput(f"done: {args.get('label', '')}")
