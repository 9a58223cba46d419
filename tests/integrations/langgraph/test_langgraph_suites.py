"""LangGraph's own tests of its stores, unmodified, on ours: ``LANGGRAPH_SUITES`` names the folder of their unpacked archives.

pip download --no-binary :all: --no-deps langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integrations.foreign_suite import ForeignSuite

pytest.importorskip("langgraph.store.sqlite", reason="pip install langgraph-checkpoint-sqlite==3.1.2")

SUITES = os.environ.get("LANGGRAPH_SUITES", "")

pytestmark = pytest.mark.skipif(
    not SUITES, reason="LANGGRAPH_SUITES names no folder of unpacked archives of langgraph-checkpoint"
)

SQLITE, BASE = "langgraph_checkpoint_sqlite-3.1.2", "langgraph_checkpoint-4.3.2"


def suite_of(archive: str) -> ForeignSuite:
    return ForeignSuite(
        Path(SUITES).absolute() / archive,
        Path(__file__).with_name("swapped_stores.py"),
        prefix=f"{archive}/",
        options=("-o", "addopts=", "-o", "asyncio_mode=auto"),
    )


@pytest.mark.parametrize(
    ("archive", "file", "at_least"),
    [
        (SQLITE, "tests/test_store.py", 99),  # of 103
        (SQLITE, "tests/test_async_store.py", 37),  # of 39
        (SQLITE, "tests/test_ttl.py", 10),  # of 11
        (BASE, "tests/test_store.py", 116),  # of 117; the others are in not_applicable.txt
    ],
)
def test_every_test_of_langgraph_that_can_apply_passes(archive: str, file: str, at_least: int) -> None:
    ran = suite_of(archive).run(file)
    print(archive, file, ran.summary)  # noqa: T201  the figures
    assert ran.all_passed(at_least=at_least), ran.said


@pytest.mark.parametrize("operation", ["PutOp", "GetOp", "SearchOp", "ListNamespacesOp"])
def test_a_store_with_an_operation_that_does_nothing_is_noticed(operation: str) -> None:
    assert suite_of(SQLITE).run("tests/test_store.py", BREAK_STORE=operation).count("failed") >= 5
