"""The stage of the acceptance tests: a real server process, real folders, and what the model was really shown."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from client.contract.events import Event, RunEnded, ToolReturned
from client.contract.skills import SkillRow
from client.http_client import HttpClient
from tests.support.script import call, rule, say, write_script
from tests.support.server import ServerProcess, client_for
from tests.support.skills import write_raw_skill, write_skill

BROKEN = b"---\nname: [\n---\nnot served\n"


@dataclass
class Stage:
    """One running server and one client."""

    server: ServerProcess
    client: HttpClient
    root: Path
    sessions: list[str] = field(default_factory=list)

    @property
    def skills(self) -> Path:
        """The folder given with `--skills-dir`."""
        return self.root / "skills"

    def write(self, name: str, body: str, description: str = "", **more: str) -> None:
        write_skill(self.skills, name, description=description or f"About {name}.", body=body, **more)

    def break_(self, name: str) -> None:
        write_raw_skill(self.skills / name, BROKEN)

    def remove(self, name: str) -> None:
        (self.skills / name / "SKILL.md").unlink()

    async def session(self) -> str:
        made = await self.client.create_session()
        self.sessions.append(made.session_id)
        return made.session_id

    async def run(self, session_id: str, text: str) -> list[Event]:
        async with aclosing(self.client.prompt(session_id, text)) as events:
            return [event async for event in events]

    async def loads(self, session_id: str, name: str) -> tuple[str, bool]:
        """What the model gets when it calls `Skill{name}`: the result's text, and whether it is an error."""
        for event in await self.run(session_id, f"load:{name}"):
            if isinstance(event, ToolReturned):
                return event.tool_result.content, event.tool_result.is_error
        raise AssertionError("the model did not call the tool")

    async def expands(self, session_id: str, text: str) -> str | None:
        """What `/name` becomes; None when it is no command of this session."""
        expanded = await self.client.expand(session_id, text)
        return expanded.text if expanded.name else None

    async def palette(self, session_id: str) -> dict[str, str]:
        return {row.name: row.description for row in (await self.client.commands(session_id)).commands}

    async def rows(self, session_id: str) -> dict[str, SkillRow]:
        return {row.name: row for row in (await self.client.skills(session_id)).skills}

    def shown(self, session_id: str) -> list[dict[str, Any]]:
        """Each request that the model was shown in this session, as recorded at the model."""
        return [line for line in self.server.recorded if line["session_id"] == session_id]

    def tools(self, session_id: str) -> set[str]:
        """The different tools arrays that the session's model was shown, as their bytes."""
        return {line["tools"] for line in self.shown(session_id)}

    async def state(self, session_id: str) -> dict[str, Any]:
        """All that a refused or failed reload must leave as it was."""
        listing = await self.client.skills(session_id)
        return {
            "session": await self.client.session(session_id),
            "listing": listing,
            "commands": await self.client.commands(session_id),
            "expansions": await self.client.expansions(session_id),
            "transcript": await self.client.transcript(session_id),
            "bodies": {
                row.name: (await self.client.skill(session_id, row.name)).body
                for row in listing.skills
                if row.in_inventory
            },
        }


def loading_rules(*names: str) -> list[Any]:
    """A script in which `load:NAME` makes the model call `Skill` with that name."""
    return [rule(f"load:{name}", [call("Skill", name=name)], [say("read")]) for name in names]


NAMES = ("alpha", "beta", "gamma", "delta", "story", "twin", "renamed", "poison")


@asynccontextmanager
async def staged(
    root: Path, *flags: str, rules: list[Any] | None = None, as_nobody: bool = False, **skills: str
) -> AsyncIterator[Stage]:
    """A server whose `--skills-dir` holds `skills` (name to body)."""
    folder = root / "skills"
    folder.mkdir(exist_ok=True)
    for name, body in skills.items():
        write_skill(folder, name, description=f"About {name}.", body=body)
    script = [*(rules or []), *loading_rules(*NAMES)]
    with ServerProcess.start(root, "--skills-dir", str(folder), *flags, script=script, as_nobody=as_nobody) as server:
        async with client_for(server) as client:
            yield Stage(server, client, root)


def ended(events: list[Event]) -> RunEnded:
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last


__all__ = ["BROKEN", "Stage", "ended", "loading_rules", "staged", "write_script"]
