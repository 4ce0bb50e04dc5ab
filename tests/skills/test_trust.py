import json
import os
import stat
from pathlib import Path

import pytest

from server_stub.skills.trust import TrustDecision, TrustFileUnusable, grant, is_trusted


@pytest.fixture
def trust_file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "mecatui" / "trust.json"


def decide(workspace: Path, trust_file: Path) -> TrustDecision:
    return is_trusted(workspace, standing=False, trust_file=trust_file)


def test_workspace_is_untrusted_without_a_decision(tmp_path: Path, trust_file: Path) -> None:
    assert decide(tmp_path, trust_file) == TrustDecision(is_trusted=False)


def test_workspace_is_trusted_by_the_operators_flag_whatever_the_file_holds(tmp_path: Path, trust_file: Path) -> None:
    assert is_trusted(tmp_path, standing=True, trust_file=trust_file) == TrustDecision(is_trusted=True)


def test_granted_workspace_is_trusted_and_no_other(tmp_path: Path, trust_file: Path) -> None:
    assert grant(tmp_path / "a", trust_file)
    assert grant(tmp_path / "b", trust_file)
    assert not grant(tmp_path / "a", trust_file)
    assert [decide(tmp_path / name, trust_file).is_trusted for name in ("a", "b", "c", "a/inner")] == [
        True,
        True,
        False,
        False,
    ]


def test_trust_file_is_its_owners_alone_and_nothing_else_is_left(tmp_path: Path, trust_file: Path) -> None:
    grant(tmp_path, trust_file)
    assert stat.S_IMODE(trust_file.stat().st_mode) == 0o600
    assert os.listdir(trust_file.parent) == ["trust.json"]


def test_trust_follows_the_real_path_and_not_the_link(tmp_path: Path, trust_file: Path) -> None:
    for name in ("project", "project-b"):
        (tmp_path / name).mkdir()
    alias = tmp_path / "alias"
    alias.symlink_to("project")
    grant(alias, trust_file)
    assert decide(tmp_path / "project", trust_file).is_trusted
    assert decide(alias, trust_file).is_trusted
    alias.unlink()
    alias.symlink_to("project-b")
    assert not decide(alias, trust_file).is_trusted


@pytest.mark.parametrize(
    "content",
    [
        "{broken",
        "",
        "[]",
        "null",
        "{}",
        '{"version": 1}',
        '{"version": 1, "trusted": [1]}',
        '{"version": 1, "trusted": "all"}',
        '{"version": 2, "trusted": ["%s"]}',
        '{"version": true, "trusted": "%s"}',
        "[" * 100_000,
        " " * (1024 * 1024 + 1),
    ],
)
def test_file_that_cannot_be_understood_means_untrusted_and_is_not_overwritten(
    tmp_path: Path, trust_file: Path, content: str
) -> None:
    trust_file.parent.mkdir(parents=True)
    written = content.replace("%s", str(tmp_path))
    trust_file.write_text(written)
    decision = decide(tmp_path, trust_file)
    assert not decision.is_trusted
    assert "trust file" in decision.notice
    assert str(tmp_path) not in decision.notice
    with pytest.raises(TrustFileUnusable):
        grant(tmp_path, trust_file)
    assert trust_file.read_text() == written


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_trust_file_that_is_no_file_means_untrusted(tmp_path: Path, trust_file: Path, kind: str) -> None:
    trust_file.parent.mkdir(parents=True)
    if kind == "folder":
        trust_file.mkdir()
    else:
        os.mkfifo(trust_file)
    assert not decide(tmp_path, trust_file).is_trusted


def test_failed_write_leaves_the_old_decisions(tmp_path: Path, trust_file: Path) -> None:
    grant(tmp_path / "a", trust_file)
    with pytest.raises(UnicodeEncodeError):
        grant(tmp_path / "\ud800", trust_file)
    assert json.loads(trust_file.read_text()) == {"version": 1, "trusted": [str(tmp_path / "a")]}
    assert os.listdir(trust_file.parent) == ["trust.json"]
