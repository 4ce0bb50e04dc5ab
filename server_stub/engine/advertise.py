"""The advertised inventory: the `Skill` tool's text, written once for a session and then only carried."""

from collections.abc import Sequence
from dataclasses import dataclass

from server_stub.engine.tool_spec import ToolSpec
from server_stub.skills.skill import Skill
from server_stub.skills.snapshot import SkillSnapshot
from server_stub.skills.text import clip_graphemes

TOOL_NAME = "Skill"

DESCRIPTION_BUDGET = 64 * 1024
"""Bytes that the whole description may take."""

LONGEST_DESCRIPTION = 1024
"""Characters of one skill's description that the model is shown."""

_SHORTEST_DESCRIPTION = 40
"""Below this a shortened description says too little; names are left out instead."""

_PREAMBLE = """\
Load a skill: written instructions for one kind of task, and the files that go with them.
Call it with the name of a skill when the task at hand is what that skill describes, before you begin the task. \
Follow the instructions that it returns. A user may also name a skill that is not listed here; load it by that name.
Give `asset` to read one of the skill's bundled text files by its listed name, `offset` to go on reading where a \
result was cut, `tool` and `input` to run one of the tools that the skill declares.

Available skills:"""

_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The skill's name, as listed or as the user gave it."},
        "asset": {"type": "string", "description": "A bundled text file, by its listed name."},
        "tool": {"type": "string", "description": "One of the skill's tools, to be run."},
        "input": {"type": "object", "description": "The input of that tool."},
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "Byte to go on from, as a cut result says.",
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Advertisement:
    """The `Skill` tool's specification, and the names that it lists with the descriptions it lists them with.

    `notices` are sentences for people on what the budget made it shorten or leave out.
    """

    spec: ToolSpec
    listed: dict[str, str]
    notices: tuple[str, ...] = ()


def advertise(snapshot: SkillSnapshot) -> Advertisement | None:
    """Write the advertised inventory of a snapshot; None when there is nothing to advertise.

    The text keeps to `DESCRIPTION_BUDGET`: descriptions are shortened first, all to the same length; then names
    are left out from the end of the order, and a last line says how many.
    """
    skills = [skill for skill in snapshot.skills if skill.model_invocable]
    if not skills:
        return None
    limit = _description_limit(skills)
    listed = {skill.name: clip_graphemes(skill.summary, limit) for skill in skills}
    lines = [f"- {name}: {description}" for name, description in listed.items()]
    kept = _lines_within(lines, DESCRIPTION_BUDGET - len(_PREAMBLE.encode()) - 80)
    left_out = len(lines) - kept
    tail = [f"(and {left_out} more that are not listed)"] if left_out else []
    text = "\n".join([_PREAMBLE, *lines[:kept], *tail])
    shortened = sum(len(skill.summary) > limit for skill in skills[:kept]) if limit < LONGEST_DESCRIPTION else 0
    notices = _say_full(shortened, left_out)
    return Advertisement(ToolSpec.of(TOOL_NAME, text, _SCHEMA), dict(list(listed.items())[:kept]), notices)


def says_the_same(told: str, summary: str) -> bool:
    """Whether a description that the model was told, perhaps shortened, is that of this summary."""
    if told == summary:
        return True
    is_shortened = told.endswith("…") and len(summary) >= len(told)
    return is_shortened and summary.startswith(told.removesuffix("…"))


def _say_full(shortened: int, left_out: int) -> tuple[str, ...]:
    said = [f"it shortens {shortened} {'description' if shortened == 1 else 'descriptions'}"] if shortened else []
    if left_out:
        said.append(f"it leaves out {left_out} {'skill' if left_out == 1 else 'skills'}, to be loaded only by name")
    return (f"the list of skills that the model is given is full: {'; '.join(said)}",) if said else ()


def _description_limit(skills: Sequence[Skill]) -> int:
    """The greatest length in characters, at most `LONGEST_DESCRIPTION`, at which all skills fit the budget."""
    room = DESCRIPTION_BUDGET - len(_PREAMBLE.encode()) - 80
    widths = [(len(skill.name.encode()) + 5, skill.summary) for skill in skills]

    def fits(limit: int) -> bool:
        return sum(fixed + len(text[:limit].encode()) + 3 for fixed, text in widths) <= room

    if fits(LONGEST_DESCRIPTION):
        return LONGEST_DESCRIPTION
    low, high = _SHORTEST_DESCRIPTION, LONGEST_DESCRIPTION
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _lines_within(lines: Sequence[str], room: int) -> int:
    for count, line in enumerate(lines):
        room -= len(line.encode()) + 1
        if room < 0:
            return count
    return len(lines)
