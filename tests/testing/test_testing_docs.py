"""What docs/guides/testing.md shows passes, as a test run of a project that has installed chatmemory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chatmemory.testing

pytest_plugins = ["pytester"]

TEXT = (Path(__file__).parents[2] / "docs" / "guides" / "testing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
OWN_RUN = (
    "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
)


def test_its_examples_pass(pytester: pytest.Pytester) -> None:
    pytester.makeini(OWN_RUN)
    pytester.makepyfile(**{f"test_{number}": example for number, example in enumerate(EXAMPLES)})
    tests = sum(len(re.findall(r"^(?:async )?def test_", example, re.MULTILINE)) for example in EXAMPLES)
    outcome = pytester.runpytest_subprocess("-p", "no:schemathesis", "-p", "no:pytest-bdd")
    counts = outcome.parseoutcomes()
    assert outcome.ret == 0
    # One of them runs on three stores; PostgreSQL need not be there.
    assert counts["passed"] + counts.get("skipped", 0) == tests + 2


def test_it_names_everything_that_tests_can_import() -> None:
    named = set(re.findall(r"\w+", TEXT)) | {"Call", "SequentialIds"}  # those two nobody writes
    assert set(dir(chatmemory.testing)) <= named
