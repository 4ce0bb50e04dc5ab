"""Parsing: the bytes of one SKILL.md to a skill, or to the reason why there is none."""

from pathlib import Path
from typing import NamedTuple

from server_stub.skills.diagnostic import SkipCode, Skipped
from server_stub.skills.document import FILE_NAME, Document, split_document
from server_stub.skills.fields import Fields
from server_stub.skills.frontmatter import read_mapping
from server_stub.skills.identity import identify
from server_stub.skills.plain import read_plain
from server_stub.skills.rejected import Rejected
from server_stub.skills.repair import repair
from server_stub.skills.skill import Skill
from server_stub.skills.text import clean_line, clip_graphemes
from server_stub.skills.tier import Tier
from server_stub.skills.warning import SkillWarning, WarningCode

LONGEST_DESCRIPTION = 1024
"""Characters of a description that the model is shown; a longer one is kept for people."""

_LONGEST_SHOWN_NAME = 200


def parse_skill(raw: bytes, *, folder_name: str, folder: str, origin: Tier) -> Skill | Skipped:
    """Read a skill. Whatever the bytes are, the answer is a value.

    `folder_name` is the name by which the folder was found, `folder` its real path.
    """
    shown = clean_line(folder_name if folder_name.isascii() else folder_name.encode(errors="replace").decode())
    try:
        document = split_document(raw)
        return _build(document, _read(document), shown, folder, origin)
    except Rejected as rejected:
        name = clip_graphemes(shown, _LONGEST_SHOWN_NAME) or "(unnamed)"
        return Skipped(name, origin, rejected.code, rejected.reason, Path(folder, FILE_NAME))


def _read(document: Document) -> Fields:
    plain = read_plain(document.frontmatter)
    if plain is not None:
        return Fields(plain, [])
    try:
        mapping, warnings = read_mapping(document.frontmatter)
    except Rejected as failure:
        if failure.code is not SkipCode.INVALID_YAML:
            raise
        mapping, warnings = repair(document.frontmatter, failure)
    return Fields(mapping, warnings)


def _build(document: Document, fields: Fields, folder_name: str, folder: str, origin: Tier) -> Skill:
    declared = fields.line("name")
    name, name_warnings = identify(declared, folder_name)
    description = fields.text("description")
    if not description:
        raise Rejected(SkipCode.NO_DESCRIPTION, "the `description` is missing or blank")
    fields.warnings += name_warnings + _about_text(description, document.hidden + fields.hidden)
    options = _read_options(fields) if fields.has_options else _NO_OPTIONS
    return Skill(
        name=name,
        declared_name=declared,
        description=description,
        body=document.body,
        origin=origin,
        folder=folder,
        license=fields.line("license"),
        compatibility=options.compatibility,
        version=fields.version(),
        argument_hint=options.argument_hint,
        arguments=options.arguments,
        user_invocable=options.user_invocable,
        model_invocable=options.model_invocable,
        allowed_tools=options.allowed_tools,
        includes=options.includes,
        warnings=tuple(fields.warnings),  # last: reading the others adds to them
    )


class _Options(NamedTuple):
    """The parts that few skills have."""

    compatibility: str = ""
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    user_invocable: bool = True
    model_invocable: bool = True
    allowed_tools: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


_NO_OPTIONS = _Options()


def _read_options(fields: Fields) -> _Options:
    return _Options(
        compatibility=fields.line("compatibility"),
        argument_hint=fields.hint("argument-hint"),
        arguments=fields.variables("arguments"),
        user_invocable=fields.flag("user-invocable", default=True),
        model_invocable=not fields.flag("disable-model-invocation", default=False),
        allowed_tools=fields.tools(),
        includes=fields.names("includes"),
    )


def _about_text(description: str, hidden: tuple[str, ...]) -> list[SkillWarning]:
    warnings = []
    if len(description) > LONGEST_DESCRIPTION:
        reason = f"the description is longer than {LONGEST_DESCRIPTION} characters; the model is shown its beginning"
        warnings.append(SkillWarning(WarningCode.DESCRIPTION_LONG, reason))
    if hidden:
        reason = f"it holds characters that a reader cannot see: {', '.join(dict.fromkeys(hidden))}"
        warnings.append(SkillWarning(WarningCode.HIDDEN_CHARACTERS, reason))
    return warnings
