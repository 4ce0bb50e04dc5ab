"""The one path on which engines are assembled, at start-up, at create and clear, and at each reload."""

from dataclasses import dataclass

from server_stub.engine.advertise import TOOL_NAME as SKILL_TOOL
from server_stub.engine.advertise import advertise
from server_stub.engine.commands import CommandFile
from server_stub.engine.engine import Catalog, Engine
from server_stub.engine.expansion import ExpansionTable
from server_stub.engine.models.model import Model
from server_stub.engine.pin import Pin
from server_stub.engine.skill_tool import SkillTool
from server_stub.engine.tool_spec import ToolArray
from server_stub.engine.tools.tool import Tool
from server_stub.skills.snapshot import SkillSnapshot


@dataclass(frozen=True, slots=True)
class EngineFactory:
    """What every engine of this process has in common; never changed by a reload."""

    model: Model
    base_tools: tuple[Tool, ...]
    command_files: tuple[CommandFile, ...]
    system: str

    def pin(self, snapshot: SkillSnapshot) -> Pin:
        """Advertise a snapshot afresh: what a new conversation's model is told, from its first request to its last."""
        advertisement = advertise(snapshot)
        base = tuple(tool.spec for tool in self.base_tools)
        if advertisement is None:
            return Pin(ToolArray(base), {})
        return Pin(ToolArray((*base, advertisement.spec)), advertisement.listed, advertisement.notices)

    def build(self, pin: Pin, snapshot: SkillSnapshot) -> Engine:
        """Assemble an engine that serves `snapshot` under the specifications of `pin`.

        A pin without a `Skill` tool gives an engine without one, whatever the snapshot holds.
        """
        by_name: dict[str, Tool] = {tool.spec.name: tool for tool in self.base_tools}
        tools = tuple(
            SkillTool(spec, pin.advertised, snapshot) if spec.name == SKILL_TOOL else by_name[spec.name]
            for spec in pin.tools.specs
        )
        expansions = ExpansionTable.build(snapshot, self.command_files)
        return Engine(self.model, Catalog(tools), self.system, snapshot, expansions)
