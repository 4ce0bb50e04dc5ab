"""Every test runs on a machine of its own: no home, no settings, no keys and no terminal of the person who runs it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import pytest_textual_snapshot
import textual.constants
from syrupy.location import PyTestLocation

from tests.support.skills import write_skill

ROOT = Path(__file__).parents[1]

_FIXED = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "TEXTUAL_ANIMATIONS": "none",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
_UNSET = {
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "TERM_PROGRAM",
    "EDITOR",
    "VISUAL",
}
_UNSET_ENDINGS = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_proxy", "_PROXY")
_UNSET_BEGINNINGS = ("MECATUI_", "MECATL_", "XDG_", "TEXTUAL_")
_KEPT = {"TEXTUAL_SNAPSHOT_TEMPDIR"}

hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")


def pytest_configure() -> None:
    """Keep the pictures of screens in one place: `snapshots/<test module>/<test>.svg`."""

    def dirname(_cls: type, *, test_location: PyTestLocation) -> str:
        return str(ROOT / "snapshots" / Path(test_location.filepath).stem)

    pytest_textual_snapshot.SVGImageExtension.dirname = classmethod(dirname)


def _is_of_this_machine(variable: str) -> bool:
    return variable not in _KEPT and (
        variable in _UNSET or variable.startswith(_UNSET_BEGINNINGS) or variable.endswith(_UNSET_ENDINGS)
    )


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def machine(_homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that nobody asked for: whatever reads it finds a skill and a command named `poison`."""
    home = Path(tempfile.mkdtemp(dir=_homes))
    for folder in (".agents/skills", ".claude/skills", ".config/mecatl/skills"):
        write_skill(home / folder, "poison", description="A test looked into a home that it did not set up.")
    commands = home / ".config" / "mecatl" / "commands"
    commands.mkdir()
    (commands / "poison.md").write_text("A test looked into a home that it did not set up.\n")
    for variable in filter(_is_of_this_machine, list(os.environ)):
        monkeypatch.delenv(variable)
    folders = {
        "CONFIG": ".config",
        "STATE": ".local/state",
        "DATA": ".local/share",
        "CACHE": ".cache",
        "RUNTIME": ".run",
    }
    monkeypatch.setenv("HOME", str(home))
    for name, folder in folders.items():
        (home / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        monkeypatch.setenv(f"XDG_{name}_DIR" if name == "RUNTIME" else f"XDG_{name}_HOME", str(home / folder))
    for variable, value in _FIXED.items():
        monkeypatch.setenv(variable, value)
    # Textual read its own variables before any of this could be set.
    monkeypatch.setattr(textual.constants, "TEXTUAL_ANIMATIONS", "none")
    return home


@pytest.fixture
def open_ground() -> Iterator[Path]:
    """A folder that other users can reach, which those of `tmp_path` are not."""
    ground = Path(tempfile.mkdtemp(prefix="mecatui-ground-"))
    ground.chmod(0o755)
    yield ground
    shutil.rmtree(ground, ignore_errors=True)
