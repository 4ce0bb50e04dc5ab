"""What a session offers a person, as values: the palette, the expansion table and the skills listing."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """One name that the server resolves after a slash: a row of the palette and of the expansion table in one."""

    name: str
    description: str = ""
    kind: str = "skill"
    """`command`, `skill` or `mcp_prompt`; empty when the server said something newer."""
    origin: str = ""
    advertised: bool = False
    argument_hint: str = ""
    read_only: bool = False
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill of the listing. `name` is its identity: what `/name` and the `Skill` tool accept."""

    name: str
    description: str = ""
    origin: str = ""
    advertised: bool = False
    """The model was told of this name."""
    description_stale: bool = False
    """The model was told another description than this one."""
    in_inventory: bool = True
    """False for a name that the model was told of and that is gone."""
    user_invocable: bool = True
    model_invocable: bool = True
    body_sha256: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def is_untold(self) -> bool:
        """Only a person can call it: the model was not told of it, though it could have been."""
        return self.in_inventory and self.model_invocable and not self.advertised

    @property
    def is_gone(self) -> bool:
        """The model was told of it, and it is no longer there."""
        return self.advertised and not self.in_inventory


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skill that was left out, and why."""

    name: str
    reason: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A skill that lost its name to one of an earlier tier."""

    name: str
    origin: str
    by: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Something that looks like a skill but is not where one is looked for, and what would mend it."""

    name: str
    fix: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The skills of one session and what was left out of them."""

    generation: int = 0
    skills: tuple[Skill, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    withheld: int = 0
    """Folders of an untrusted project tier; none of their files was opened."""
    notices: tuple[str, ...] = ()

    @property
    def has_reloaded(self) -> bool:
        """What the model was not told of may have come since; before, its list had no room for it."""
        return self.generation > 1

    def present(self) -> tuple[Skill, ...]:
        """The skills that are there, without names that only the model still knows."""
        return tuple(skill for skill in self.skills if skill.in_inventory)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What one fetch gave, installed in one assignment so that its parts never disagree."""

    commands: tuple[Command, ...] = ()
    listing: Listing = field(default_factory=Listing)


TIERS = ("explicit", "project", "user", "learned")
"""The tiers in order of precedence; `/tier/name` may name one of them."""
