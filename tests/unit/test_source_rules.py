"""What no linter says of the sources: of checks that are switched off, of constants, and of folders."""

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("chatmemory", "layers", "tests", "benchmarks", "examples")
READ_BY_TYPE_CHECKERS: Final = ("chatmemory/", "layers/", "tests/typing/")

SWITCH: Final = re.compile(
    r"# (?:(?:ruff: )?noqa(?:: [A-Z]+\d+(?:, [A-Z]+\d+)*)?|(?:type|pyright): ignore(?:\[[^\]]*\])?)"
)
"""One that switches a check off, with the names of its rules; what follows is the reason."""


def switched_off() -> list[tuple[str, str, str]]:
    """Return each switch with its place and its reason, the comment above included."""
    found: list[tuple[str, str, str]] = []
    for file in (file for folder in FOLDERS for file in sorted((PROJECT / folder).rglob("*.py*"))):
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


def test_every_check_that_is_switched_off_says_why_and_where_no_type_checker_looks_no_type_is_ignored() -> (
    None
):
    found = switched_off()
    assert [place for place, _, reason in found if not reason] == []
    ignored = [place for place, switch, _ in found if "ignore" in switch]
    assert [place for place in ignored if not place.startswith(READ_BY_TYPE_CHECKERS)] == []


MOST: Final = 20
AT_THE_ROOT: Final = {"__init__", "extra", "namesake"}


def test_no_folder_has_more_files_than_can_be_overlooked_and_the_root_holds_no_part() -> None:
    folders = Counter(
        file.parent
        for package in ("chatmemory", "layers/chatmemory_layers")
        for file in (PROJECT / package).rglob("*.py")
        if file.name != "__init__.py"
    )
    assert len(folders) > 2
    assert {folder.name: files for folder, files in folders.items() if files > MOST} == {}
    assert {file.stem for file in (PROJECT / "chatmemory").glob("*.py")} <= AT_THE_ROOT


def test_no_constant_holds_half_a_character() -> None:
    # mypy 1.20 to 2.3 put the literal type of a constant into their cache, as UTF-8, and end with an internal error,
    # in the checks of everybody who imports us.
    constants = [
        (module.name, node.lineno, node.value.value)
        for package in ("chatmemory", "layers/chatmemory_layers")
        for module in (PROJECT / package).rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
    ]
    texts = [(name, line, value) for name, line, value in constants if isinstance(value, str)]
    assert len(texts) > 100
    assert [place for *place, text in texts if text.encode(errors="ignore").decode() != text] == []
