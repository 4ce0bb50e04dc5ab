"""What the tests of the engine are made of: skills as values, a model that plays, and the context of one run."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from server_stub.engine.conversation import AssistantMessage, Message, ToolMessage, ToolRequest, UserMessage
from server_stub.engine.engine import Engine
from server_stub.engine.events import RunEvent, Stop
from server_stub.engine.factory import EngineFactory
from server_stub.engine.loop import RunContext, Sent, run_turns
from server_stub.engine.models.model import ModelEvent, ModelRequest, TokenUsage, TurnDone
from server_stub.engine.permissions import Permissions, Ruling
from server_stub.engine.pin import Pin
from server_stub.engine.tool_spec import ToolSpec
from server_stub.engine.tools.tool import Access, Tool, ToolOutput
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.tier import Tier

Play = ModelEvent | Callable[[], None] | asyncio.Event | Exception
"""One thing that a playing model does: stream an event, call, wait, or fail."""


def skill(name: str, description: str = "", **fields: object) -> Skill:
    given = {"body": f"# {name}\n", "origin": Tier.USER, "folder": "/nowhere", **fields}
    return Skill(name=name, declared_name=name, description=description or f"About {name}.", **given)


def snapshot(*skills: Skill) -> SkillSnapshot:
    return SkillSnapshot(skills=tuple(sorted(skills, key=lambda one: one.name)))


class Playing:
    """A model whose nth request is answered by the nth list of plays; the last list answers all further ones."""

    name = "playing"
    dialect = "playing"

    def __init__(self, *turns: Sequence[Play]) -> None:
        self._turns = turns
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        for play in self._turns[min(len(self.requests), len(self._turns)) - 1]:
            match play:
                case asyncio.Event():
                    await play.wait()
                case Exception():
                    raise play
                case call if callable(call):
                    call()
                case event:
                    yield event
        yield TurnDone(TokenUsage(input_tokens=3, output_tokens=1))


@dataclass
class Doing:
    """A tool that does what it is told."""

    does: Callable[[Mapping[str, object]], object] = lambda _: "done"
    waits: asyncio.Event | None = None
    is_write: bool = False
    began: asyncio.Event = field(default_factory=asyncio.Event)
    spec: ToolSpec = field(default_factory=lambda: ToolSpec.of("Do", "Does it.", {"type": "object"}))

    def access(self, args: Mapping[str, object]) -> Access:
        return Access.WRITE if self.is_write else Access.READ

    async def run(self, args: Mapping[str, object]) -> ToolOutput:
        self.began.set()
        if self.waits:
            await self.waits.wait()
        return ToolOutput(str(self.does(args)))


class RulingGate:
    """A gate without a person: what asks is refused."""

    def __init__(self, permissions: Permissions) -> None:
        self._permissions = permissions

    async def admit(self, tool: Tool, request: ToolRequest) -> ToolOutput | None:
        ruling = self._permissions.rule(request.name, tool.access(request.args))
        return None if ruling is Ruling.ALLOW else ToolOutput(ruling.value, is_error=True)


class Talk:
    """One run of the loop, with all that it told."""

    def __init__(
        self,
        model: Playing,
        *tools: Tool,
        skills: SkillSnapshot | None = None,
        permissions: Permissions | None = None,
        turns: int = 10,
    ) -> None:
        factory = EngineFactory(model, tools, (), "system")
        self.pin: Pin = factory.pin(skills or SkillSnapshot())
        self.engine: Engine = factory.build(self.pin, skills or SkillSnapshot())
        self.messages: list[Message] = [UserMessage("go", "go")]
        self.events: list[RunEvent] = []
        self.sent: list[Sent] = []
        self._permissions = permissions or Permissions()
        self._turns = turns
        self._turn = 0

    def run(self) -> "asyncio.Task[tuple[Stop, str]]":
        return asyncio.ensure_future(run_turns(self._context()))

    def _context(self) -> RunContext:
        return RunContext(
            session_id="s",
            engine=self.engine,
            pin=self.pin,
            messages=self.messages,
            gate=RulingGate(self._permissions),
            emit=self.events.append,
            next_turn=self._next_turn,
            sent=self.sent.append,
            turns=self._turns,
        )

    def _next_turn(self) -> int:
        self._turn += 1
        return self._turn

    @property
    def results(self) -> list[ToolMessage]:
        return [message for message in self.messages if isinstance(message, ToolMessage)]

    def assert_paired(self) -> None:
        """Each request has its result, in order, right behind the message that asked."""
        rest = list(self.messages)
        while rest:
            message = rest.pop(0)
            assert not isinstance(message, ToolMessage), "a result that nobody asked for"
            if isinstance(message, AssistantMessage):
                for request in message.tool_requests:
                    assert rest, f"no result for {request}"
                    result = rest.pop(0)
                    assert isinstance(result, ToolMessage)
                    assert result.call_id == request.call_id
