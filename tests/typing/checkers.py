"""What mypy and basedpyright say of many programs, each in one run."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from attrs import frozen

ROOT = Path(__file__).parents[2]


@frozen
class Problem:
    """An error that a type checker reports."""

    path: Path
    line: int
    rule: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.text} [{self.rule}]"


def mypy_problems(*folders: Path) -> list[Problem]:
    # Of what the programs import, the signatures are enough, as in a package that is installed; `make check` reads the rest.
    options = ("--follow-imports=silent", "--output=json")
    lines = _run(sys.executable, "-m", "mypy", *options, *map(str, folders)).splitlines()
    notes: list[dict[str, Any]] = [json.loads(line) for line in lines if line.startswith("{")]
    return [
        Problem(ROOT / note["file"], note["line"], note["code"], note["message"])
        for note in notes
        if note["severity"] == "error"
    ]


def basedpyright_problems(*folders: Path) -> list[Problem]:
    command = Path(sysconfig.get_path("scripts"), "basedpyright")
    answer = _run(str(command), "--outputjson", "--pythonpath", sys.executable, *map(str, folders))
    notes: list[dict[str, Any]] = json.loads(answer)["generalDiagnostics"]
    return [
        Problem(Path(note["file"]), note["range"]["start"]["line"] + 1, note.get("rule", ""), note["message"])
        for note in notes
        if note["severity"] == "error"
    ]


def _run(*command: str) -> str:
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert checked.returncode in {0, 1}, checked.stdout + checked.stderr  # 1: there are errors
    return checked.stdout
