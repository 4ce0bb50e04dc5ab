"""One session of a running server as an acceptance test sees it: what is sent, and what its model was shown for it."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from client.contract import events
from client.contract.skills import SkillsReload
from client.http_client import HttpClient


@dataclass(frozen=True)
class Shown:
    """One request as the model was shown it; `tools` and `body` are its bytes as text."""

    tools: str
    body: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        return json.loads(self.body)["messages"]

    @property
    def system(self) -> str:
        return json.loads(self.body)["system"]


@dataclass(frozen=True)
class Told:
    """A tool result as the model was shown it."""

    content: str
    is_error: bool

    @property
    def error(self) -> dict[str, Any]:
        """The `SkillError` that it holds, which it must."""
        assert self.is_error, f"no error but: {self.content}"
        return json.loads(self.content)


class Session:
    """A session, the client that it belongs to, and the record of what its model was shown."""

    def __init__(self, client: HttpClient, record: Path, session_id: str) -> None:
        self.client = client
        self.session_id = session_id
        self._record = record

    @classmethod
    async def begin(cls, client: HttpClient, record: Path) -> "Session":
        return cls(client, record, (await client.create_session()).session_id)

    async def clear(self) -> "Session":
        return Session(self.client, self._record, (await self.client.clear(self.session_id)).session_id)

    @property
    def shown(self) -> list[Shown]:
        """Every request of this session that its model was shown, oldest first."""
        lines = self._record.read_bytes().splitlines() if self._record.exists() else []
        rows = [json.loads(line) for line in lines]
        return [Shown(row["tools"], row["body"]) for row in rows if row["session_id"] == self.session_id]

    async def send(self, text: str) -> events.RunEnded:
        """Run a prompt to its end."""
        async with aclosing(self.client.prompt(self.session_id, text)) as told:
            last = [event async for event in told][-1]
        assert isinstance(last, events.RunEnded)
        return last

    async def typed(self, text: str) -> str:
        """What the model is shown as the user's message for a typed text."""
        before = len(self.shown)
        await self.send(text)
        return self.shown[before].messages[-1]["content"]

    async def called(self, text: str) -> Told:
        """What the model is shown as the result of the tool call that it makes for this text."""
        await self.send(text)
        message = self.shown[-1].messages[-1]
        assert message["role"] == "tool", f"the model called nothing: {message}"
        return Told(message["content"], message["is_error"])

    async def load(self, name: str) -> Told:
        """What the model is shown when it calls `Skill` with this name."""
        return await self.called(f"use the skill {name}")

    async def reload(self) -> SkillsReload:
        return await self.client.reload_skills(self.session_id)

    async def palette(self) -> dict[str, str]:
        """Names and descriptions."""
        return {row.name: row.description for row in (await self.client.commands(self.session_id)).commands}

    async def everything(self) -> tuple[bytes, ...]:
        """All that a reload may move, as the wire carries it: palette, table, listing, and what the model is told."""
        client, session_id = self.client, self.session_id
        return (
            (await client.commands(session_id)).to_json(),
            (await client.expansions(session_id)).to_json(),
            (await client.skills(session_id)).to_json(),
            (await client.model_view(session_id)).to_json(),
            (await client.session(session_id)).to_json(),
        )


@asynccontextmanager
async def plain_http(address: str, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """HTTP without our client, for the bytes that are on the wire."""
    transport = httpx.AsyncHTTPTransport(uds=address.removeprefix("unix:"), verify=False)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(transport=transport, base_url="http://server", headers=headers) as client:
        yield client
