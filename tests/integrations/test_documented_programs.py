"""The programs of the documentation that need a framework run and print what stands below them."""

import sys
from pathlib import Path

import pytest

from tests.forked import imports_of, run_forked
from tests.readme_programs import OF_FRAMEWORKS, folder_for_programs


@pytest.mark.parametrize(("program", "output"), OF_FRAMEWORKS.values(), ids=OF_FRAMEWORKS)
def test_a_program_prints_what_stands_below_it(program: str, output: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-X", "utf8", "-c", program]
    folder = folder_for_programs(tmp_path / "program")
    run = run_forked(*command, cwd=folder, loaded=imports_of(program))
    assert (run.returncode, run.stderr, run.stdout) == (0, "", output)
