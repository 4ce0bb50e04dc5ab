"""The offline model's own answer: which texts it was given, by size and first heading."""

import re

from server_stub.engine.conversation import AssistantMessage, Message, ToolMessage, UserMessage

_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_HEADING_SHOWN = 80


def describe(messages: tuple[Message, ...]) -> str:
    """Say what the last user message and the tool results after it hold, in Markdown."""
    lines = []
    names: dict[str, str] = {}
    for message in _latest(messages):
        match message:
            case UserMessage(text=text, typed=typed):
                lines.append(_of_user(text, typed))
            case AssistantMessage(tool_requests=requests):
                names |= {call.call_id: f"{call.name} {call.args.get('name', '')}".strip() for call in requests}
            case ToolMessage(call_id=call_id, content=content, is_error=is_error):
                word = "an error" if is_error else "a text"
                lines.append(f"- `{_plain(names.get(call_id, 'a tool'))}` gave {word} of {_facts(content)}.")
    return "\n".join([*lines, "", "This is the offline model: it reports what it was given and does no more."])


def _latest(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    start = max((at for at, message in enumerate(messages) if isinstance(message, UserMessage)), default=0)
    return messages[start:]


def _of_user(text: str, typed: str) -> str:
    if text == typed:
        return f"- Your message has {_size(text)}."
    name = typed.split(maxsplit=1)[0] if typed.split() else typed
    return f"- `{_plain(name)}` became a text of {_facts(text)}."


def _facts(text: str) -> str:
    heading = _HEADING.search(text)
    if heading is None:
        return f"{_size(text)}, without a heading"
    return f"{_size(text)}, first heading `{_plain(heading[1])}`"


def _size(text: str) -> str:
    return f"{len(text.encode()):,} bytes"


def _plain(text: str) -> str:
    return text.replace("`", "'")[:_HEADING_SHOWN]
