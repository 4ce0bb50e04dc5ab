"""What is said in a session, in the order it is shown: entries of a column, the last of them perhaps still arriving."""

from itertools import groupby

from mecatui.plain_text import without_controls
from mecatui.widgets.blocks import Block, Level, LiveBlock, MessageBlock, NoticeBlock, PromptBlock, TextBlock, Voice
from mecatui.widgets.column import Column, Entry
from mecatui.widgets.markdown_blocks import MarkdownBlocks
from mecatui.widgets.tool_card import ToolCard

_SHORT = 8_000
"""A text up to this length that came whole is kept whole; a longer one is cut, so that it is drawn by pieces."""


class _Message:
    """One text that is arriving: its parser, its live entry, and the entries it has finished."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self.markdown = MarkdownBlocks()
        self.live = LiveBlock(self.markdown.environment, voice)
        self.finished: list[Entry] = []
        self.references = 0
        self.is_cut = False
        """Some of it went through the parser."""


class Conversation:
    """Takes what comes and keeps the column in order. Text waits until `absorb`, so that many deltas cost one."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.begun = 0
        """How many prompts, notices, cards and texts there ever were."""
        self._message: _Message | None = None
        self._live: Entry | None = None
        self._waiting: list[str] = []
        self._cards: dict[str, Entry] = {}

    @property
    def text(self) -> str:
        """All of it, unwrapped."""
        self.absorb()
        runs = groupby((entry.block for entry in self.column.entries), key=_message_of)
        texts = ("\n".join(block.text for block in run).strip("\n") for _, run in runs)
        return "\n".join(text for text in texts if text)

    def add_prompt(self, text: str) -> None:
        """The person sent something."""
        self.end_text()
        self._add(PromptBlock(text))

    def add_notice(self, text: str, level: Level, names: frozenset[str]) -> Entry:
        """The app says something. A text that is arriving goes on below it."""
        self.absorb()
        return self._add(NoticeBlock(text, level, names))

    def add_tool(self, call_id: str, title: str, detail: str) -> None:
        """A tool was called."""
        self.end_text()
        self._cards[call_id] = self._add(ToolCard(call_id, title, detail))

    def finish_tool(self, call_id: str, *, ok: bool, summary: str, detail: str) -> None:
        """A call came back; one that was never seen to begin gets its card now."""
        if call_id not in self._cards:
            self.add_tool(call_id, "tool", "")
        entry = self._cards[call_id]
        if isinstance(entry.block, ToolCard):
            entry.block.ok, entry.block.summary, entry.block.came_back = ok, summary, detail
            self.column.redraw(entry)

    def append(self, voice: Voice, delta: str) -> None:
        """More of a text."""
        if self._message is not None and self._message.voice != voice:
            self.end_text()
        if self._message is None:
            if not delta:
                return
            self._message = _Message(voice)
            self._live = self._add(self._message.live)
        self._waiting.append(delta)

    def absorb(self) -> None:
        """Take in the text that waits."""
        message, live = self._message, self._live
        if message is None or live is None or not self._waiting:
            return
        delta = "".join(self._waiting)
        self._waiting.clear()
        message.is_cut = True
        for source in message.markdown.feed(delta):
            self._finish_block(message, source, live.index)
        message.live.text = message.markdown.live
        self.column.redraw(live)
        self._resolve(message)

    def end_text(self) -> None:
        """No more of this text comes."""
        message = self._message
        if message is None:
            return
        whole = "" if message.is_cut else "".join(self._waiting)
        if len(whole) > _SHORT:
            whole = ""
        if not whole:
            self.absorb()
        self.column.remove_last()
        self._message = self._live = None
        self._waiting.clear()
        if whole:
            self._insert(MessageBlock(without_controls(whole), message.voice), len(self.column.entries))
            return
        for source in message.markdown.finish():
            self._finish_block(message, source, len(self.column.entries))
        self._resolve(message)

    def clear(self) -> None:
        """Forget everything."""
        self._message = self._live = None
        self._waiting.clear()
        self._cards.clear()
        self.column.clear()

    def _add(self, block: Block) -> Entry:
        self.begun += 1
        return self._insert(block, len(self.column.entries) if self._live is None else self._live.index)

    def _finish_block(self, message: _Message, source: str, index: int) -> None:
        block = TextBlock(source, message.markdown.environment, message.voice)
        message.finished.append(self._insert(block, index))

    def _insert(self, block: Block, index: int) -> Entry:
        before = self.column.entries[index - 1].block if index else None
        huddled = isinstance(block, ToolCard | NoticeBlock) and type(before) is type(block)
        return self.column.insert(index, block, gap=not huddled)

    def _resolve(self, message: _Message) -> None:
        """Draw blocks again that may use a link reference defined after them."""
        if message.references != message.markdown.references:
            message.references = message.markdown.references
            for entry in message.finished:
                if "[" in entry.block.text:
                    self.column.redraw(entry)


def _message_of(block: Block) -> int:
    """The same for blocks whose sources belong together."""
    return id(block.environment if isinstance(block, TextBlock | LiveBlock) else block)
