"""The skill protocol's value types: what listings carry and how failures are told. All are frozen."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class SkillErrorType(StrEnum):
    """Every kind of skill failure."""

    SKILL_NOT_FOUND = "skill_not_found"
    RESOLUTION_FAILURE = "resolution_failure"
    CYCLE_DETECTED = "cycle_detected"
    TOOL_ACTIVATION_FAILURE = "tool_activation_failure"
    TOOL_EXECUTION_FAILURE = "tool_execution_failure"
    VALIDATION_ERROR = "validation_error"
    PERMISSION_DENIED = "permission_denied"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class SkillError(_Frozen):
    """A failure, told in full: its kind, the skill it began with, and what a reader can do about it."""

    error_type: SkillErrorType
    message: str
    details: dict[str, Any] = Field(default_factory=dict)
    """Diagnostic context under closed keys; never a path."""
    skill_name: str
    tool_name: str | None = None


class SkillCapabilitySummary(_Frozen):
    """Counts of a skill's tools by what they may do."""

    total: int = 0
    read_only_tools: int = 0
    write_tools: int = 0
    has_side_effects: bool = False


class SkillMetadata(_Frozen):
    """A skill as a catalogue shows it. `name` is namespaced, as in `user/code-review`."""

    name: str
    description: str
    version: str = "0.0.0"
    tool_count: int = 0
    capability_summary: SkillCapabilitySummary = SkillCapabilitySummary()
    source_types: list[str] = Field(default_factory=list)
    writes: bool = False
    read_only: bool = True
