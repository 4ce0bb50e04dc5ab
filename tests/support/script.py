"""Scripts for the offline model, built rather than typed; `server_stub/engine/models/script.py` gives the form."""

import json
from pathlib import Path

Step = dict[str, object]
Rule = dict[str, object]


def say(text: str, *, chunk: int = 0) -> Step:
    """Answer with this text, in pieces of `chunk` characters (whole when 0)."""
    return {"text": text, "chunk": chunk}


def think(text: str) -> Step:
    """Reason aloud."""
    return {"reasoning": text}


def call(tool: str, **args: object) -> Step:
    """Call a tool."""
    return {"tool": tool, "args": args}


def ask(label: str) -> Step:
    """Ask a person to allow something that then does nothing: the session is *awaiting*."""
    return {"ask": label}


def wait_for(path: Path) -> Step:
    """Go on when this file exists: the session is *running* until a test says otherwise."""
    return {"wait_for": str(path)}


def pause(seconds: float) -> Step:
    """Wait."""
    return {"pause": seconds}


def fail(message: str) -> Step:
    """Fail as a provider would."""
    return {"fail": message}


def rule(when: str, *turns: list[Step]) -> Rule:
    """What follows a user message that holds `when`: one list of steps for each model call."""
    return {"when": when, "turns": list(turns)}


def write_script(path: Path, *rules: Rule) -> Path:
    """Write a script; the first rule that fits a message answers it."""
    path.write_text(json.dumps(rules))
    return path
