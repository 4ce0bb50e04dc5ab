import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server_stub.skills.resolve import resolve
from server_stub.skills.snapshot import SkillSnapshot
from tests.skills.folders import front, options, put, resolved


def found(tmp_path: Path, root: Path, **decisions: object) -> SkillSnapshot:
    return resolved(tmp_path, root, conventional=False, **decisions).snapshot


def names(snapshot: SkillSnapshot) -> list[str]:
    return [skill.name for skill in snapshot.skills]


def skips(snapshot: SkillSnapshot) -> list[tuple[str, str]]:
    return [(skip.name, skip.code.value) for skip in snapshot.skipped]


def fixes(snapshot: SkillSnapshot) -> list[tuple[str, str]]:
    return [(near.name, near.fix) for near in snapshot.near_misses]


def test_skills_are_found_to_six_levels_and_the_next_is_a_near_miss(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root, "a/b/c/d/e/six")
    put(root, "a/b/c/d/e/f/seven")
    put(root, "one")
    snapshot = found(tmp_path, root)
    assert names(snapshot) == ["one", "six"]
    assert fixes(snapshot) == [("seven", "it lies deeper than 6 levels; move it up")]


def test_skill_within_a_skill_is_a_near_miss(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root, "outer")
    put(root, "outer/skills/inner")
    put(root, "outer/node_modules/dep")
    put(root, "outer/.hidden")
    snapshot = found(tmp_path, root)
    assert names(snapshot) == ["outer"]
    assert fixes(snapshot) == [("inner", "it lies within the skill outer; move it out, to stand beside it")]


@pytest.mark.parametrize("pruned", [".draft", ".git", "node_modules"])
def test_hidden_folders_and_dependencies_are_never_entered(tmp_path: Path, pruned: str) -> None:
    put(tmp_path / "skills", f"{pruned}/dep")
    put(tmp_path / "skills", pruned, declared="named")
    assert found(tmp_path, tmp_path / "skills") == SkillSnapshot()


def test_misspelled_file_is_a_near_miss_and_the_right_one_wins(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root, "both")
    (root / "both" / "skill.md").write_text(front("name: wrong", "description: x"))
    put(root, "lower").rename(root / "lower" / "skill.md")
    put(root, "title").rename(root / "title" / "Skill.md")
    snapshot = found(tmp_path, root)
    assert names(snapshot) == ["both"]
    assert fixes(snapshot) == [("lower", "rename skill.md to SKILL.md"), ("title", "rename Skill.md to SKILL.md")]


def test_flat_file_is_a_near_miss_but_a_readme_is_not(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root, "real")
    for name in ("tidy.md", "README.md", "CHANGELOG.md", "notes.txt"):
        (root / name).write_text(front("name: x", "description: x"))
    snapshot = found(tmp_path, root)
    assert (names(snapshot), fixes(snapshot)) == (["real"], [("tidy", "move it to tidy/SKILL.md")])


def test_file_without_frontmatter_is_a_near_miss(tmp_path: Path) -> None:
    put(tmp_path / "skills", "bare").write_text("# Title\n")
    snapshot = found(tmp_path, tmp_path / "skills")
    assert [near.name for near in snapshot.near_misses] == ["bare"]
    assert "description" in snapshot.near_misses[0].fix


def test_root_that_is_a_skill_itself_says_so(tmp_path: Path) -> None:
    put(tmp_path, "solo")
    assert fixes(found(tmp_path, tmp_path / "solo")) == [
        ("solo", "it is a skill itself; name the folder that holds it")
    ]


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "device"])
def test_anything_but_a_regular_file_is_skipped_at_once(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "skills"
    put(root, "good")
    odd = root / "odd" / "SKILL.md"
    odd.parent.mkdir()
    match kind:
        case "fifo":
            os.mkfifo(odd)
        case "folder":
            odd.mkdir()
        case "socket":
            import socket

            short = Path(os.path.relpath(odd.parent))
            with socket.socket(socket.AF_UNIX) as listener:
                here = Path.cwd()
                os.chdir(short)
                listener.bind("SKILL.md")
                os.chdir(here)
        case _:
            if os.geteuid() != 0:
                pytest.skip("only root makes devices")
            try:
                os.mknod(odd, 0o020666, os.makedev(1, 5))
            except OSError:
                pytest.skip("no devices here")
    started = time.monotonic()
    snapshot = found(tmp_path, root)
    assert time.monotonic() - started < 1
    assert (names(snapshot), skips(snapshot)) == (["good"], [("odd", "not_a_file")])


def test_huge_file_is_skipped_without_being_read(tmp_path: Path) -> None:
    file = put(tmp_path / "skills", "huge")
    os.truncate(file, 50 * 1024 * 1024 * 1024)
    started = time.monotonic()
    assert skips(found(tmp_path, tmp_path / "skills")) == [("huge", "too_large")]
    assert time.monotonic() - started < 1


def test_linked_folder_is_listed_once_under_the_name_of_its_link(tmp_path: Path) -> None:
    put(tmp_path / "store", "actual").write_text("---\ndescription: x\n---\n")
    root = tmp_path / "skills"
    root.mkdir()
    for name in ("b-link", "a-link"):
        (root / name).symlink_to(tmp_path / "store" / "actual")
    snapshot = found(tmp_path, root)
    assert names(snapshot) == ["a-link"]
    assert snapshot.skills[0].folder == str((tmp_path / "store" / "actual").resolve())


def test_linked_collection_is_entered(tmp_path: Path) -> None:
    put(tmp_path / "store", "inner")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "linked").symlink_to("../store")
    assert names(found(tmp_path, tmp_path / "skills")) == ["inner"]


def test_links_that_lead_round_are_followed_once(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root, "cycle/real")
    (root / "cycle" / "loop").symlink_to(".")
    (root / "cycle" / "up").symlink_to("../..")
    (root / "self").symlink_to("self")
    snapshot = found(tmp_path, root)
    assert names(snapshot) == ["real"]
    assert skips(snapshot) == [("up", "loop"), ("self", "broken_link")]


def test_dangling_links_are_skipped(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    (root / "file").mkdir(parents=True)
    (root / "file" / "SKILL.md").symlink_to("gone.md")
    (root / "folder").symlink_to("gone")
    (root / "to-file").symlink_to("../x.md")
    (tmp_path / "x.md").touch()
    assert skips(found(tmp_path, root)) == [("file", "broken_link"), ("folder", "broken_link")]


def test_linked_file_is_read_within_the_source_only(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    (root / "_store").mkdir(parents=True)
    (root / "_store" / "in.md").write_text(front("name: inside", "description: x"))
    (tmp_path / "secret.txt").write_text(front("name: secret", "description: TOP"))
    for name, target in (("inside", "../_store/in.md"), ("outside", "../../secret.txt")):
        (root / name).mkdir()
        (root / name / "SKILL.md").symlink_to(target)
    snapshot = found(tmp_path, root)
    assert (names(snapshot), skips(snapshot)) == (["inside"], [("outside", "outside")])


def test_linked_file_to_a_pipe_does_not_block(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    (root / "piped").mkdir(parents=True)
    os.mkfifo(root / "pipe")
    (root / "piped" / "SKILL.md").symlink_to("../pipe")
    assert skips(found(tmp_path, root)) == [("piped", "not_a_file")]


def test_names_on_disk_are_made_safe_to_show(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    put(root, "bad\n\x1b[31mname").write_text("---\nno\n---\n")
    os.mkdir(os.fsencode(root) + b"/caf\xe9")
    with open(os.fsencode(root) + b"/caf\xe9/SKILL.md", "w", encoding="utf-8") as file:
        file.write("---\nno\n---\n")
    assert [name for name, _ in skips(found(tmp_path, root))] == ["bad [31mname", "caf?"]


def test_listing_does_not_depend_on_the_order_of_creation(tmp_path: Path) -> None:
    wanted = None

    @given(st.permutations(["aa", "zz", "mm/inner", "mm/other", "link", "bad", "x.md"]))
    def check(order: list[str]) -> None:
        nonlocal wanted
        root = tmp_path / "skills"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        for name in order:
            if name == "link":
                (root / name).symlink_to("zz")
            elif name.endswith(".md"):
                (root / name).touch()
            else:
                put(root, name, declared="same", body=name)
        (root / "bad" / "SKILL.md").write_text("---\n")
        snapshot = found(tmp_path, root)
        wanted = wanted or snapshot
        assert snapshot == wanted
        assert snapshot.skills[0].body == "aa"

    check()


def test_what_is_left_out_is_told_in_order_of_path_whether_opening_or_parsing_failed(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    for name in ("a", "c", "cc"):
        put(root, name).write_text("---\nno end\n")
    for name in ("d", "f"):
        put(root, name).write_text("nothing\n")
    for name in ("e.md", "g.md"):
        (root / name).touch()
    for name in ("b", "h"):
        (root / name).mkdir()
        os.mkfifo(root / name / "SKILL.md")
    first = resolved(tmp_path, root, conventional=False)
    while not all(file.is_settled for file in first.cache.files.values()):
        first = resolved(tmp_path, root, conventional=False)
    put(root, "c").write_text("---\nstill no end\n")
    again = resolve(options(tmp_path, root, conventional=False), cache=first.cache)
    for snapshot in (first.snapshot, again.snapshot):
        assert [skip.name for skip in snapshot.skipped] == ["a", "b", "c", "cc", "h"]
        assert [miss.name for miss in snapshot.near_misses] == ["d", "e", "f", "g"]


def test_many_skills_are_all_found_and_bad_ones_among_them_told_in_order(tmp_path: Path) -> None:
    all_names = [f"s{number:03}" for number in range(600)]
    bad = all_names[::7]
    for name in all_names:
        file = put(tmp_path / "skills", name)
        if name in bad:
            file.write_text("---\nno end\n")
    snapshot = found(tmp_path, tmp_path / "skills")
    assert [skip.name for skip in snapshot.skipped] == bad
    assert names(snapshot) == [name for name in all_names if name not in bad]
