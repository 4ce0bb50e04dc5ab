"""An engine: one frozen generation of all that a run uses. A reload builds the next one and swaps it whole."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

from server_stub.engine.conversation import Message
from server_stub.engine.expansion import ExpansionTable
from server_stub.engine.models.model import Model, ModelRequest
from server_stub.engine.tool_spec import ToolArray
from server_stub.engine.tools.tool import Tool
from server_stub.skills.snapshot import SkillSnapshot


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tools of one engine, in the order of the array."""

    tools: tuple[Tool, ...]

    def get(self, name: str) -> Tool | None:
        """The tool that a model calls by this name."""
        return next((tool for tool in self.tools if tool.spec.name == name), None)


@dataclass(frozen=True)
class Engine:
    """A catalog bound to a model, with the activation inventory and the expansion table of the same generation."""

    model: Model
    catalog: Catalog
    system: str
    snapshot: SkillSnapshot = field(repr=False)
    expansions: ExpansionTable = field(repr=False)

    @cached_property
    def tools(self) -> ToolArray:
        """The array that this engine's requests carry."""
        return ToolArray(tuple(tool.spec for tool in self.catalog.tools))

    @cached_property
    def system_sha256(self) -> str:
        """The digest of the system prompt, in hex."""
        return hashlib.sha256(self.system.encode()).hexdigest()

    def request(self, session_id: str, turn: int, messages: list[Message]) -> ModelRequest:
        """What the model is shown of a conversation."""
        return ModelRequest(session_id, turn, self.tools.canonical, self.system, tuple(messages))

    async def close(self) -> None:
        """Let go of what this engine alone holds. Shared things are not its own and stay."""
