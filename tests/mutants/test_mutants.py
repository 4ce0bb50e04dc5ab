"""Each acceptance test was seen to fail: the suite is run against servers that are broken on purpose."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
ACCEPTANCE = ROOT / "tests" / "acceptance"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_table_still_fits_the_server(mutant: Mutant) -> None:
    assert (ROOT / "server_stub" / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.old != mutant.new


def test_every_acceptance_test_file_has_a_server_that_fails_it() -> None:
    assert {mutant.caught_by for mutant in MUTANTS} == {path.name for path in ACCEPTANCE.glob("test_*.py")}


@pytest.mark.mutants
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_broken_server_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    for package in ("client", "server_stub", "tests", "mecatui"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    broken = tmp_path / "server_stub" / mutant.file
    broken.write_text(broken.read_text().replace(mutant.old, mutant.new))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout", "30"]
    ran = subprocess.run(
        [*command, f"tests/acceptance/{mutant.caught_by}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout
    assert " failed" in ran.stdout
    assert "ImportError" not in ran.stdout
