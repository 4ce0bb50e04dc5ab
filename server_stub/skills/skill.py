"""A skill: one bundle of instructions as it was read, never changed afterwards."""

from dataclasses import dataclass, field
from hashlib import sha256

from server_stub.skills.tier import Tier
from server_stub.skills.warning import SkillWarning


@dataclass(frozen=True, slots=True)
class Skill:
    """What one SKILL.md says. Texts are clean: no control characters, bidi overrides or line separators.

    Two skills are equal when nothing that a person or a model can observe differs.
    """

    name: str
    """The identity: what a list shows, what `/name` and the `Skill` tool accept."""
    declared_name: str
    """The name as written, `""` when there is none."""
    description: str
    """In full; may hold line breaks."""
    body: str
    origin: Tier
    folder: str = field(compare=False)
    """The real path of the skill's folder; for its assets only."""
    license: str = ""
    compatibility: str = ""
    version: str = ""
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    user_invocable: bool = True
    model_invocable: bool = True
    allowed_tools: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    warnings: tuple[SkillWarning, ...] = ()
    _digest: str = field(default="", init=False, repr=False, compare=False)

    @property
    def body_bytes(self) -> int:
        """Length of the body in UTF-8."""
        return len(self.body) if self.body.isascii() else len(self.body.encode())

    @property
    def body_sha256(self) -> str:
        """Lower-case hex, of the body's UTF-8 bytes, worked out when it is first asked for."""
        if not self._digest:
            object.__setattr__(self, "_digest", sha256(self.body.encode()).hexdigest())
        return self._digest

    @property
    def summary(self) -> str:
        """The description on one line."""
        if "\n" in self.description or "\t" in self.description:
            return " ".join(self.description.split())
        return self.description
