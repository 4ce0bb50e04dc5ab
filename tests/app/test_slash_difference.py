"""What changed between two listings, and the words for it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mecatui.inventory import Listing, Shadowed, Skill, Skipped
from mecatui.slash.difference import Difference, difference, verdict

STORY = Skill("story", "Tells a story.", "user", advertised=True, body_sha256="1")
LINT = Skill("lint", "Lints.", "project", advertised=True, body_sha256="2")


def test_difference_names_each_kind_of_change() -> None:
    old = Listing(skills=(STORY, LINT, Skill("old", body_sha256="3"), Skill("flag", body_sha256="4")))
    new = Listing(
        skills=(
            replace(STORY, body_sha256="9", description="Another."),
            replace(LINT, description="Lints all."),
            Skill("flag", body_sha256="4", user_invocable=False),
            Skill("fresh", body_sha256="5"),
            Skill("old", advertised=True, in_inventory=False),
        ),
        skipped=(Skipped("broken", "bad YAML, line 3"),),
        shadowed=(Shadowed("lint", "user", "project"),),
    )
    assert difference(old, new) == Difference(
        added=("fresh",),
        body_changed=("story",),
        description_changed=("lint", "story"),
        settings_changed=("flag",),
        removed=("old",),
        newly_skipped=(("broken", "bad YAML, line 3"),),
        newly_shadowed=(("lint", "project"),),
    )


def test_rename_is_one_removed_and_one_added() -> None:
    change = difference(Listing(skills=(STORY,)), Listing(skills=(replace(STORY, name="tale"),)))
    assert (change.added, change.removed) == (("tale",), ("story",))


def test_nothing_changed_says_so_and_names_nothing() -> None:
    listing = Listing(skills=(STORY, LINT), skipped=(Skipped("broken", "bad"),))
    words = verdict(difference(listing, listing), listing, model_was_told=False)
    assert words == "Reloaded 2 skills: nothing changed · 1 skipped"


def test_verdict_gives_counts_then_names_then_what_the_model_sees() -> None:
    old = Listing(skills=(STORY, LINT))
    new = Listing(
        skills=(replace(STORY, body_sha256="8"), Skill("fresh", body_sha256="5")),
        skipped=(Skipped("broken", "bad YAML, line 3"),),
        withheld=2,
    )
    assert verdict(difference(old, new), new, model_was_told=True).splitlines() == [
        "Reloaded 2 skills: 1 added, 1 body changed, 1 removed · 1 skipped · 2 project skills withheld: folder not trusted",  # noqa: E501 - the line as it is shown
        "added: fresh",
        "body changed: story",
        "removed: lint",
        "skipped: broken (bad YAML, line 3)",
        "The model still sees the list it started with: its prompt cache is kept.",
    ]


def test_names_beyond_five_are_counted() -> None:
    new = Listing(skills=tuple(Skill(f"s{number}") for number in range(12)))
    assert "added: s0, s1, s10, s11, s2 and 7 more" in verdict(difference(Listing(), new), new, model_was_told=False)


def test_report_counts_equal_the_list() -> None:
    old = Listing(skills=tuple(Skill(f"cnt-{number}", body_sha256="a") for number in range(5)))
    kept = [skill for skill in old.skills if skill.name != "cnt-0"]
    changed = [replace(skill, body_sha256="b") if skill.name == "cnt-1" else skill for skill in kept]
    new = Listing(skills=(*changed, Skill("cnt-5"), Skill("cnt-6")))
    words = verdict(difference(old, new), new, model_was_told=False)
    assert words.startswith("Reloaded 6 skills: 2 added, 1 body changed, 1 removed")


_SKILLS = st.lists(
    st.builds(Skill, st.text(max_size=500), st.text(max_size=50), in_inventory=st.booleans()), max_size=30
).map(tuple)
_LISTINGS = st.builds(
    Listing,
    skills=_SKILLS,
    skipped=st.lists(st.builds(Skipped, st.text(max_size=500), st.text(max_size=500)), max_size=20).map(tuple),
)


@given(_LISTINGS, _LISTINGS)
def test_verdict_is_bounded_whatever_changed(old: Listing, new: Listing) -> None:
    words = verdict(difference(old, new), new, model_was_told=True)
    assert len(words) < 3500
    assert len(words.splitlines()) <= 9
