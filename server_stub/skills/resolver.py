"""The resolver of one process: the same resolution at start-up and at each reload, over one cache of parsed skills."""

import logging
from dataclasses import replace

from server_stub.skills.resolve import ParsedSkills, Resolution, SkillOptions, resolve
from server_stub.skills.snapshot import SkillSnapshot

_log = logging.getLogger(__name__)


class SkillResolver:
    """Resolves the operator's sources. What it returns is immutable; only its cache moves on."""

    def __init__(self, options: SkillOptions) -> None:
        self._options = options
        self._parsed: ParsedSkills | None = None

    def __call__(self) -> Resolution:
        """Resolve the configured sources anew, trust included. Faults are in the result for the caller to judge."""
        resolution = resolve(self._options, cache=self._parsed)
        self._parsed = resolution.cache
        for skip in resolution.snapshot.skipped:
            _log.info("skipped %s skill %s: %s (%s)", skip.origin.value, skip.name, skip.reason, skip.path)
        return resolution

    def at_startup(self) -> SkillSnapshot:
        """Resolve softly: a source that cannot be read holds no skills, and a notice says so."""
        resolution = self()
        notices = []
        for fault in resolution.faults:
            _log.warning("start-up: %s skills: %s (%s)", fault.origin.value, fault.reason, fault.label)
            notices.append(f"the {fault.origin.value} skills could not be read at the start: {fault.reason}")
        return replace(resolution.snapshot, notices=(*resolution.snapshot.notices, *notices))
