"""What a model sees of the tools, and the bytes it sees them as."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the model is told of it. `input_schema` is JSON Schema, as JSON text."""

    name: str
    description: str
    input_schema: str

    @classmethod
    def of(cls, name: str, description: str, schema: Mapping[str, object]) -> "ToolSpec":
        """Make a specification from a schema; its key order is kept, for it is part of the bytes."""
        return cls(name, description, _canonical(schema))


@dataclass(frozen=True)
class ToolArray:
    """The tools array in its order. Two arrays are the same when their bytes are."""

    specs: tuple[ToolSpec, ...]

    @cached_property
    def canonical(self) -> bytes:
        """The `tools` member, serialised once: UTF-8 JSON, no white space, keys in the order of the type."""
        rows = (
            f'{{"name":{_canonical(spec.name)},"description":{_canonical(spec.description)},'
            f'"input_schema":{spec.input_schema}}}'
            for spec in self.specs
        )
        return f"[{','.join(rows)}]".encode()

    @cached_property
    def sha256(self) -> str:
        """The digest of the canonical bytes, in hex."""
        return hashlib.sha256(self.canonical).hexdigest()


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
