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


def test_a_program_its_type_checker_and_a_star_see_the_same_names_and_each_is_there() -> None:
    for package in PACKAGES:
        names, starred = names_for_type_checkers(package), dict[str, object]()
        exec(f"from {package.__name__} import *", starred)
        assert set(dir(package)) == names == starred.keys() - {"__builtins__"}
        assert all(getattr(package, name) is not None for name in names)
        # None is hidden by a module of that name.
        assert not names & {module.name for module in pkgutil.iter_modules(package.__path__)}
    with pytest.raises(AttributeError, match="module 'chatmemory' has no attribute 'ChatMemry'"):
        getattr(chatmemory, "ChatMemry")  # noqa: B009  as an attribute, a type checker would not let it pass


def test_what_could_be_imported_before_still_can() -> None:
    gone = {name: set(names) - set(dir(import_module(name))) for name, names in BEFORE.items()}
    # CHANGELOG.md says what to write instead of a name that was removed on purpose.
    assert gone == {name: {"catch_layer"} if name == "chatmemory.effect" else set() for name in BEFORE}
