import os
import time
from pathlib import Path

import pytest

from server_stub.skills.cache import ParsedSkills, is_settled
from server_stub.skills.diagnostic import SourceFault
from server_stub.skills.difference import Counts, difference
from server_stub.skills.resolve import Resolution, resolve, skill_sources
from server_stub.skills.snapshot import EMPTY
from server_stub.skills.source import Listing
from server_stub.skills.tier import Tier
from server_stub.skills.trust import grant
from tests.skills.folders import loaded, options, put, resolved

TIERS = [
    ("extra-a", Tier.EXPLICIT),
    ("extra-b", Tier.EXPLICIT),
    ("project/.mecatl/skills", Tier.PROJECT),
    ("project/.agents/skills", Tier.PROJECT),
    ("project/.claude/skills", Tier.PROJECT),
    ("home/.config/mecatl/skills", Tier.USER),
    ("home/.agents/skills", Tier.USER),
    ("home/.claude/skills", Tier.USER),
]


class FakeLearnedSource:
    """Holds one learned skill, or fails."""

    def __init__(self, outcome: Listing | SourceFault) -> None:
        self._outcome = outcome

    def list(self) -> Listing | SourceFault:
        return self._outcome


def test_earlier_sources_win_and_each_loser_is_reported(tmp_path: Path) -> None:
    for root, _ in TIERS:
        put(tmp_path / root, "same", body=root)
    extras = (tmp_path / "extra-a", tmp_path / "extra-b")
    for count in range(len(TIERS)):
        snapshot = resolved(tmp_path, *extras).snapshot
        assert [skill.body for skill in snapshot.skills] == [TIERS[count][0]]
        assert [(s.skill.body, s.skill.origin, s.by) for s in snapshot.shadowed] == [
            (root, tier, TIERS[count][1]) for root, tier in TIERS[count + 1 :]
        ]
        (tmp_path / TIERS[count][0] / "same" / "SKILL.md").unlink()


def test_learned_skills_come_last(tmp_path: Path) -> None:
    put(tmp_path / "home/.agents/skills", "thing", body="user's")
    learned = FakeLearnedSource(Listing(skills=(loaded("---\ndescription: x\n---\nlearned"),)))
    snapshot = resolve(options(tmp_path), learned=learned).snapshot
    assert [skill.body for skill in snapshot.skills] == ["user's"]
    assert [shadowed.skill.body for shadowed in snapshot.shadowed] == ["learned"]


def test_fault_of_any_source_is_told(tmp_path: Path) -> None:
    fault = SourceFault(Tier.LEARNED, "the learned skills", "cannot be read")
    assert resolve(options(tmp_path), learned=FakeLearnedSource(fault)).faults == (fault,)
    assert str(fault) == "the learned skills cannot be read"


def test_first_of_two_folders_with_one_name_stays(tmp_path: Path) -> None:
    for folder in ("zz", "aa"):
        put(tmp_path / "home/.agents/skills", folder, declared="deploy", body=folder)
    snapshot = resolved(tmp_path).snapshot
    assert [skill.body for skill in snapshot.skills] == ["aa"]
    assert [(s.skill.body, s.by) for s in snapshot.shadowed] == [("zz", Tier.USER)]


def test_two_roots_that_are_one_folder_give_one_entry(tmp_path: Path) -> None:
    root = tmp_path / "project/.agents/skills"
    put(root, "twin")
    put(root, "bad").write_text("---\n")
    (tmp_path / "other").symlink_to(root)
    snapshot = resolved(tmp_path, tmp_path / "other", root).snapshot
    assert [(skill.name, skill.origin) for skill in snapshot.skills] == [("twin", Tier.EXPLICIT)]
    assert (len(snapshot.skipped), snapshot.shadowed) == (1, ())


def test_skill_linked_into_two_sources_shadows_nothing(tmp_path: Path) -> None:
    put(tmp_path / "store", "linked")
    for root in ("home/.agents/skills", "home/.claude/skills"):
        (tmp_path / root).mkdir(parents=True)
        (tmp_path / root / "linked").symlink_to(tmp_path / "store" / "linked")
    snapshot = resolved(tmp_path).snapshot
    assert ([skill.name for skill in snapshot.skills], snapshot.shadowed) == (["linked"], ())


def test_untrusted_project_is_withheld_unopened_and_shadows_nothing(tmp_path: Path) -> None:
    put(tmp_path / "home/.agents/skills", "handover", body="USER")
    root = tmp_path / "project/.agents/skills"
    put(root, "handover", body="PROJECT")
    put(root, "collection/inner")
    (root / "piped").mkdir()
    os.mkfifo(root / "piped" / "SKILL.md")
    put(root, ".hidden/no")
    snapshot = resolved(tmp_path, trust_project=False).snapshot
    assert [(skill.name, skill.body) for skill in snapshot.skills] == [("handover", "USER")]
    assert (snapshot.shadowed, snapshot.withheld, snapshot.skipped, snapshot.notices) == ((), 3, (), ())


def test_trust_is_read_anew_at_each_resolution(tmp_path: Path) -> None:
    put(tmp_path / "project/.agents/skills", "theirs")
    decided = options(tmp_path, trust_project=False)
    assert resolve(decided).snapshot.skills == ()
    grant(decided.workspace, decided.trust_file)
    assert [skill.name for skill in resolve(decided).snapshot.skills] == ["theirs"]
    decided.trust_file.unlink()
    assert resolve(decided).snapshot.skills == ()


def test_damaged_trust_file_is_a_notice(tmp_path: Path) -> None:
    put(tmp_path / "project/.agents/skills", "theirs")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "trust.json").write_text("{broken")
    snapshot = resolved(tmp_path, trust_project=False).snapshot
    assert (snapshot.skills, len(snapshot.notices)) == ((), 1)


def test_project_is_absent_where_execution_is_not_local(tmp_path: Path) -> None:
    put(tmp_path / "project/.agents/skills", "theirs")
    snapshot = resolved(tmp_path, execution_local=False).snapshot
    assert (snapshot.skills, snapshot.withheld) == ((), 0)


def test_conventional_folders_are_left_alone_when_the_operator_says_so(tmp_path: Path) -> None:
    for root, _ in TIERS:
        put(tmp_path / root, "same")
    assert skill_sources(options(tmp_path, conventional=False)).sources == ()


def test_project_never_leads_out_of_its_workspace(tmp_path: Path) -> None:
    put(tmp_path / "outside", "secret")
    root = tmp_path / "project/.agents/skills"
    root.mkdir(parents=True)
    (root / "linked").symlink_to(tmp_path / "outside" / "secret")
    (tmp_path / "project/.claude").mkdir()
    (tmp_path / "project/.claude/skills").symlink_to(tmp_path / "outside")
    (tmp_path / "project-b").mkdir()
    put(tmp_path / "project/lib", "inside")
    (root / "inside").symlink_to("../../lib/inside")
    snapshot = resolved(tmp_path).snapshot
    assert [skill.name for skill in snapshot.skills] == ["inside"]
    assert [skip.code.value for skip in snapshot.skipped] == ["outside"]
    assert snapshot.notices == ("the project's .claude/skills leads out of the workspace and is not followed",)


def test_workspace_may_be_reached_through_a_link(tmp_path: Path) -> None:
    put(tmp_path / "project/.agents/skills", "theirs")
    (tmp_path / "alias").symlink_to("project")
    assert [s.name for s in resolved(tmp_path, workspace=tmp_path / "alias").snapshot.skills] == ["theirs"]


def test_missing_roots_and_roots_that_are_files_hold_no_skills(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "file").touch()
    resolution = resolved(tmp_path, tmp_path / "gone", tmp_path / "file", tmp_path / "file" / "below")
    assert resolution == Resolution(
        snapshot=type(EMPTY)(
            notices=(
                "the skills folder `gone` does not exist; it holds no skills",
                "the skills folder `file` is not a folder; it holds no skills",
                "the skills folder `below` does not exist; it holds no skills",
            )
        )
    )


def test_root_that_is_a_loop_of_links_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    faults = resolved(tmp_path, tmp_path / "loop").faults
    assert [fault.origin for fault in faults] == [Tier.EXPLICIT]
    assert "links" in faults[0].reason


def test_discovery_past_its_deadline_is_a_fault(tmp_path: Path) -> None:
    put(tmp_path / "home/.agents/skills", "thing")
    resolution = resolved(tmp_path, deadline_seconds=-1.0)
    assert [str(fault) for fault in resolution.faults] == ["your .agents/skills took too long to read"]


def test_no_text_of_a_resolution_holds_a_path(tmp_path: Path) -> None:
    root = tmp_path / "project/.agents/skills"
    put(root, "bad").write_text("---\nname: [\n---\n")
    (root / "dangling").symlink_to(tmp_path / "gone")
    (root / "flat.md").touch()
    (tmp_path / "loop").symlink_to("loop")
    resolution = resolved(tmp_path, tmp_path / "loop", tmp_path / "gone")
    snapshot = resolution.snapshot
    texts = [*snapshot.notices, *map(str, resolution.faults)]
    texts += [f"{skip.name} {skip.reason}" for skip in snapshot.skipped]
    texts += [f"{near.name} {near.fix}" for near in snapshot.near_misses]
    assert len(texts) == 5
    assert not [text for text in texts if str(tmp_path) in text or "/home" in text]


def settle(*files: Path) -> None:
    """Wait out the clock's granularity, so that a stamp can be trusted."""
    newest = max(file.stat().st_ctime_ns for file in files)
    while time.time_ns() - newest < 150_000_000:
        os.sched_yield()


def test_unchanged_skills_are_the_same_objects(tmp_path: Path) -> None:
    files = [put(tmp_path / "home/.agents/skills", name) for name in ("a", "b")]
    (tmp_path / "home/.agents/skills/link").symlink_to(tmp_path / "store")
    files.append(put(tmp_path, "store"))
    settle(*files)
    first = resolved(tmp_path)
    second = resolve(options(tmp_path), cache=first.cache)
    assert second.snapshot == first.snapshot
    assert all(a is b for a, b in zip(first.snapshot.skills, second.snapshot.skills, strict=True))


def test_young_file_is_read_again_but_held_once(tmp_path: Path) -> None:
    put(tmp_path / "home/.agents/skills", "a")
    first = resolved(tmp_path)
    (parsed,) = first.cache.files.values()
    assert not parsed.is_settled
    second = resolve(options(tmp_path), cache=first.cache)
    assert second.snapshot.skills[0] is first.snapshot.skills[0]


def test_edit_with_a_restored_time_is_seen(tmp_path: Path) -> None:
    file = put(tmp_path / "home/.agents/skills", "a", body="old")
    settle(file)
    before = file.stat()
    first = resolved(tmp_path)
    put(tmp_path / "home/.agents/skills", "a", body="new")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    second = resolve(options(tmp_path), cache=first.cache)
    assert second.snapshot.skills[0].body == "new"


def test_cache_of_one_tier_is_not_used_for_another(tmp_path: Path) -> None:
    root = tmp_path / "home/.agents/skills"
    settle(put(root, "a"))
    first = resolved(tmp_path)
    second = resolve(options(tmp_path, root), cache=first.cache)
    assert second.snapshot.skills[0].origin is Tier.EXPLICIT


def test_cache_holds_only_what_is_there(tmp_path: Path) -> None:
    file = put(tmp_path / "home/.agents/skills", "a")
    first = resolved(tmp_path)
    file.unlink()
    assert resolve(options(tmp_path), cache=first.cache).cache == ParsedSkills()


@pytest.mark.parametrize(
    ("times", "read_at", "settled"),
    [
        ((5_000_000_001, 5_000_000_001), 5_200_000_000, True),
        ((5_000_000_001, 5_000_000_001), 5_050_000_000, False),
        ((5_000_000_001, 5_100_000_000), 5_150_000_000, False),
        ((9_000_000_000, 9_000_000_000), 10_500_000_000, False),
        ((9_000_000_000, 9_000_000_000), 11_500_000_000, True),
        ((9_000_000_000, 9_000_000_001), 10_500_000_000, True),
    ],
)
def test_stamp_is_trusted_only_when_safely_older_than_the_reading(
    times: tuple[int, int], read_at: int, settled: bool
) -> None:
    assert is_settled((1, 2, 3, *times), read_at) is settled


def test_difference_counts_what_can_be_observed(tmp_path: Path) -> None:
    root = tmp_path / "home/.agents/skills"
    for name in ("stays", "edited", "described", "goes", "renamed", "shadowed"):
        put(root, name)
    old = resolved(tmp_path).snapshot
    put(root, "edited", body="NEW")
    put(root, "described", description="New.")
    (root / "goes" / "SKILL.md").unlink()
    put(root, "renamed", declared="another")
    put(root, "comes")
    put(tmp_path / "project/.agents/skills", "shadowed")
    (root / "stays" / "asset.txt").touch()
    new = resolved(tmp_path).snapshot
    assert difference(old, new) == Counts(added=2, changed=3, removed=2)
    assert difference(old, resolved(tmp_path).snapshot) != Counts()
    assert difference(new, new).is_empty
