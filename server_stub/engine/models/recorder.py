"""What the offline model was shown, kept exactly as it was shown it."""

import hashlib
import json
from pathlib import Path

from server_stub.engine.conversation import AssistantMessage, Message, ToolMessage, UserMessage
from server_stub.engine.models.model import ModelRequest
from server_stub.errors import ServerError


class RecordUnusable(ServerError):
    """The file for the record cannot be written; the text says why."""


def as_shown(message: Message) -> dict[str, object]:
    """A message as the offline dialect carries it."""
    match message:
        case UserMessage(text=text):
            return {"role": "user", "content": text}
        case AssistantMessage(text=text, tool_requests=requests):
            calls = [{"id": call.call_id, "name": call.name, "args": dict(call.args)} for call in requests]
            return {"role": "assistant", "content": text, "tool_calls": calls}
        case ToolMessage(call_id=call_id, content=content, is_error=is_error):
            return {"role": "tool", "call_id": call_id, "content": content, "is_error": is_error}


def body_of(request: ModelRequest) -> bytes:
    """The whole request as one JSON object; its `tools` member holds the request's bytes untouched."""
    head = json.dumps({"system": request.system}, ensure_ascii=False)[1:-1].encode()
    messages = json.dumps([as_shown(message) for message in request.messages], ensure_ascii=False).encode()
    return b'{"tools":' + request.tools + b"," + head + b',"messages":' + messages + b"}"


class Recorder:
    """Appends one line per request to a file: the session, the turn, and the body's bytes as text."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def open(cls, path: Path) -> "Recorder":
        """A recorder on a file, made where there is none.

        Raises:
            RecordUnusable: it cannot be written.
        """
        try:
            path.open("a").close()
        except OSError as unwritten:
            raise RecordUnusable(f"cannot write to the record {path}: {unwritten.strerror}") from unwritten
        return cls(path)

    def record(self, request: ModelRequest, body: bytes) -> None:
        """Write one request down before it is answered."""
        line = {
            "session_id": request.session_id,
            "turn": request.turn,
            "tools": request.tools.decode(),
            "tools_sha256": hashlib.sha256(request.tools).hexdigest(),
            "body": body.decode(),
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
