"""The SDK's own tests of its sessions, unmodified, on ours: ``OPENAI_AGENTS_SUITE`` names its unpacked source archive.

pip download --no-binary :all: --no-deps --no-build-isolation openai-agents==0.24.0
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SUITE = os.environ.get("OPENAI_AGENTS_SUITE", "")
FILES = (
    "tests/memory/test_session.py",
    "tests/memory/test_session_limit.py",
    "tests/memory/test_session_context_wrapper.py",
    "tests/extensions/memory/test_async_sqlite_session.py",
)
AT_LEAST = 85  # of 131; the others are in not_applicable.txt
PATIENCE_SECONDS = 300

pytestmark = pytest.mark.skipif(
    not SUITE, reason="OPENAI_AGENTS_SUITE names no unpacked source of openai-agents"
)


def run_suite(**environment: str) -> str:
    """Run the SDK's tests and return what pytest says of them."""
    # Quick to give up: a session that does nothing makes some of them wait.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "swapped_sessions",
        "-p",
        "no:cacheprovider",
        "-q",
        "--tb=line",
    ]
    path = os.pathsep.join(map(str, (SUITE, HERE, ROOT, ROOT / "layers")))
    ran = subprocess.run(
        [*command, *FILES],
        cwd=SUITE,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return ran.stdout + ran.stderr


def count(said: str, what: str) -> int:
    found = re.search(rf"(\d+) {what}", said)
    return int(found[1]) if found else 0


def test_every_test_of_the_sdk_that_can_apply_passes() -> None:
    said = run_suite()
    print(said.splitlines()[-1])  # noqa: T201  the figures
    assert (count(said, "failed"), count(said, "error")) == (0, 0), said
    assert count(said, "passed") >= AT_LEAST, said


@pytest.mark.parametrize("method", ["get_items", "add_items", "pop_item", "clear_session"])
def test_a_session_with_a_method_that_does_nothing_is_noticed(method: str) -> None:
    assert count(run_suite(BREAK_SESSION=method), "failed") >= 2
