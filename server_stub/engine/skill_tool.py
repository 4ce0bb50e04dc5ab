"""The `Skill` tool: advertised once, looked up in the activation inventory at each call."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server_stub.engine.tool_spec import ToolSpec
from server_stub.engine.tools.tool import Access, ToolOutput
from server_stub.skills.assets import AssetUnavailable, list_assets, read_asset
from server_stub.skills.protocol import SkillError, SkillErrorType
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot

CALL_CAP = 25_000
"""Bytes of a body or an asset that one call returns."""

_FIRST_CONTINUATION_BYTE = 0x80
_FIRST_LEAD_BYTE = 0xC0
_ASSETS_SHOWN = 50
_NAMES_SUGGESTED = 20


@dataclass(frozen=True, slots=True)
class SkillTool:
    """Loads skills by name.

    `spec` and `advertised` are the session's pin and say what the model was told; `activation` is what a name
    loads today. Nothing here makes the first from the second.
    """

    spec: ToolSpec
    advertised: Mapping[str, str]
    activation: SkillSnapshot = field(repr=False)

    def access(self, args: Mapping[str, object]) -> Access:
        """Loading text reads; nothing else is offered yet."""
        del args
        return Access.READ

    async def run(self, args: Mapping[str, object]) -> ToolOutput:
        """Answer with the body, an asset, or an error that holds a `SkillError`."""
        name = args.get("name")
        if not isinstance(name, str) or not name:
            return _failure(SkillErrorType.VALIDATION_ERROR, "give the skill's name as `name`", skill="")
        offset = 0 if args.get("offset") is None else args["offset"]
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
            return _failure(SkillErrorType.VALIDATION_ERROR, "`offset` is a number of bytes, 0 or more", skill=name)
        skill = self.activation.find(name)
        if skill is None:
            return self._unknown(name)
        if not skill.model_invocable:
            return _failure(
                SkillErrorType.PERMISSION_DENIED,
                "this skill can only be called by the user",
                skill=skill.name,
            )
        return self._load(skill, args, offset)

    def _load(self, skill: Skill, args: Mapping[str, object], offset: int) -> ToolOutput:
        match args.get("tool"), args.get("asset"):
            case None, None if offset > skill.body_bytes:
                return _failure(
                    SkillErrorType.VALIDATION_ERROR,
                    f"`offset` is past the end: the body has {skill.body_bytes} bytes",
                    skill=skill.name,
                )
            case None, None:
                return ToolOutput(_body(skill, offset))
            case None, str(asset):
                return _asset(skill, asset, offset)
            case str(tool), None:
                return _failure(
                    SkillErrorType.TOOL_ACTIVATION_FAILURE,
                    "this skill has no such tool; its instructions are loaded by `name` alone",
                    skill=skill.name,
                    tool=tool,
                )
            case _:
                return _failure(
                    SkillErrorType.VALIDATION_ERROR,
                    "give one of `asset` and `tool`, as text",
                    skill=skill.name,
                )

    def _unknown(self, name: str) -> ToolOutput:
        """Say so, naming only skills that the model was told of and that are still there."""
        there = [known for known in self.advertised if self._may_load(known)]
        if there:
            more = f" and {len(there) - _NAMES_SUGGESTED} more" if len(there) > _NAMES_SUGGESTED else ""
            hint = f"available: {', '.join(there[:_NAMES_SUGGESTED])}{more}"
        else:
            hint = "no listed skill is available now"
        return _failure(SkillErrorType.SKILL_NOT_FOUND, f"no skill of this name is available; {hint}", skill=name)

    def _may_load(self, name: str) -> bool:
        skill = self.activation.get(name)
        return skill is not None and skill.model_invocable


def _failure(kind: SkillErrorType, message: str, *, skill: str, tool: str | None = None) -> ToolOutput:
    error = SkillError(error_type=kind, message=message, skill_name=skill[:200], tool_name=tool and tool[:200])
    return ToolOutput(error.model_dump_json(), is_error=True)


def _body(skill: Skill, offset: int) -> str:
    header = [f"Skill: {skill.name}"] if offset == 0 else [f"Skill: {skill.name}, from byte {offset}"]
    if offset == 0:
        header += _header_lines(skill)
    return "\n".join([*header, "", _cut(skill.body.encode(), offset)])


def _header_lines(skill: Skill) -> list[str]:
    lines = []
    if skill.compatibility:
        lines.append(f"Compatibility: {skill.compatibility}")
    if skill.allowed_tools:
        lines.append(f"Declared tools (no permission is given by this): {', '.join(skill.allowed_tools)}")
    assets = list_assets(skill, _ASSETS_SHOWN + 1)
    if assets:
        more = [", more not shown"] if len(assets) > _ASSETS_SHOWN else []
        shown = ", ".join(f"{name} ({size} bytes)" for name, size in assets[:_ASSETS_SHOWN])
        lines.append(f"Bundled files, read with `asset`: {shown}{''.join(more)}")
    return lines


def _cut(body: bytes, offset: int) -> str:
    """At most `CALL_CAP` bytes from `offset`, cut between characters, with a marker that names the next offset."""
    end = min(len(body), offset + CALL_CAP)
    while end < len(body) and not _starts_a_character(body[end]):
        end -= 1
    text = body[offset:end].decode(errors="ignore")
    if end >= len(body):
        return text
    return f"{text}\n\n[cut here: {len(body) - end} bytes remain; call again with offset {end}]"


def _starts_a_character(byte: int) -> bool:
    """In UTF-8 every byte but the first of a character has the form 10xxxxxx."""
    return not _FIRST_CONTINUATION_BYTE <= byte < _FIRST_LEAD_BYTE


def _asset(skill: Skill, asset: str, offset: int) -> ToolOutput:
    try:
        return ToolOutput(read_asset(skill, asset, offset, CALL_CAP))
    except AssetUnavailable as unavailable:
        return _failure(SkillErrorType.RESOLUTION_FAILURE, str(unavailable), skill=skill.name)
