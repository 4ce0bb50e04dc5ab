"""The transcript on a screen: what it says, what stays where it is, and what can be copied."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import Input

from mecatui.widgets.column import Column
from mecatui.widgets.column_view import ColumnView
from mecatui.widgets.conversation import Conversation
from mecatui.widgets.rows import Paper, frozen_text, row_text
from mecatui.widgets.transcript import Transcript

_HOSTILE = (
    "[/oops] [@click=app.quit]x[/] \x1b]8;;http://evil\x1b\\link\x1b[0m \x1b[2J user\u202etxt.exe "
    "e\u0301 你好 👨\u200d👩\u200d👧"
)
_MARKDOWN = """\
Some **bold** text with a [ref].

- one

- two

```python
x = 1

y = 2
```

| a | b |
|---|---|
| 1 | 2 |

A setext
===

[ref]: https://defined.later/
"""


class TranscriptApp(App[None]):
    """A transcript over an input, as on the chat screen."""

    def __init__(self) -> None:
        super().__init__()
        self.unseen: list[int] = []
        self.followed: list[bool] = []
        self.chosen: list[frozenset[str]] = []

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield Input()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_names_chosen(self, message: Transcript.NamesChosen) -> None:
        self.chosen.append(message.names)

    def on_transcript_unseen(self, message: Transcript.Unseen) -> None:
        self.unseen.append(message.count)

    def on_column_view_follow_changed(self, message: ColumnView.FollowChanged) -> None:
        self.followed.append(message.following)


async def _settled(pilot: Pilot[None], transcript: Transcript) -> None:
    """All frames that are due are drawn, and all blocks out of sight with them."""
    await pilot.pause()
    await transcript.drawn()
    await pilot.pause()


def _shown(transcript: Transcript) -> list[str]:
    """The lines in sight."""
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def _all_rows(transcript: Transcript) -> list[str]:
    return [frozen_text(row).rstrip() for entry in transcript.column.entries for row in entry.rows]


async def test_transcript_shows_each_kind_of_thing_literally() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 30)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("/code-review src/auth.py")
        transcript.add_tool("1", "Skill code-review")
        transcript.finish_tool("1", ok=True, summary="1.2 kB", detail="body")
        transcript.add_tool("2", "Bash [/oops]")
        transcript.append_reasoning("Let me see.")
        transcript.append_text("Two **problems**.")
        transcript.end_text()
        transcript.add_notice("Reloaded 14 skills.\nThe model still sees its list.", level="success")
        transcript.add_notice("Refused.", level="warning")
        await _settled(pilot, transcript)
        assert [line for line in _shown(transcript) if line] == [
            "┃ /code-review src/auth.py",
            "▸ ✓ Skill code-review  1.2 kB",
            "▸ … Bash [/oops]",
            "  Let me see.",
            "  Two problems.",
            "✓ Reloaded 14 skills.",
            "  The model still sees its list.",
            "! Refused.",
        ]
        assert transcript.text == (
            "/code-review src/auth.py\n▸ ✓ Skill code-review  1.2 kB\n▸ … Bash [/oops]\nLet me see.\n"
            "Two **problems**.\nReloaded 14 skills.\nThe model still sees its list.\nRefused."
        )


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (250, 50)])
async def test_hostile_text_is_literal_on_every_surface(size: tuple[int, int]) -> None:
    app = TranscriptApp()
    async with app.run_test(size=size) as pilot:
        transcript = app.transcript
        transcript.add_prompt(_HOSTILE)
        transcript.add_notice(_HOSTILE, level="error")
        transcript.add_tool("1", _HOSTILE, _HOSTILE)
        transcript.finish_tool("1", ok=False, summary=_HOSTILE, detail=_HOSTILE)
        transcript.append_reasoning(_HOSTILE)
        transcript.append_text(_HOSTILE)
        transcript.end_text()
        await _settled(pilot, transcript)
        for y in range(transcript.size.height):
            strip = transcript.render_line(y)
            assert strip.cell_length == transcript.scrollable_content_region.width
            assert "\x1b" not in strip.text
            assert "\u202e" not in strip.text
            assert not any(segment.style and segment.style.link for segment in strip)
            assert not any(segment.style and "@click" in segment.style.meta for segment in strip)
        rows = "".join(_all_rows(transcript))
        assert rows.count("[/oops]") >= 4
        assert app.is_running


def _drawn(pieces: list[str], width: int) -> tuple[list[list[Segment]], str]:
    column = Column()
    column.use(Paper(width, {look: Style(bold=True) for look in Transcript.LOOKS}))
    said = Conversation(column)
    for piece in pieces:
        said.append("answer", piece)
        if len(pieces) > 1:
            said.absorb()
        for entry in column.entries:
            column.draw(entry)
    said.end_text()
    for entry in column.entries:
        column.draw(entry)
    return [column.inks.thaw(row) for entry in column.entries for row in entry.rows], said.text


@given(st.lists(st.integers(0, len(_MARKDOWN)), max_size=20), st.sampled_from([30, 80]))
def test_streamed_text_ends_as_if_it_had_come_whole(cuts: list[int], width: int) -> None:
    pieces = [_MARKDOWN[start:end] for start, end in pairwise([0, *sorted(cuts), len(_MARKDOWN)])]
    rows, text = _drawn(pieces, width)
    assert (rows, text) == _drawn([_MARKDOWN], width)
    assert "(https://defined.later/)" in "".join(map(row_text, rows))


class CountingTranscript(Transcript):
    """Counts its frames."""

    frames = 0

    def take_in(self) -> None:
        self.frames += 1
        super().take_in()


class CountingApp(App[None]):
    def compose(self) -> ComposeResult:
        yield CountingTranscript()


async def test_many_deltas_are_drawn_in_few_frames() -> None:
    app = CountingApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.query_one(CountingTranscript)
        await _settled(pilot, transcript)
        transcript.frames = 0
        for index in range(300):
            transcript.append_text(f"word{index} ")
        await _settled(pilot, transcript)
        assert transcript.frames <= 2
        assert "word299" in "".join(_shown(transcript))


async def test_finished_blocks_are_not_drawn_again_while_text_arrives() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        for index in range(30):
            transcript.append_text(f"Paragraph {index}.\n\n")
        await _settled(pilot, transcript)
        before = {entry: entry.version for entry in transcript.column.entries[:-1]}
        transcript.append_text("And more of it.\n\nAnd more.")
        await _settled(pilot, transcript)
        assert all(entry.version == version for entry, version in before.items())


async def test_no_timer_is_left_when_nothing_arrives() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.transcript.append_text("text\n\n" * 50)
        app.transcript.end_text()
        await _settled(pilot, app.transcript)
        assert not [timer for timer in app.transcript._timers if timer._task is not None and not timer._task.done()]


async def test_transcript_follows_its_end_until_someone_scrolls_up() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        transcript = app.transcript
        for index in range(40):
            transcript.add_notice(f"line {index}")
        await _settled(pilot, transcript)
        assert _shown(transcript)[-1] == "· line 39"
        transcript.scroll_to(y=5, animate=False)
        await _settled(pilot, transcript)
        seen = _shown(transcript)
        assert app.followed == [False]
        transcript.add_notice("new one")
        transcript.append_text("new text\n\nof two paragraphs")
        await _settled(pilot, transcript)
        assert _shown(transcript) == seen
        assert app.unseen[-1] == 2
        transcript.follow()
        await _settled(pilot, transcript)
        assert _shown(transcript)[-1] == "  of two paragraphs"
        assert (app.followed, app.unseen[-1]) == ([False, True], 0)


async def test_scrolling_back_to_the_end_follows_again() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        transcript = app.transcript
        for index in range(40):
            transcript.add_notice(f"line {index}")
        await _settled(pilot, transcript)
        transcript.scroll_relative(y=-3, animate=False)
        transcript.add_notice("below")
        await _settled(pilot, transcript)
        transcript.scroll_end(animate=False)
        await _settled(pilot, transcript)
        assert transcript.following
        assert app.unseen == [1, 0]


async def test_the_first_line_in_sight_stays_when_the_width_changes() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(100, 14)) as pilot:
        transcript = app.transcript
        for index in range(60):
            transcript.append_text(f"Paragraph {index} " + "goes on and on " * 12 + "\n\n")
        transcript.end_text()
        await _settled(pilot, transcript)
        entry = transcript.column.entries[30]
        transcript.scroll_to(y=transcript.column.start(30) + 1, animate=False)
        await _settled(pilot, transcript)
        assert _shown(transcript)[0].startswith("  Paragraph 30 ")
        await pilot.resize_terminal(44, 14)
        await _settled(pilot, transcript)
        assert _shown(transcript)[0].startswith("  Paragraph 30 ")
        assert transcript.column.entries[30] is entry
        assert transcript.virtual_size.height == sum(len(entry.rows) for entry in transcript.column.entries)
        assert max(len(row) for row in _all_rows(transcript)) <= 44


async def test_a_following_transcript_shows_its_end_after_a_resize() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(100, 14)) as pilot:
        for index in range(60):
            app.transcript.append_text(f"Paragraph {index} " + "goes on and on " * 12 + "\n\n")
        await _settled(pilot, app.transcript)
        for size in ((40, 12), (200, 50), (80, 24)):
            await pilot.resize_terminal(*size)
            await _settled(pilot, app.transcript)
            assert app.transcript.following
            assert any("Paragraph 59" in line for line in _shown(app.transcript))


async def test_history_out_of_sight_is_not_drawn_before_the_first_frame() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        for index in range(200):
            transcript.add_prompt(f"question {index}")
            transcript.append_text(f"Answer **{index}**.\n\n" * 20)
            transcript.end_text()
        transcript._frame()
        drawn = [entry for entry in transcript.column.entries if entry.drawn_on is not None]
        assert len(drawn) < 30
        assert any("Answer 199" in line for line in _shown(transcript))
        await _settled(pilot, transcript)
        assert all(entry.drawn_on is not None for entry in transcript.column.entries)


async def test_notices_between_deltas_do_not_cut_the_text() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.append_text("First.\n\n```\ncode\n")
        transcript.add_notice("Skills changed on disk.")
        transcript.append_text("\nmore\n```\n")
        transcript.end_text()
        await _settled(pilot, transcript)
        assert transcript.text == "First.\nSkills changed on disk.\n```\ncode\n\nmore\n```"


async def test_a_live_text_of_any_size_is_drawn_by_its_new_lines_only() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.append_text("```python\n")
        for index in range(2_000):
            transcript.append_text(f"value_{index} = {index}\n")
            if not index % 100:
                transcript._frame()
        await _settled(pilot, transcript)
        assert any("value_1999" in line for line in _shown(transcript))
        transcript.end_text()
        await _settled(pilot, transcript)
        assert any("value_1999" in line for line in _shown(transcript))


async def test_clear_empties_the_transcript() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("hello")
        transcript.append_text("never ended")
        transcript.clear()
        await _settled(pilot, transcript)
        assert transcript.text == ""
        assert not any(_shown(transcript))
        transcript.append_text("new")
        await _settled(pilot, transcript)
        assert transcript.text == "new"


async def test_text_can_be_selected_with_the_mouse_and_copied() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("ask 你好")
        transcript.append_text("The answer is *forty-two*, really.\n\nSecond paragraph.")
        transcript.end_text()
        await _settled(pilot, transcript)
        await pilot.mouse_down(transcript, offset=(3, 2))
        await pilot.hover(transcript, offset=(13, 4))
        await pilot.mouse_up(transcript, offset=(13, 4))
        await pilot.pause()
        assert app.screen.get_selected_text() == "The answer is forty-two, really.\n\nSecond para"
        highlighted = [segment.text for segment in transcript.render_line(4) if segment.style and segment.style.bgcolor]
        assert "Second par" in "".join(highlighted)


async def test_everything_can_be_selected_at_once() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(30, 12)) as pilot:
        transcript = app.transcript
        for index in range(30):
            transcript.append_text(f"Paragraph {index}\n\n")
        transcript.end_text()
        await pilot.pause()
        selected = transcript.get_selection(Selection(None, None))
        assert selected is not None
        assert selected[0].replace("\n\n", "|").startswith("Paragraph 0|Paragraph 1|")
        assert selected[0].endswith("Paragraph 29")
        part = transcript.get_selection(Selection(Offset(2, 0), Offset(6, 0)))
        assert part == ("Para", "\n")


async def test_a_change_of_theme_is_drawn() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        app.transcript.append_text("# Heading")
        app.transcript.end_text()
        await _settled(pilot, app.transcript)
        before = app.transcript.render_line(0)
        app.theme = "textual-light"
        await pilot.pause()
        await _settled(pilot, app.transcript)
        after = app.transcript.render_line(0)
        assert after.text == before.text
        assert [segment.style for segment in after] != [segment.style for segment in before]


async def test_a_huge_prompt_is_shown_in_short_and_kept_whole() -> None:
    app = TranscriptApp()
    prompt = "line\n" * 3_500
    async with app.run_test(size=(80, 50)) as pilot:
        app.transcript.add_prompt(prompt)
        app.transcript.add_prompt("x" * 130_000)
        await _settled(pilot, app.transcript)
        rows = _all_rows(app.transcript)
        assert "┃ … 3,471 more lines not shown" in rows
        assert "┃ … 126,000 more characters not shown" in rows
        assert len(rows) < 120
        assert app.transcript.text.startswith(prompt.rstrip())


async def test_a_notice_too_tall_for_the_screen_is_shown_from_its_head() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(40, 12)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("/reload-skills")
        for number in range(5):
            transcript.add_notice(f"before {number}")
        transcript.add_notice("\n".join(f"line {number}" for number in range(20)), level="success")
        await _settled(pilot, transcript)
        assert _shown(transcript)[0] == "✓ line 0"
        transcript.add_prompt("go on")
        await _settled(pilot, transcript)
        assert _shown(transcript)[-1] == "┃ go on"


async def test_a_tall_notice_moves_nothing_while_a_person_reads_back() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(40, 12)) as pilot:
        transcript = app.transcript
        for number in range(40):
            transcript.add_notice(f"before {number}")
        await _settled(pilot, transcript)
        transcript.scroll_to(y=3, animate=False)
        await _settled(pilot, transcript)
        transcript.add_notice("\n".join(f"line {number}" for number in range(20)))
        await _settled(pilot, transcript)
        assert _shown(transcript)[0] == "· before 3"


async def test_only_a_notice_about_names_can_be_chosen_by_key_and_by_click() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 12)) as pilot:
        transcript = app.transcript
        transcript.add_notice("plain")
        transcript.add_notice("Reloaded.\nadded: a", level="success", names=frozenset({"a"}))
        await _settled(pilot, transcript)
        transcript.focus()
        await pilot.press("up", "enter")
        await _settled(pilot, transcript)
        assert _shown(transcript)[:3] == ["· plain", "› Reloaded.", "  added: a"]
        await pilot.click(Transcript, offset=(4, 0))
        await pilot.click(Transcript, offset=(4, 2))
        await pilot.click(Transcript, offset=(4, 1))
        await pilot.pause()
        assert app.chosen == [frozenset({"a"})] * 2
