"""A check that is switched off on a line says why, on that line or just above it."""

import re
from pathlib import Path
from typing import Final

import pytest

PROJECT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("chatmemory", "layers", "tests", "benchmarks", "examples")
READ_BY_TYPE_CHECKERS: Final = {"chatmemory", "layers"}

SWITCH: Final = re.compile(
    r"# (?:(?:ruff: )?noqa(?:: [A-Z]+\d+(?:, [A-Z]+\d+)*)?|(?:type|pyright): ignore(?:\[[^\]]*\])?)"
)
"""One that switches a check off, with the names of its rules; what follows is the reason."""


def switched_off(folder: str) -> list[tuple[str, str, str]]:
    """Return each switch with its place and its reason, the comment above included."""
    found: list[tuple[str, str, str]] = []
    for file in sorted((PROJECT / folder).rglob("*.py*")):
        if file.suffix not in {".py", ".pyi"} or file == Path(__file__):
            continue
        above = ""
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            switches = list(SWITCH.finditer(line))
            if switches:
                reason = line[switches[-1].end() :].strip(" #") or above
                place = f"{file.relative_to(PROJECT)}:{number}"
                found += [(place, switch[0], reason) for switch in switches]
            above = line.strip() if line.lstrip().startswith("# ") else ""
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_check_that_is_switched_off_says_why(folder: str) -> None:
    assert [place for place, _, reason in switched_off(folder) if not reason] == []


@pytest.mark.parametrize("folder", sorted(set(FOLDERS) - READ_BY_TYPE_CHECKERS))
def test_no_type_is_ignored_where_no_type_checker_looks(folder: str) -> None:
    assert [place for place, switch, _ in switched_off(folder) if "ignore" in switch] == []
