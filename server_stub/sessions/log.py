"""A session's event log: replayed from a cursor, followed live, bounded in length."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import islice

from server_stub.engine.events import RunEvent

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Entry:
    """One logged event. `seq` counts within its run, from 1; `turn` is the model call it belongs to."""

    event: RunEvent
    seq: int = 0
    turn: int = 0
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Followed:
    """An entry as a follower gets it. `cursor` resumes after it; `entry` is None where entries are gone."""

    entry: Entry | None
    cursor: int
    live: bool


class EventLog:
    """Appended to by one run at a time, followed by any number of readers, each at its own pace."""

    def __init__(self, capacity: int) -> None:
        self._entries: deque[Entry] = deque(maxlen=capacity)
        self._end = 0
        self._followers: set[_Follower] = set()
        self._closed = False

    @property
    def end(self) -> int:
        """The cursor after the last entry."""
        return self._end

    def append(self, entry: Entry) -> None:
        """Log an entry and wake the followers."""
        self._entries.append(entry)
        self._end += 1
        for follower in self._followers:
            follower.wake.set()

    def tell(self, event: RunEvent) -> None:
        """Give an event to whoever follows now; it is not logged and never replayed."""
        for follower in self._followers:
            follower.told.append(Entry(event))
            follower.wake.set()

    def close(self) -> None:
        """End every follower once it has read what there is."""
        self._closed = True
        for follower in self._followers:
            follower.wake.set()

    async def follow(self, cursor: int) -> AsyncGenerator[list[Followed]]:
        """Entries from `cursor` on in batches: those there are, then those to come, until the log is closed."""
        follower = _Follower()
        self._followers.add(follower)
        live_from = self._end
        try:
            while True:
                follower.wake.clear()
                batch, cursor = self._since(cursor, live_from)
                while follower.told:
                    batch.append(Followed(follower.told.popleft(), cursor, live=True))
                if batch:
                    yield batch
                elif self._closed:
                    return
                else:
                    await follower.wake.wait()
        finally:
            self._followers.discard(follower)

    def _since(self, cursor: int, live_from: int) -> tuple[list[Followed], int]:
        """The next entries, at most `_BATCH`, and the cursor after them; a gap first where entries are gone.

        A cursor that this log has not given out yet is of another one: all there is comes, after a gap.
        """
        first = self._end - len(self._entries)
        batch = []
        if not first <= cursor <= self._end:
            cursor = first
            batch.append(Followed(None, cursor, live=False))
        for entry in islice(self._entries, cursor - first, cursor - first + _BATCH):
            cursor += 1
            batch.append(Followed(entry, cursor, live=cursor > live_from))
        return batch, cursor


class _Follower:
    """One reader: what it was told beside the log, and its alarm."""

    __slots__ = ("told", "wake")

    def __init__(self) -> None:
        self.told: deque[Entry] = deque()
        self.wake = asyncio.Event()
