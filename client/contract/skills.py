"""Skills as people see them: the listing, one body, and the answer of a reload."""

from client.contract.base import Response, WireStrEnum


class ReloadStatus(WireStrEnum):
    """What a reload found."""

    UNKNOWN = ""
    RELOADED = "reloaded"
    UNCHANGED = "unchanged"


class SkillsReload(Response):
    """The answer of `POST …/skills-reload`: counts and a status, whatever the inventory holds."""

    status: ReloadStatus = ReloadStatus.UNKNOWN
    generation: int = 0
    skills: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    skipped: int = 0
    shadowed: int = 0


class CapabilitySummary(Response):
    """Counts of a skill's tools by what they may do."""

    total: int = 0
    read_only_tools: int = 0
    write_tools: int = 0
    has_side_effects: bool = False


class SkillMetadata(Response):
    """The skill protocol's descriptor, always sent whole."""

    name: str = ""
    description: str = ""
    version: str = "0.0.0"
    tool_count: int = 0
    capability_summary: CapabilitySummary = CapabilitySummary()
    source_types: tuple[str, ...] = ()
    writes: bool = False
    read_only: bool = True


class SkillRow(Response):
    """One skill of a listing. `name` is its identity: what `/name` and the `Skill` tool accept."""

    name: str = ""
    description: str = ""
    agent_owned: bool = False
    owner_agent: str = ""
    active_version: str = ""
    origin: str = ""
    """The tier that it came from: `explicit`, `project`, `user` or `learned`."""
    advertised: bool = False
    """The model was told of this name."""
    description_stale: bool = False
    """The model was told another description than this one."""
    in_inventory: bool = False
    """A name that is advertised but gone is still a row, with this false."""
    user_invocable: bool = False
    model_invocable: bool = False
    body_sha256: str = ""
    body_bytes: int = 0
    warnings: tuple[str, ...] = ()
    """Plain sentences; the skill works all the same."""
    metadata: SkillMetadata | None = None


class SkippedRow(Response):
    """A skill that was left out, and why."""

    name: str = ""
    origin: str = ""
    code: str = ""
    reason: str = ""


class ShadowedRow(Response):
    """A skill that lost its name to one of an earlier tier."""

    name: str = ""
    origin: str = ""
    by: str = ""
    """The tier of the winner."""


class NearMissRow(Response):
    """Something that looks like a skill but is not where one is looked for."""

    name: str = ""
    origin: str = ""
    fix: str = ""


class SkillListing(Response):
    """The answer of `GET /v1/skills`, sorted by name."""

    generation: int = 0
    skills: tuple[SkillRow, ...] = ()
    skipped: tuple[SkippedRow, ...] = ()
    shadowed: tuple[ShadowedRow, ...] = ()
    near_misses: tuple[NearMissRow, ...] = ()
    withheld: int = 0
    """Folders of an untrusted project tier; none of their files was opened."""
    notices: tuple[str, ...] = ()
    """Sentences about the resolution as a whole, such as a source that could not be read at start-up."""


class AssetRow(Response):
    """A file bundled with a skill."""

    name: str = ""
    """Slash-relative to the skill's folder."""
    size: int = 0


class SkillDetail(Response):
    """One skill whole, for its owner."""

    name: str = ""
    generation: int = 0
    declared_name: str = ""
    description: str = ""
    origin: str = ""
    body: str = ""
    assets: tuple[AssetRow, ...] = ()
    tools: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    path: str = ""
    """Its SKILL.md; over the UNIX socket only."""
