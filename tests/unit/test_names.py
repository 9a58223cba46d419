"""Public names can be imported, examples do what they show, and sources keep to what no linter checks."""

from __future__ import annotations

import ast
import doctest
import json
import pkgutil
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import chatmemory
import chatmemory.effect
import chatmemory.errors
import chatmemory.settings
import chatmemory.testing
import chatmemory_layers.stacks

PACKAGES = [
    chatmemory,
    chatmemory.effect,
    chatmemory.errors,
    chatmemory.settings,
    chatmemory.testing,
    chatmemory_layers.stacks,
]
BEFORE: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "data" / "public_names_0.5.0.json").read_text(encoding="utf-8")
)


def names_for_type_checkers(package: ModuleType) -> set[str]:
    stub = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name for statement in imports for name in statement.names}


def test_a_program_its_type_checker_and_a_star_see_the_same_names_and_each_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for package in PACKAGES:
        names, starred = names_for_type_checkers(package), dict[str, object]()
        exec(f"from {package.__name__} import *", starred)
        assert set(dir(package)) == names == starred.keys() - {"__builtins__"}
        assert all(getattr(package, name) is not None for name in names)
        # None is hidden by a module of that name.
        assert not names & {module.name for module in pkgutil.iter_modules(package.__path__)}
    with pytest.raises(AttributeError, match="module 'chatmemory' has no attribute 'ChatMemry'") as refused:
        getattr(chatmemory, "ChatMemry")  # noqa: B009  as an attribute, a type checker would not let it pass
    sys.__excepthook__(AttributeError, refused.value, None)
    assert "Did you mean: 'ChatMemory'?" in capsys.readouterr().err


def test_what_could_be_imported_before_still_can() -> None:
    gone = {name: set(names) - set(dir(import_module(name))) for name, names in BEFORE.items()}
    # CHANGELOG.md says what to write instead of a name that was removed on purpose.
    removed = {"chatmemory": {"wire"}, "chatmemory.effect": {"MemoMap", "Scope", "catch_layer", "wire"}}
    assert {package: names for package, names in gone.items() if names} == removed


MODULES = ["chatmemory.text.search_terms"] + [
    module.name
    for package in (chatmemory.effect, chatmemory.testing)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


def test_the_examples_do_what_they_show() -> None:
    results = {name: doctest.testmod(import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) >= 21


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


OF_A_FRAMEWORK: Final = "ChatMemoryConversations."
"""The methods of this class are documented by its base in pydantic-ai."""


def test_every_public_method_is_documented_by_its_class_or_by_a_contract_that_this_inherits() -> None:
    classes: dict[str, list[ast.ClassDef]] = {}
    for file in (file for folder in ("chatmemory", "layers") for file in (PROJECT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(node)

    def methods(owner: ast.ClassDef) -> dict[str, bool]:
        """Whether each method has a docstring, here or in a base."""
        bases = {name.id for base in owner.bases for name in ast.walk(base) if isinstance(name, ast.Name)}
        inherited = [methods(one) for name in bases - {owner.name} for one in classes.get(name, ())]
        own = {
            node.name: ast.get_docstring(node) is not None
            for node in owner.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        return {
            name: own.get(name, False) or any(base.get(name) for base in inherited)
            for name in {*own, *(name for base in inherited for name in base)}
        }

    bare = [
        f"{owner.name}.{name}"
        for owner in (one for named in classes.values() for one in named if not one.name.startswith("_"))
        for name, is_documented in methods(owner).items()
        if not is_documented and not name.startswith("_")
    ]
    assert {name for name in bare if not name.startswith(OF_A_FRAMEWORK)} == set()


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
