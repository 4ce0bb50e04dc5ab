"""The transcript's share of each event: what is written to it when something has happened."""

from typing import assert_never

from mecatui import run_events as runs
from mecatui import session_events as ev
from mecatui.plain_text import one_line
from mecatui.screens import wording
from mecatui.session_view import Link, SessionView
from mecatui.slash.difference import difference, verdict
from mecatui.widgets.transcript import Transcript

_SUMMARY_FROM = 1000


class Feed:
    """Writes to one transcript. Called once for each accepted event, with the view from before it."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._had_session = False

    def take(self, event: ev.SessionEvent, before: SessionView) -> None:
        """Write what the event adds."""
        if isinstance(event, runs.RunEvent):
            self._take_run(event)
        elif isinstance(event, ev.ReloadEvent):
            self._take_reload(event, before)
        elif isinstance(event, ev.LinkEvent):
            self._take_link(event, before)
        elif isinstance(event, ev.InventoryEvent):
            self._take_inventory(event)
        elif isinstance(event, ev.Noticed):
            self.notice(event.level, event.text)

    def notice(self, level: ev.Level, text: str, names: frozenset[str] = frozenset()) -> None:
        """Write a line for the person; choosing it shows the skills of these names."""
        if text:
            self._transcript.add_notice(text, level=level, names=names)

    def _take_run(self, event: runs.RunEvent) -> None:
        match event:
            case runs.PromptSent(text=text):
                self._transcript.add_prompt(text)
            case runs.TextAdded(delta=delta):
                self._transcript.append_text(delta)
            case runs.ReasoningAdded(delta=delta):
                self._transcript.append_reasoning(delta)
            case runs.ToolStarted():
                self._transcript.end_text()
                self._transcript.add_tool(event.call_id, f"{event.tool} {event.target}".rstrip(), event.arguments)
            case runs.ToolFinished():
                self._finish_tool(event)
            case runs.PromptFailed(reason=reason):
                self.notice("error", f"The prompt was not taken: {one_line(reason)}")
            case runs.RunEnded() | runs.RunLost() | runs.TurnEnded():
                self._end(event)
            case runs.RunStarted() | runs.Asked() | runs.AskClosed():
                pass
            case _:
                assert_never(event)

    def _end(self, event: runs.RunEnded | runs.RunLost | runs.TurnEnded) -> None:
        self._transcript.end_text()
        match event:
            case runs.RunEnded(stop=stop, error=error):
                level, words = wording.stop_words(stop, error)
                self.notice("error" if level == "error" else "warning" if level == "warning" else "info", words)
            case runs.RunLost(reason=reason):
                self.notice("error", f"The run can no longer be followed: {one_line(reason)}")
            case runs.TurnEnded():
                pass
            case _:
                assert_never(event)

    def _finish_tool(self, event: runs.ToolFinished) -> None:
        size = len(event.content.encode(errors="replace"))
        told = f"{size / _SUMMARY_FROM:.1f} kB" if size >= _SUMMARY_FROM else f"{size} B"
        first = one_line(event.content.strip().partition("\n")[0][:200])
        self._transcript.finish_tool(
            event.call_id, ok=event.ok, summary=told if event.ok else first or "failed", detail=event.content
        )

    def _take_reload(self, event: ev.ReloadEvent, before: SessionView) -> None:
        match event:
            case ev.ReloadStarted():
                self.notice("info", "Reloading the skills of this session …")
            case ev.RefetchStarted():
                self.notice("info", "Fetching the list of commands …")
            case ev.ReloadInstalled():
                pass
            case ev.ReloadDone(inventory=inventory):
                old, new = before.inventory.listing, inventory.listing
                told = any(skill.advertised for skill in new.skills)
                change = difference(old, new)
                known = before.knows_commands
                words = verdict(change, new, model_was_told=told) if known else "The list of commands is here."
                self.notice("success", words, change.names if known else frozenset())
            case ev.ReloadRefused():
                self.notice("warning", wording.refused_words(event))
            case ev.ReloadFailed():
                self.notice("error", wording.failed_words(event))
            case ev.RefetchFailed(text=text):
                self.notice("warning", wording.refetch_failed_words(text))
            case _:
                assert_never(event)

    def _take_link(self, event: ev.LinkEvent, before: SessionView) -> None:
        match event:
            case ev.Opened():
                self.notice("info", wording.opened_words(event, again=self._had_session))
                self._had_session = True
            case ev.Cleared():
                self._transcript.clear()
                self.notice("info", "A new conversation; the model sees the skills as they are now.")
            case ev.OpenFailed(reason=reason):
                self.notice("error", wording.gone_words(reason))
            case ev.ServerGone(reason=reason):
                if before.link is not Link.GONE:
                    self._transcript.end_text()
                    self.notice("error", wording.gone_words(reason))
            case ev.ClearFailed(reason=reason):
                self.notice("error", f"The conversation was not cleared: {one_line(reason)}")
            case ev.Reopening():
                self.notice("info", "Starting the server again …")
            case ev.ClearStarted():
                pass
            case _:
                assert_never(event)

    def _take_inventory(self, event: ev.InventoryEvent) -> None:
        match event:
            case ev.InventoryInstalled(inventory=inventory):
                for text in inventory.listing.notices[:5]:
                    self.notice("warning", text)
            case ev.InventoryUnavailable(reason=reason):
                words = f"The list of commands could not be fetched: {one_line(reason)}. ctrl+r: fetch it again."
                self.notice("error", words)
            case ev.InventoryOutdated():
                self.notice("info", "Skills of this session were reloaded elsewhere. ctrl+r: fetch the list again.")
            case _:
                assert_never(event)
