"""What a type checker tells users: the programs beside this module have exactly the errors that their comments expect."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = re.compile(r"# type error: .+")


def expected_errors() -> set[str]:
    return {
        f"{program.name}:{number}"
        for program in PROGRAMS.glob("*.py")
        for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), start=1)
        if EXPECTED.search(line)
    }


def mypy_errors() -> set[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    lines = _run(sys.executable, "-m", "mypy", "--output=json", str(PROGRAMS)).splitlines()
    notes: list[dict[str, Any]] = [json.loads(line) for line in lines if line.startswith("{")]
    return {f"{Path(note['file']).name}:{note['line']}" for note in notes if note["severity"] == "error"}


def basedpyright_errors() -> set[str]:
    command = shutil.which("basedpyright", path=sysconfig.get_path("scripts")) or shutil.which("basedpyright")
    if command is None:
        pytest.skip("basedpyright is not installed")
    answer = _run(command, "--outputjson", "--pythonpath", sys.executable, str(PROGRAMS))
    notes: list[dict[str, Any]] = json.loads(answer)["generalDiagnostics"]
    return {
        f"{Path(note['file']).name}:{note['range']['start']['line'] + 1}"
        for note in notes
        if note["severity"] == "error"
    }


def _run(*command: str) -> str:
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode in {0, 1}, checked.stderr  # 1: there are errors
    return checked.stdout


@pytest.mark.parametrize("errors_of", [mypy_errors, basedpyright_errors])
def test_the_programs_have_the_type_errors_that_they_expect_and_no_others(
    errors_of: Callable[[], set[str]],
) -> None:
    found = errors_of()
    assert found - expected_errors() == set(), "correct programs are refused"
    assert expected_errors() - found == set(), "wrong programs pass"
