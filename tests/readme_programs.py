"""The programs of the README and of the page on type checkers, for the tests that run them and those that check their types."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPE_CHECKERS = (ROOT / "docs" / "type-checkers.md").read_text(encoding="utf-8")

# Each with what stands below it as its output, or with nothing.
PROGRAMS: list[tuple[str, str]] = re.findall(
    r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", README + TYPE_CHECKERS, re.MULTILINE | re.DOTALL
)


def needs_framework(program: str) -> bool:
    """Tell whether *program* shows an adapter, which needs the framework that it is for."""
    return "chatmemory.integrations." in program


def skip_without_frameworks(program: str) -> None:
    """Skip the test where *program* imports, itself or through an adapter of ours, a framework that is not installed."""
    for module in re.findall(r"^(?:from|import) ([\w.]+)", program, re.MULTILINE):
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as missing:
            if str(missing.name).startswith("chatmemory"):
                raise
            pytest.skip(f"{module} needs {missing.name}, which make test-integrations installs")
