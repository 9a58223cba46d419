"""What can be imported from the packages whose names load on demand, when they run and when they are only read."""

import ast
import json
import pkgutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

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


@pytest.mark.parametrize("package", PACKAGES)
def test_a_program_and_its_type_checker_see_the_same_names(package: ModuleType) -> None:
    assert set(dir(package)) == names_for_type_checkers(package)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_there(package: ModuleType) -> None:
    assert all(getattr(package, name) is not None for name in dir(package))


@pytest.mark.parametrize("package", BEFORE)
def test_what_could_be_imported_before_still_can(package: str) -> None:
    assert set(BEFORE[package]) - set(dir(import_module(package))) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_hidden_by_a_module_of_that_name(package: ModuleType) -> None:
    assert not set(dir(package)) & {module.name for module in pkgutil.iter_modules(package.__path__)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_star_imports_the_names_and_nothing_else(package: ModuleType) -> None:
    names: dict[str, object] = {}
    exec(f"from {package.__name__} import *", names)
    assert names.keys() - {"__builtins__"} == names_for_type_checkers(package)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'chatmemory' has no attribute 'ChatMemry'"):
        getattr(chatmemory, "ChatMemry")  # noqa: B009  as an attribute, a type checker would not let it pass
