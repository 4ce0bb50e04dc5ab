"""The directory source: everything that one root holds, in a fixed order, as one immutable listing."""

import errno
import os
from dataclasses import dataclass, field

from server_stub.skills.cache import ParsedFile, ParsedSkills
from server_stub.skills.diagnostic import NearMiss, Skipped, SourceFault
from server_stub.skills.nested import FOLDER_FLAGS
from server_stub.skills.scan import PastDeadline, Scan, is_within
from server_stub.skills.skill import Skill
from server_stub.skills.tier import Tier

_NO_FOLDER = frozenset([errno.ENOENT, errno.ENOTDIR])


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source holds, each part in sorted path order."""

    skills: tuple[Skill, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    notices: tuple[str, ...] = ()
    parsed: dict[str, ParsedFile] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class DirectorySource:
    """One root folder of one tier.

    `root` is a real path; `label` names it for people, without a path. Links are followed to anywhere unless
    `confined_to`, a real path too, is given.
    """

    root: str
    origin: Tier
    label: str
    confined_to: str = ""
    is_expected: bool = False
    """Whether a missing root is worth a notice: the operator named it."""

    def list(self, cache: ParsedSkills, deadline: float) -> Listing | SourceFault:
        """Read the whole source before `deadline`, in monotonic seconds."""
        if self.confined_to and not is_within(self.root, self.confined_to):
            return Listing(notices=(f"{self.label} leads out of the workspace and is not followed",))
        try:
            descriptor = os.open(self.root, FOLDER_FLAGS)
        except OSError as error:
            if os.path.islink(self.root):  # although it is a real path: its links lead round
                return self._fault("cannot be listed: too many levels of links")
            if error.errno in _NO_FOLDER:
                return Listing(notices=self._say_empty())
            return self._fault(f"cannot be listed: {_say(error)}")
        scan = Scan(self.root, self.origin, self.confined_to, cache, deadline)
        try:
            scan.whole(descriptor)
        except OSError as error:
            return self._fault(f"cannot be read: {_say(error)}")
        except PastDeadline:
            return self._fault("took too long to read")
        finally:
            os.close(descriptor)
        return Listing(tuple(scan.skills), tuple(scan.skipped), tuple(scan.near_misses), parsed=scan.parsed)

    def _fault(self, reason: str) -> SourceFault:
        return SourceFault(self.origin, self.label, reason)

    def _say_empty(self) -> tuple[str, ...]:
        if os.path.lexists(self.root):
            return (f"{self.label} is not a folder; it holds no skills",)
        return (f"{self.label} does not exist; it holds no skills",) if self.is_expected else ()


def _say(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else "unknown error"
