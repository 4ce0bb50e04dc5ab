"""The command line: what it answers, what it refuses, and what it leaves unloaded."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mecatui
from mecatui.backend import RemoteBackend
from mecatui.cli import main
from mecatui.flags import make_parser

ROOT = Path(__file__).parents[2]


def loaded_after(statement: str) -> set[str]:
    program = f"import sys\n{statement}\nprint(*sorted(sys.modules), file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


def test_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert mecatui.__version__ == told["project"]["version"]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mecatui {mecatui.__version__}\n"


def test_version_loads_nothing_that_it_does_not_need() -> None:
    loaded = loaded_after("from mecatui.cli import main; main(['--version'])")
    assert not loaded & {"argparse", "textual", "rich", "pydantic", "httpx", "subprocess", "dataclasses", "pathlib"}


def test_help_loads_only_the_standard_library() -> None:
    loaded = loaded_after("from mecatui.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass")
    assert not loaded & {"textual", "rich", "pydantic", "httpx", "client", "server_stub"}


def test_first_frame_needs_neither_client_nor_pydantic() -> None:
    loaded = loaded_after("import mecatui.launch, mecatui.app")
    assert not loaded & {"pydantic", "httpx", "client", "client.contract", "server_stub", "wcwidth", "yaml"}
    assert "mecatui.screens.chat" in loaded


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["frobnicate"], "invalid choice"),
        (["--frobnicate"], "unrecognized arguments"),
        (["--workspace", "/does/not/exist"], "there is no such folder"),
        (["connect", "localhost:80"], "an address is http://host:port"),
        (["connect"], "required"),
        (["connect", "unix:/nowhere", "and-more"], "unrecognized arguments"),
        (["--theme", "[/no]", "connect", "unix:/nowhere"], "there is no theme '[/no]'"),
    ],
)
def test_command_line_that_cannot_be_followed_fails(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_trust_is_run_by_the_server(tmp_path: Path, machine: Path) -> None:
    assert main(["trust", str(tmp_path)]) == 0
    assert str(tmp_path) in (machine / ".local" / "state" / "mecatui" / "trust.json").read_text()


def test_flags_are_repeatable_where_folders_are_meant() -> None:
    flags = make_parser().parse_args(["--skills-dir", "a", "--skills-dir", "b"])
    assert flags.skills_dir == [Path("a"), Path("b")]


def test_remote_backend_has_nothing_to_start_or_end() -> None:
    backend = RemoteBackend("unix:/nowhere")
    backend.restart()
    backend.close()
