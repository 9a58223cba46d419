"""The framework's own tests of its history providers, unmodified, on ours.

They are in no archive: ``AGENT_FRAMEWORK_SUITE`` names the folder ``python/packages/core`` of a checkout of
github.com/microsoft/agent-framework that belongs to the installed version.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integrations.foreign_suite import ForeignSuite

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

SUITE = os.environ.get("AGENT_FRAMEWORK_SUITE", "")
FILE = "tests/core/test_sessions.py"
AT_LEAST = 20  # of 40 that are about history providers; the others are in not_applicable.txt

pytestmark = pytest.mark.skipif(
    not SUITE, reason="AGENT_FRAMEWORK_SUITE names no checkout of python/packages/core of Agent Framework"
)

suite = ForeignSuite(
    Path(SUITE).absolute(),
    Path(__file__).with_name("swapped_providers.py"),
    options=("--asyncio-mode=auto", "--rootdir=."),
)


def test_every_test_of_the_framework_that_can_apply_passes() -> None:
    ran = suite.run(FILE)
    print(ran.summary)  # noqa: T201  the figures
    assert ran.all_passed(at_least=AT_LEAST), ran.said


@pytest.mark.parametrize("method", ["get_messages", "save_messages"])
def test_a_provider_with_a_method_that_does_nothing_is_noticed(method: str) -> None:
    assert suite.run(FILE, BREAK_PROVIDER=method).count("failed") >= 2
