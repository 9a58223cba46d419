"""The SDK's own tests of its sessions, unmodified, on ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.foreign_suite import ForeignSuite, needs_suites, unpacked

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")

FILES = (
    "tests/memory/test_session.py",
    "tests/memory/test_session_limit.py",
    "tests/memory/test_session_context_wrapper.py",
    "tests/extensions/memory/test_async_sqlite_session.py",
    "tests/extensions/memory/test_encrypt_session.py",
    "tests/memory/test_compaction_suffix.py",
    "tests/memory/test_compaction_model_visibility.py",
    "tests/memory/test_openai_responses_compaction_session.py",
)
AT_LEAST = 355  # the others are in not_applicable.txt

pytestmark = needs_suites

suite = ForeignSuite(unpacked("openai-agents"), Path(__file__).with_name("swapped_sessions.py"))


def test_every_test_of_the_sdk_that_can_apply_passes() -> None:
    ran = suite.run(*FILES)
    print(ran.summary)  # noqa: T201  the figures
    assert ran.all_passed(at_least=AT_LEAST), ran.said


@pytest.mark.parametrize("method", ["get_items", "add_items", "pop_item", "clear_session"])
def test_a_session_with_a_method_that_does_nothing_is_noticed(method: str) -> None:
    assert suite.run(*FILES, BREAK_SESSION=method).count("failed") >= 2
