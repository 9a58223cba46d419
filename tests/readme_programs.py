"""The programs of the README and of the documentation, for the tests that run them and those that check their types."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    page
    for page in (ROOT / "docs").rglob("*.md")
    if page.name != "testing.md"
    and "made" not in page.parts  # its examples are tests: test_testing_docs.py runs them
)


def programs_of(page: Path) -> list[tuple[str, str]]:
    """Return the programs of a page, each with what stands below it as its output, or with nothing."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", text, re.MULTILINE | re.DOTALL)


PROGRAMS = {
    f"{page.stem}-{number}": program
    for page in (ROOT / "README.md", *PAGES)
    for number, program in enumerate(programs_of(page), start=1)
}


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
