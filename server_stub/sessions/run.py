"""A run: the work between a prompt and its result, and the asks that it waits for."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from server_stub.engine.conversation import ToolRequest
from server_stub.engine.events import Stop
from server_stub.engine.permissions import Verdict
from server_stub.errors import AskNotPending


@dataclass(slots=True)
class PendingAsk:
    """One approval that a person has not given yet."""

    ask_id: str
    request: ToolRequest
    answer: asyncio.Future[Verdict]


@dataclass(slots=True, eq=False)
class Run:
    """A live run. `first` is the log's cursor before its first event."""

    run_id: str
    first: int
    task: "asyncio.Task[tuple[Stop, str]] | None" = None
    asks: OrderedDict[str, PendingAsk] = field(default_factory=OrderedDict)
    seq: int = 0
    turn: int = 0

    def answer(self, ask_id: str, verdict: Verdict) -> None:
        """Give a person's answer to an open ask.

        Raises:
            AskNotPending: it was answered or retracted, or is not of this run.
        """
        ask = self.asks.get(ask_id)
        if ask is None or ask.answer.done():
            raise AskNotPending
        ask.answer.set_result(verdict)
