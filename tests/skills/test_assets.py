import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server_stub.skills.assets import AssetUnavailable, list_assets, read_asset
from server_stub.skills.skill import Skill
from tests.skills.folders import put, resolved


@pytest.fixture
def skill(tmp_path: Path) -> Skill:
    put(tmp_path / "skills", "kit")
    (tmp_path / "secret.txt").write_text("SECRET")
    (tmp_path / "skills" / "other").mkdir()
    return resolved(tmp_path, tmp_path / "skills", conventional=False).snapshot.skills[0]


def test_assets_are_listed_in_order_by_slash_relative_name(skill: Skill) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", ".env", "node_modules/x.js", ".git/config"):
        (Path(skill.folder) / name).parent.mkdir(parents=True, exist_ok=True)
        (Path(skill.folder) / name).write_text("12345")
    assert list_assets(skill, 10) == (("a/b/c.txt", 5), ("a/z.txt", 5), ("b.txt", 5))
    assert list_assets(skill, 2) == (("a/b/c.txt", 5), ("a/z.txt", 5))


def test_odd_names_are_shown_safely_and_can_be_read_as_shown(skill: Skill) -> None:
    (Path(skill.folder) / "docs").mkdir()
    for name in ("[English] (part 1).txt", "it's 100% \u2603.md", "two\nlines.md", "esc\x1b[2J.md"):
        (Path(skill.folder) / "docs" / name).write_text(f"text of {name!r}")
    shown = [name for name, _ in list_assets(skill, 10)]
    assert shown == ["docs/[English] (part 1).txt", "docs/esc[2J.md", "docs/it's 100% \u2603.md", "docs/two lines.md"]
    assert read_asset(skill, "docs/two lines.md", 0) == "text of 'two\\nlines.md'"
    assert read_asset(skill, "docs/it's 100% \u2603.md", 0).startswith("text of")


def test_links_are_neither_listed_nor_followed(skill: Skill) -> None:
    (Path(skill.folder) / "references").mkdir()
    (Path(skill.folder) / "references" / "notes.md").symlink_to("../../../secret.txt")
    (Path(skill.folder) / "references" / "all").symlink_to("/etc")
    assert list_assets(skill, 10) == ()
    for name in ("references/notes.md", "references/all/passwd", "references/all"):
        with pytest.raises(AssetUnavailable) as refused:
            read_asset(skill, name, 0)
        assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        ".",
        "..",
        "../other",
        "../../secret.txt",
        "a/../../secret.txt",
        "..\\secret.txt",
        "/etc/passwd",
        "%2e%2e%2fsecret.txt",
        "ok\0.md",
        "gone.md",
        ".env",
        "x" * 5000,
        "SKILL.md/x",
        "a//b",
        "caf\udce9",
    ],
)
def test_name_that_leads_nowhere_or_out_is_refused(skill: Skill, name: str) -> None:
    with pytest.raises(AssetUnavailable):
        read_asset(skill, name, 0)


def test_anything_but_a_text_file_is_refused(skill: Skill) -> None:
    os.mkfifo(Path(skill.folder) / "pipe")
    (Path(skill.folder) / "folder").mkdir()
    (Path(skill.folder) / "zeros.bin").write_bytes(b"text\0more")
    (Path(skill.folder) / "latin.txt").write_bytes(b"caf\xe9 au lait")
    for name in ("pipe", "folder", "zeros.bin", "latin.txt"):
        with pytest.raises(AssetUnavailable):
            read_asset(skill, name, 0)


def test_text_is_made_harmless(skill: Skill) -> None:
    (Path(skill.folder) / "a.txt").write_bytes(b"a\r\nb\x1b[31m\xe2\x80\xaec")
    assert read_asset(skill, "a.txt", 0) == "a\nb[31mc"


def test_long_file_is_cut_with_the_next_offset(skill: Skill) -> None:
    (Path(skill.folder) / "a.txt").write_text("x" * 30_000)
    first = read_asset(skill, "a.txt", 0)
    assert first == "x" * 25_000 + "\n\n[cut here: 5000 bytes remain; call again with offset 25000]"
    assert read_asset(skill, "a.txt", 25_000) == "x" * 5_000
    assert read_asset(skill, "a.txt", 30_000) == ""
    with pytest.raises(AssetUnavailable, match="30000"):
        read_asset(skill, "a.txt", 30_001)


def test_pages_join_to_the_whole_whatever_the_width_of_characters(tmp_path: Path) -> None:
    put(tmp_path / "skills", "kit")
    skill = resolved(tmp_path, tmp_path / "skills", conventional=False).snapshot.skills[0]

    @given(st.text(st.sampled_from("a\u00e9\u4f1a\U0001f680"), min_size=1, max_size=40), st.integers(4, 9))
    def check(text: str, cap: int) -> None:
        (Path(skill.folder) / "a.txt").write_text(text, encoding="utf-8")
        pages, offset = [], 0
        while True:
            page, _, marker = read_asset(skill, "a.txt", offset, cap).partition("\n\n[cut here")
            pages.append(page)
            if not marker:
                break
            offset = int(marker.rpartition(" ")[2].rstrip("]"))
        assert "".join(pages) == text

    check()


def test_offset_within_a_character_begins_after_it(skill: Skill) -> None:
    (Path(skill.folder) / "a.txt").write_text("\u4f1ab", encoding="utf-8")
    assert read_asset(skill, "a.txt", 1) == "b"


def test_skill_whose_folder_is_gone_has_no_assets(skill: Skill) -> None:
    gone = replace(skill, folder=f"{skill.folder}/gone")
    assert list_assets(gone, 10) == ()
    with pytest.raises(AssetUnavailable):
        read_asset(gone, "a.txt", 0)


def test_walk_is_bounded(skill: Skill) -> None:
    deep = Path(skill.folder)
    for _ in range(30):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep / "x.txt").touch()
    assert list_assets(skill, 10) == ()
