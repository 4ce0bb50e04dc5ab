"""The pin: the tools bytes that a session's model was given first, and must be given ever after."""

from server_stub.engine.tool_spec import ToolArray
from server_stub.errors import PinViolated


class Pin:
    """One session's frozen tools array, and for each provider dialect its bytes as first sent.

    Created with the session and carried through every later engine, so that neither a reload nor a rebuild
    for another mode or model can move what the model was told.
    """

    __slots__ = ("_sent", "advertised", "notices", "tools")

    def __init__(self, tools: ToolArray, advertised: "dict[str, str]", notices: tuple[str, ...] = ()) -> None:
        self.tools = tools
        self.advertised = dict(advertised)
        """The names that the `Skill` tool lists, each with the description it lists."""
        self.notices = notices
        """What a person should know of that list."""
        self._sent: dict[str, bytes] = {}

    def check(self, dialect: str, array: ToolArray, tools: bytes) -> None:
        """Compare the array that an engine has, and the `tools` member of a request that is about to leave.

        Raises:
            PinViolated: the array is not the one that was pinned, or the bytes differ from those first sent in
                this dialect; the request must not be sent.
        """
        is_pinned = array.canonical == self.tools.canonical
        if not is_pinned or self._sent.setdefault(dialect, tools) != tools:
            raise PinViolated("the tools array differs from the one this session began with; the request was not sent")
