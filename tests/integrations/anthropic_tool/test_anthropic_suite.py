"""The SDK's own tests of its memory tools, unmodified, on ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.foreign_suite import ForeignSuite, needs_suites, unpacked

pytest.importorskip("anthropic", reason="pip install 'chatmemory-effect[anthropic]'")

FILE = "tests/lib/tools/memory_tools/test_filesystem.py"
AT_LEAST = 74  # of 99; the others are in not_applicable.txt

pytestmark = needs_suites

# Its conftest is about clients and recorded answers, and needs packages that these tests do without.
suite = ForeignSuite(
    unpacked("anthropic"),
    Path(__file__).with_name("swapped_memory_tools.py"),
    options=("--noconftest", "-o", "addopts="),
)


def test_every_test_of_the_sdk_that_can_apply_passes() -> None:
    ran = suite.run(FILE)
    print(ran.summary)  # noqa: T201  the figures
    assert ran.all_passed(at_least=AT_LEAST), ran.said


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_a_tool_with_a_command_that_does_nothing_is_noticed(command: str) -> None:
    ran = suite.run(FILE, "-k", "not too_many_lines", BREAK_TOOL=command)
    assert ran.count("failed") >= 6, "three in each of the two classes at least"
    assert ran.count("error") == 0
