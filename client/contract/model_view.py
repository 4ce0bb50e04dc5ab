"""What the model is told, and the proof that it did not move."""

from pydantic import Field, JsonValue

from client.contract.base import Response


class ToolSpecRow(Response):
    """One tool as the model sees it."""

    name: str = ""
    description: str = ""
    input_schema: dict[str, JsonValue] = Field(default_factory=dict)


class RequestRow(Response):
    """One model request of this session. Digests are of the bytes that left, not computed beside them."""

    turn: int = 0
    tools_sha256: str = ""
    generation: int = 0
    """The skills generation installed when it left: a step between two rows is a reload."""
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class ModelView(Response):
    """The answer of `GET …/model-view`."""

    tools_sha256: str = ""
    """The session's pin: the SHA-256 of the canonical tools array."""
    tools_bytes: int = 0
    tools: tuple[ToolSpecRow, ...] = ()
    system_sha256: str = ""
    requests: tuple[RequestRow, ...] = ()
