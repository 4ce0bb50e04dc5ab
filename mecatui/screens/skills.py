"""The page of skills: grouped by tier, one state word a row, and all about the lit one beneath."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mecatui.inventory import TIERS, Listing, NearMiss, Shadowed, Skill, Skipped
from mecatui.plain_text import cell_width, clip_cells
from mecatui.screens.page import Item, PageScreen
from mecatui.session_view import Freshness, SessionView
from mecatui.slash.palette import UNTOLD, UNTOLD_SINCE
from mecatui.widgets.lines import Kind, Line

_LONGEST_NAME = 24
_KEYS = "enter: use it · esc: close"


@dataclass(frozen=True, slots=True)
class _Columns:
    """Rows whose states stand below one another."""

    name: int

    def row(self, name: str, words: str, description: str = "") -> str:
        """A name, a state, and as much of the description as the screen has room for."""
        shown = clip_cells(name, self.name)
        padding = " " * (self.name - cell_width(shown))
        return f"  {shown}{padding}  {words}" + (f" · {description}" if description else "")


def skills_page(view: SessionView, names: frozenset[str] = frozenset()) -> PageScreen:
    """The skills of the session, as last fetched; with names, what stands under these names only."""
    if names:
        listing = _of(view.inventory.listing, names)
        return PageScreen(f"Skills · the {len(names)} that changed", _notes(view) + _groups(listing), keys=_KEYS)
    listing = view.inventory.listing
    items = _notes(view) + _groups(listing)
    if not view.knows_commands:
        items = [Item(Line("The list of skills has not arrived yet.", "dim"))]
    elif not listing.skills and not listing.skipped and not listing.near_misses:
        items += [Item(Line("No skills are configured. A skill is a folder with a SKILL.md in it,", "dim"))]
        items += [Item(Line("such as ~/.agents/skills/<name>/SKILL.md; then /reload-skills.", "dim"))]
    count = len(listing.present())
    return PageScreen(f"Skills · {count}", items, keys=_KEYS)


def state_words(skill: Skill, *, has_reloaded: bool = True) -> str:
    """The state of one skill of a listing."""
    if skill.is_gone:
        return "gone: the model may still ask for it"
    if skill.is_untold:
        return UNTOLD_SINCE if has_reloaded else UNTOLD
    if skill.description_stale:
        return "description changed: the model sees the old one"
    if not skill.user_invocable:
        return "ready: only the model can call it"
    if not skill.model_invocable:
        return "ready: only you can call it"
    return "ready"


def _of(listing: Listing, names: frozenset[str]) -> Listing:
    return replace(
        listing,
        skills=tuple(skill for skill in listing.skills if skill.name in names),
        skipped=tuple(skip for skip in listing.skipped if skip.name in names),
        shadowed=tuple(lost for lost in listing.shadowed if lost.name in names),
        near_misses=(),
    )


def _notes(view: SessionView) -> list[Item]:
    listing = view.inventory.listing
    lines = list(listing.notices)
    if view.freshness is Freshness.STALE:
        lines.insert(0, "This list is stale: ctrl+r in the chat fetches it again.")
    if listing.withheld:
        count = f"{listing.withheld} project skill{'s' if listing.withheld > 1 else ''}"
        lines.append(f"{count} withheld: folder not trusted. `mecatui trust` trusts it.")
    return [Item(Line(line, "warning")) for line in lines]


def _groups(listing: Listing) -> list[Item]:
    items: list[Item] = []
    columns = _columns(listing)
    origins = [*TIERS, *sorted(_origins(listing) - set(TIERS))]
    for origin in origins:
        members = [
            *(_skill_item(skill, columns, listing) for skill in listing.skills if skill.origin == origin),
            *(_shadowed_item(lost, columns) for lost in listing.shadowed if lost.origin == origin),
            *(
                _skipped_item(skip, place, columns)
                for place, skip in enumerate(listing.skipped)
                if skip.origin == origin
            ),
        ]
        if members:
            items += [Item(Line(f"{origin or 'no longer there'} ({len(members)})", "heading")), *members]
    if listing.near_misses:
        items.append(Item(Line(f"not loaded, with the fix ({len(listing.near_misses)})", "heading")))
        items += [_near_miss_item(miss, place, columns) for place, miss in enumerate(listing.near_misses)]
    return items


def _origins(listing: Listing) -> set[str]:
    rows: Sequence[Skill | Shadowed | Skipped] = (*listing.skills, *listing.shadowed, *listing.skipped)
    return {row.origin for row in rows}


def _skill_item(skill: Skill, columns: _Columns, listing: Listing) -> Item:
    words = state_words(skill, has_reloaded=listing.has_reloaded)
    detail = [f"/{skill.name}: {words}", skill.description, *(f"warning: {warning}" for warning in skill.warnings)]
    inserts = skill.name if skill.in_inventory and skill.user_invocable else ""
    kind: Kind = "plain" if skill.in_inventory else "dim"
    text = columns.row(skill.name, words, skill.description)
    return Item(Line(text, kind, key=f"skill {skill.name}"), "\n".join(detail), inserts)


def _shadowed_item(lost: Shadowed, columns: _Columns) -> Item:
    whole = f"{lost.origin}/{lost.name}"
    detail = f"{lost.name} of the {lost.origin} tier lost its name to the {lost.by} tier; /{whole} runs it."
    return Item(Line(columns.row(lost.name, f"shadowed by {lost.by}"), "dim", key=f"shadowed {whole}"), detail, whole)


def _skipped_item(skip: Skipped, place: int, columns: _Columns) -> Item:
    words = f"skipped: {skip.reason}"
    return Item(Line(columns.row(skip.name, words), "warning", key=f"skipped {place}"), f"{skip.name}: {words}")


def _near_miss_item(miss: NearMiss, place: int, columns: _Columns) -> Item:
    return Item(Line(columns.row(miss.name, miss.fix), "dim", key=f"near {place}"), f"{miss.name}: {miss.fix}")


def _columns(listing: Listing) -> _Columns:
    rows: tuple[Skill | Shadowed | Skipped | NearMiss, ...] = (
        *listing.skills,
        *listing.shadowed,
        *listing.skipped,
        *listing.near_misses,
    )
    return _Columns(max((min(cell_width(row.name), _LONGEST_NAME) for row in rows), default=0))
