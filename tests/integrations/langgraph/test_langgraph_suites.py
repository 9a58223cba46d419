"""LangGraph's own tests of its stores, unmodified, on ours: ``LANGGRAPH_SUITES`` names the folder of their unpacked archives.

pip download --no-binary :all: --no-deps --no-build-isolation langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langgraph.store.sqlite", reason="pip install langgraph-checkpoint-sqlite==3.1.2")

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SUITES = os.environ.get("LANGGRAPH_SUITES", "")
PATIENCE_SECONDS = 300

pytestmark = pytest.mark.skipif(
    not SUITES, reason="LANGGRAPH_SUITES names no folder of unpacked archives of langgraph-checkpoint"
)

SQLITE, BASE = "langgraph_checkpoint_sqlite-3.1.2", "langgraph_checkpoint-4.3.2"


def run_suite(suite: str, *files: str, **environment: str) -> str:
    """Run LangGraph's tests and return what pytest says of them."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "swapped_stores",
        "-p",
        "no:cacheprovider",
        "-q",
        "--tb=line",
    ]
    options = ["-o", "addopts=", "-o", "asyncio_mode=auto"]
    ran = subprocess.run(
        [*command, *options, *files],
        cwd=Path(SUITES) / suite,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (HERE, ROOT, ROOT / "layers"))),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return ran.stdout + ran.stderr


def count(said: str, what: str) -> int:
    found = re.search(rf"(\d+) {what}", said)
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    ("suite", "file", "at_least"),
    [
        (SQLITE, "tests/test_store.py", 99),  # of 103
        (SQLITE, "tests/test_async_store.py", 37),  # of 39
        (SQLITE, "tests/test_ttl.py", 10),  # of 11
        (BASE, "tests/test_store.py", 116),  # of 117; the others are in not_applicable.txt
    ],
)
def test_every_test_of_langgraph_that_can_apply_passes(suite: str, file: str, at_least: int) -> None:
    said = run_suite(suite, file)
    print(suite, file, *[line for line in said.splitlines() if " passed" in line])  # noqa: T201  the figures
    assert (count(said, "failed"), count(said, "error")) == (0, 0), said
    assert count(said, "passed") >= at_least, said


@pytest.mark.parametrize("operation", ["PutOp", "GetOp", "SearchOp", "ListNamespacesOp"])
def test_a_store_with_an_operation_that_does_nothing_is_noticed(operation: str) -> None:
    assert count(run_suite(SQLITE, "tests/test_store.py", BREAK_STORE=operation), "failed") >= 5
