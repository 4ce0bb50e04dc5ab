"""The view as values of the widgets around the transcript."""

from mecatui.screens import wording
from mecatui.session_view import Activity, Freshness, SessionView
from mecatui.widgets.header import HeaderValues
from mecatui.widgets.status_line import StatusValues

_SESSION_SHOWN = 12


def header_values(view: SessionView) -> HeaderValues:
    """The first line."""
    return HeaderValues(view.session_id[:_SESSION_SHOWN], view.model, view.mode, view.placement, view.title)


def status_values(view: SessionView, unseen: int = 0) -> StatusValues:
    """The last line; `unseen` counts what came below what is in sight."""
    skills = view.inventory.listing.skills
    return StatusValues(
        state=_state(view, unseen),
        context_share=view.context or None,
        tokens_in=view.usage.input_tokens + view.usage.cache_read_tokens or None,
        tokens_out=view.usage.output_tokens or None,
        cache_share=view.cache_share,
        skills=sum(skill.in_inventory for skill in skills) if view.knows_commands else None,
        skills_new=sum(skill.is_untold for skill in skills) if view.inventory.listing.has_reloaded else 0,
        skills_gone=sum(skill.is_gone for skill in skills),
    )


def _state(view: SessionView, unseen: int) -> str:
    """The state, what the offer key does, and whether the palette can be trusted."""
    parts = [wording.state_words(view)]
    offer = wording.offer_words(view)
    if view.freshness is Freshness.STALE:
        parts.append("commands stale")
    if unseen:
        parts.append(f"{unseen} new below")
    elif view.activity is Activity.RUNNING and not offer:
        parts.append("esc cancels")
    return " · ".join([*parts, offer] if offer else parts)
