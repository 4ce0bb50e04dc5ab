"""The two kinds of wire value: requests, decoded strictly, and responses, read leniently."""

from enum import IntEnum, StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict


class Response(BaseModel):
    """A value the server answers with. Unknown fields are ignored, a missing one has its zero value."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def to_json(self) -> bytes:
        """The wire form: UTF-8 JSON without zero values and empty lists."""
        # What `model_dump_json` does, without a way round by text: rows and events are written by the thousand.
        return self.__pydantic_serializer__.to_json(self, exclude_defaults=True)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """Read the wire form.

        Raises:
            pydantic.ValidationError: the bytes are not JSON, or a known field has the wrong type.
        """
        return cls.model_validate_json(data)


class Request(BaseModel):
    """A value the client sends. An unknown field is an error (400 `invalid_argument`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> bytes:
        """The wire form: UTF-8 JSON without zero values and empty lists."""
        # What `model_dump_json` does, without a way round by text: rows and events are written by the thousand.
        return self.__pydantic_serializer__.to_json(self, exclude_defaults=True)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """Read the wire form.

        Raises:
            pydantic.ValidationError: the bytes are not JSON, or a field is unknown or has the wrong type.
        """
        return cls.model_validate_json(data)


class WireIntEnum(IntEnum):
    """An enum that travels as a number. A number this version does not know reads as 0, unspecified."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls(0) if isinstance(value, int) and value != 0 else None


class WireStrEnum(StrEnum):
    """An enum that travels as its word. A word this version does not know reads as "", unknown."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls("") if isinstance(value, str) and value else None
