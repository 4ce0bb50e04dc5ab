"""Scripts for the offline model: what it says and does when the user's text holds a given word.

A script is a JSON list of rules, tried in order:

    [{"when": "slow", "turns": [[{"text": "one moment"}, {"wait_for": "/tmp/go"}, {"text": "done"}]]},
     {"when": "", "turns": [[{"tool": "Skill", "args": {"name": "review"}}], [{"text": "I have read it."}]]}]

The first rule whose `when` is part of the last user message answers; its first list of steps is the turn after
that message, the next one the turn after the tool results, and so on. Which steps come is decided by the
conversation alone, so a script gives the same answers in any number of sessions at once.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

from server_stub.errors import ServerError

_LONGEST_PAUSE = 24 * 60 * 60
"""Seconds."""


class ScriptInvalid(ServerError):
    """The script is not there or not of the form; the text says where it is wrong."""


class _Step(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(_Step):
    """Say this, in pieces of `chunk` characters (whole when 0)."""

    text: str
    chunk: Annotated[int, Field(ge=0)] = 0


class Reasoning(_Step):
    """Think this aloud."""

    reasoning: str


class Call(_Step):
    """Call a tool."""

    tool: str
    args: dict[str, Any] = Field(default_factory=dict)


class AskFor(_Step):
    """Call the tool that asks for permission and then does nothing; `ask` is its label."""

    ask: str


class Pause(_Step):
    """Wait for so many seconds."""

    pause: Annotated[float, Field(ge=0, le=_LONGEST_PAUSE)]


class WaitFor(_Step):
    """Wait until a file of this name exists."""

    wait_for: Path


class Fail(_Step):
    """Fail as a provider would, with this message."""

    fail: str


Step = Text | Reasoning | Call | AskFor | Pause | WaitFor | Fail
"""One thing that a scripted turn does: a closed union."""

_KINDS = {"text": "text", "reasoning": "reasoning", "tool": "tool", "ask": "ask", "pause": "pause",
          "wait_for": "wait_for", "fail": "fail"}  # fmt: skip


def _kind(value: Any) -> str:
    keys = value if isinstance(value, dict) else {}
    return next((kind for kind in _KINDS if kind in keys), "")


class Rule(_Step):
    """The turns that follow a user message which holds `when`."""

    when: str
    turns: tuple[
        tuple[
            Annotated[
                Annotated[Text, Tag("text")]
                | Annotated[Reasoning, Tag("reasoning")]
                | Annotated[Call, Tag("tool")]
                | Annotated[AskFor, Tag("ask")]
                | Annotated[Pause, Tag("pause")]
                | Annotated[WaitFor, Tag("wait_for")]
                | Annotated[Fail, Tag("fail")],
                Discriminator(
                    _kind,
                    custom_error_type="step",
                    custom_error_message=f"a step is an object with one of {', '.join(_KINDS)}",
                ),
            ],
            ...,
        ],
        ...,
    ]


_RULES = TypeAdapter(tuple[Rule, ...])


class Script:
    """A parsed script."""

    def __init__(self, rules: tuple[Rule, ...] = ()) -> None:
        self._rules = rules

    @classmethod
    def read(cls, path: Path) -> "Script":
        """Read a script file.

        Raises:
            ScriptInvalid: it cannot be read, or is not of the form.
        """
        try:
            return cls(_RULES.validate_json(path.read_bytes()))
        except OSError as unread:
            raise ScriptInvalid(f"cannot read the script {path}: {unread.strerror}") from unread
        except ValidationError as invalid:
            first = invalid.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ScriptInvalid(f"the script {path} is wrong at {place or 'its start'}: {first['msg']}") from invalid

    def steps(self, text: str, turn: int) -> tuple[Step, ...] | None:
        """The steps of the `turn`th model call (from 0) after a user message; None when no rule covers it."""
        for rule in self._rules:
            if rule.when in text:
                return rule.turns[turn] if turn < len(rule.turns) else None
        return None
