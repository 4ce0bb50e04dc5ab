"""Warnings: what was unusual about a skill that works all the same."""

from dataclasses import dataclass
from enum import StrEnum


class WarningCode(StrEnum):
    """The closed list of warnings."""

    NAME_DIFFERS = "name_differs"
    NAME_MISSING = "name_missing"
    NAME_REWRITTEN = "name_rewritten"
    NAME_UNUSUAL = "name_unusual"
    NAME_LONG = "name_long"
    DESCRIPTION_LONG = "description_long"
    VALUE_AS_TEXT = "value_as_text"
    VALUE_IGNORED = "value_ignored"
    YAML_REPAIRED = "yaml_repaired"
    TAG_IGNORED = "tag_ignored"
    DUPLICATE_KEY = "duplicate_key"
    KEY_SPELLING = "key_spelling"
    HIDDEN_CHARACTERS = "hidden_characters"


@dataclass(frozen=True, slots=True)
class SkillWarning:
    """One thing that a person may want to put right; `reason` is a plain sentence without any path."""

    code: WarningCode
    reason: str
