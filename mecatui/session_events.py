"""What can happen to the session on the screen: a closed union, made by the controller and by the person's own acts.

An event that carries a `session_id` concerns that session alone; one that carries a `token` answers that request
alone. `mecatui.session_view.accepts` drops what has become stale.
"""

from dataclasses import dataclass
from typing import Literal

from mecatui import run_events as runs
from mecatui.inventory import Inventory

Level = Literal["info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A typed line that waits for its turn; `as_text` sends it as prose even if it looks like a command."""

    text: str
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A session is there."""

    session_id: str
    model: str = ""
    mode: str = ""
    placement: str = ""
    can_reload: bool = False


@dataclass(frozen=True, slots=True)
class OpenFailed:
    """No session could be had."""

    reason: str


@dataclass(frozen=True, slots=True)
class ServerGone:
    """The server ended or can no longer be reached; `reason` is its last word, as it came."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reopening:
    """The person asked for the server again."""


@dataclass(frozen=True, slots=True)
class InventoryInstalled:
    """The first palette, table and listing of a session."""

    session_id: str
    inventory: Inventory


@dataclass(frozen=True, slots=True)
class InventoryUnavailable:
    """The first palette could not be fetched."""

    session_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class InventoryOutdated:
    """Somebody else reloaded this session's skills."""

    session_id: str
    generation: int


@dataclass(frozen=True, slots=True)
class EntryQueued:
    """A typed line waits."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class EntryStarted:
    """The first waiting line has its turn."""


@dataclass(frozen=True, slots=True)
class EntryTakenBack:
    """The last waiting line returned to the prompt."""


@dataclass(frozen=True, slots=True)
class SessionRead:
    """What the server says of the session after a run."""

    session_id: str
    mode: str
    context: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The session has another title."""

    session_id: str
    title: str


@dataclass(frozen=True, slots=True)
class QueueReleased:
    """The person lets a held queue go on."""


@dataclass(frozen=True, slots=True)
class ReloadStarted:
    """A reload was asked for."""

    session_id: str
    token: int


@dataclass(frozen=True, slots=True)
class ReloadInstalled:
    """The server installed fresh skills; what it now offers is being fetched."""

    session_id: str
    token: int


@dataclass(frozen=True, slots=True)
class ReloadRefused:
    """The server refused the reload: `reason` is the wire's closed word, or empty."""

    session_id: str
    token: int
    reason: str
    text: str
    in_the_way: str = ""
    """The run or ask that is in the way."""


@dataclass(frozen=True, slots=True)
class ReloadFailed:
    """The reload failed; the old skills still work."""

    session_id: str
    token: int
    text: str
    uncertain: bool = False
    """No answer came: whether it was carried out is not known."""


@dataclass(frozen=True, slots=True)
class ReloadDone:
    """The reload and its refetch both succeeded."""

    session_id: str
    token: int
    inventory: Inventory


@dataclass(frozen=True, slots=True)
class RefetchStarted:
    """What the server offers is fetched once more."""

    session_id: str
    token: int


@dataclass(frozen=True, slots=True)
class RefetchFailed:
    """The skills are installed on the server, but the new palette could not be had."""

    session_id: str
    token: int
    text: str


@dataclass(frozen=True, slots=True)
class ReloadOffered:
    """A reload that was refused can be run when the session is idle, if the person says so."""


@dataclass(frozen=True, slots=True)
class OfferAnswered:
    """The person took the offer up, or it no longer stands."""


@dataclass(frozen=True, slots=True)
class ClearStarted:
    """A new conversation was asked for."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Cleared:
    """A new conversation took the place of the session."""

    session_id: str
    """The session that it took the place of."""
    opened: Opened


@dataclass(frozen=True, slots=True)
class ClearFailed:
    """The new conversation could not be had; the old one stays."""

    session_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """A line for the person."""

    level: Level
    text: str


ReloadEvent = (
    ReloadStarted | ReloadInstalled | ReloadRefused | ReloadFailed | ReloadDone | RefetchStarted | RefetchFailed
)
"""The steps of a reload."""

LinkEvent = Opened | OpenFailed | ServerGone | Reopening | ClearStarted | Cleared | ClearFailed
"""What happens between the app and the server."""

InventoryEvent = InventoryInstalled | InventoryUnavailable | InventoryOutdated
"""What happens to the palette without a reload of ours."""

EntryEvent = EntryQueued | EntryStarted | EntryTakenBack | QueueReleased | ReloadOffered | OfferAnswered
"""What the person's own entries do."""

NewsEvent = SessionRead | TitleChanged | Noticed
"""What is told and changes little."""

SessionEvent = LinkEvent | InventoryEvent | EntryEvent | runs.RunEvent | ReloadEvent | NewsEvent
"""All of them: a closed union, matched with `assert_never`."""
