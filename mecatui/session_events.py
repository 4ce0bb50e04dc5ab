"""What can happen to the session on the screen: a closed union, made by the controller and by the person's own acts.

An event that carries a `session_id` concerns that session alone; one that carries a `token` answers that request
alone. `mecatui.session_view.accepts` drops what has become stale.

They are named tuples, since all of them are made before the first frame and a frozen dataclass takes seven times as
long to make. Those without fields are plain classes: an empty tuple would be false.
"""

from typing import Literal, NamedTuple

from mecatui import run_events as runs
from mecatui.inventory import Inventory

Level = Literal["info", "success", "warning", "error"]


class Entry(NamedTuple):
    """A typed line that waits for its turn; `as_text` sends it as prose even if it looks like a command."""

    text: str
    as_text: bool = False


class Opened(NamedTuple):
    """A session is there."""

    session_id: str
    model: str = ""
    mode: str = ""
    placement: str = ""
    can_reload: bool = False


class OpenFailed(NamedTuple):
    """No session could be had."""

    reason: str


class ServerGone(NamedTuple):
    """The server ended or can no longer be reached; `reason` is its last word, as it came."""

    reason: str


class Reopening:
    """The person asked for the server again."""

    __slots__ = ()


class InventoryInstalled(NamedTuple):
    """The first palette, table and listing of a session."""

    session_id: str
    inventory: Inventory


class InventoryUnavailable(NamedTuple):
    """The first palette could not be fetched."""

    session_id: str
    reason: str


class InventoryOutdated(NamedTuple):
    """Somebody else reloaded this session's skills."""

    session_id: str
    generation: int


class EntryQueued(NamedTuple):
    """A typed line waits."""

    entry: Entry


class EntryStarted:
    """The first waiting line has its turn."""

    __slots__ = ()


class EntryTakenBack:
    """The last waiting line returned to the prompt."""

    __slots__ = ()


class SessionRead(NamedTuple):
    """What the server says of the session after a run."""

    session_id: str
    mode: str
    context: float
    title: str = ""


class TitleChanged(NamedTuple):
    """The session has another title."""

    session_id: str
    title: str


class QueueReleased:
    """The person lets a held queue go on."""

    __slots__ = ()


class ReloadStarted(NamedTuple):
    """A reload was asked for."""

    session_id: str
    token: int


class ReloadInstalled(NamedTuple):
    """The server installed fresh skills; what it now offers is being fetched."""

    session_id: str
    token: int


class ReloadRefused(NamedTuple):
    """The server refused the reload: `reason` is the wire's closed word, or empty."""

    session_id: str
    token: int
    reason: str
    text: str
    in_the_way: str = ""
    """The run or ask that is in the way."""


class ReloadFailed(NamedTuple):
    """The reload failed; the old skills still work."""

    session_id: str
    token: int
    text: str
    uncertain: bool = False
    """No answer came: whether it was carried out is not known."""


class ReloadDone(NamedTuple):
    """The reload and its refetch both succeeded."""

    session_id: str
    token: int
    inventory: Inventory


class RefetchStarted(NamedTuple):
    """What the server offers is fetched once more."""

    session_id: str
    token: int


class RefetchFailed(NamedTuple):
    """The skills are installed on the server, but the new palette could not be had."""

    session_id: str
    token: int
    text: str


class ReloadOffered:
    """A reload that was refused can be run when the session is idle, if the person says so."""

    __slots__ = ()


class OfferAnswered:
    """The person took the offer up, or it no longer stands."""

    __slots__ = ()


class ClearStarted(NamedTuple):
    """A new conversation was asked for."""

    session_id: str


class Cleared(NamedTuple):
    """A new conversation took the place of the session."""

    session_id: str
    """The session that it took the place of."""
    opened: Opened


class ClearFailed(NamedTuple):
    """The new conversation could not be had; the old one stays."""

    session_id: str
    reason: str


class Noticed(NamedTuple):
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
