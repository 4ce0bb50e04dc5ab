"""Text that can be sent: a lone half of a surrogate pair, which JSON can spell and UTF-8 cannot, is replaced."""

from collections.abc import Mapping

from server_stub.engine.conversation import ToolRequest


def sound_text(text: str) -> str:
    """The text as it is where it can be sent, otherwise with its halves joined, or replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def sound_request(request: ToolRequest) -> ToolRequest:
    """A model's request with sound text in every place."""
    return ToolRequest(sound_text(request.call_id), sound_text(request.name), _sound_args(request.args))


def _sound_args(args: Mapping[str, object]) -> dict[str, object]:
    return {sound_text(key): _sound(value) for key, value in args.items()}


def _sound(value: object) -> object:
    match value:
        case str():
            return sound_text(value)
        case dict():
            return _sound_args(value)
        case list():
            return [_sound(item) for item in value]
        case _:
            return value
