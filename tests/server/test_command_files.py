import logging
import os
from pathlib import Path

import pytest

from server_stub.engine.commands import CommandFile, parse_command, read_command_files
from server_stub.skills.rejected import Rejected
from server_stub.skills.tier import Tier


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def config_home(tmp_path: Path) -> Path:
    return tmp_path / "config"


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(project: Path, config_home: Path, *, trusted: bool = True) -> dict[str, CommandFile]:
    return {command.name: command for command in read_command_files(project, config_home, trusted=trusted)}


def test_command_has_what_its_frontmatter_says() -> None:
    head = b"\xef\xbb\xbf---\ndescription: Fix: an issue\nargument-hint: [issue]\narguments: [issue]\n---\n"
    raw = (head + b"\nFix $issue\n").replace(b"\n", b"\r\n")
    command = parse_command(raw, "fix-issue", Tier.USER)
    assert (command.name, command.description, command.body) == ("fix-issue", "Fix: an issue", "Fix $issue")
    assert (command.argument_hint, command.arguments, command.body_bytes) == ("[issue]", ("issue",), 10)


def test_command_without_frontmatter_is_described_by_its_first_line() -> None:
    command = parse_command(b"\xef\xbb\xbf\n# Do it\n\nNow.\n---\nnot frontmatter", "do it!", Tier.USER)
    assert (command.name, command.description) == ("do-it", "Do it")
    assert command.body.startswith("# Do it\n\nNow.")


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe\x00", b"---\ndescription: x\n", b"---\n[: {\n---\nx", b"x" * (1024 * 1024 + 1)]
)
def test_command_is_rejected_when_it_is_no_such_text(raw: bytes) -> None:
    with pytest.raises(Rejected):
        parse_command(raw, "name", Tier.USER)


def test_first_folder_wins_a_name(project: Path, config_home: Path) -> None:
    write(project / ".claude/commands/a.md", "CLAUDE")
    write(project / ".mecatl/commands/a.md", "MECATL")
    write(config_home / "mecatl/commands/a.md", "USER")
    write(config_home / "mecatl/commands/b.md", "USER B")
    commands = read(project, config_home)
    assert {name: (command.body, command.origin) for name, command in commands.items()} == {
        "a": ("MECATL", Tier.PROJECT),
        "b": ("USER B", Tier.USER),
    }


def test_project_commands_are_absent_when_the_workspace_is_not_trusted(project: Path, config_home: Path) -> None:
    write(project / ".mecatl/commands/a.md", "PROJECT")
    write(config_home / "mecatl/commands/b.md", "USER")
    assert list(read(project, config_home, trusted=False)) == ["b"]


def test_no_folder_is_no_command(project: Path, config_home: Path) -> None:
    write(config_home / "mecatl/commands", "a file where a folder is meant")
    assert read(project, config_home) == {}


def test_what_is_no_command_file_is_left_out_and_logged(
    project: Path, config_home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = project / ".mecatl/commands"
    write(folder / "good.md", "GOOD")
    write(folder / "notes.txt", "no")
    write(folder / ".hidden.md", "no")
    write(folder / "binary.md", b"\xff\xfe")
    write(folder / "!!!.md", "no name")
    write(folder / "nested/deep.md", "no")
    (folder / "folder.md").mkdir()
    (folder / "dangling.md").symlink_to("nowhere")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "out.md").symlink_to(write(tmp_path / "outside.md", "SECRET"))
    os.mkfifo(folder / "pipe.md")
    (folder / "alias.md").symlink_to("good.md")
    with caplog.at_level(logging.WARNING):
        assert {name: command.body for name, command in read(project, config_home).items()} == {
            "alias": "GOOD",
            "good": "GOOD",
        }
    logged = " ".join(record.getMessage() for record in caplog.records)
    for name in ("binary", "!!!", "folder", "dangling", "loop", "out", "pipe"):
        assert f"{name}.md is left out" in logged


def test_user_commands_may_be_linked_in(project: Path, config_home: Path, tmp_path: Path) -> None:
    folder = config_home / "mecatl/commands"
    folder.mkdir(parents=True)
    (folder / "linked.md").symlink_to(write(tmp_path / "elsewhere.md", "LINKED"))
    assert read(project, config_home)["linked"].body == "LINKED"
