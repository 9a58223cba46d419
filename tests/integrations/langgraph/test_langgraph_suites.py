"""LangGraph's own tests of its stores, unmodified, on ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.foreign_suite import ForeignSuite, needs_suites, unpacked

pytest.importorskip("langgraph.store.sqlite", reason="pip install langgraph-checkpoint-sqlite")

pytestmark = needs_suites

SQLITE, BASE = "langgraph-checkpoint-sqlite", "langgraph-checkpoint"


def suite_of(distribution: str) -> ForeignSuite:
    return ForeignSuite(
        unpacked(distribution),
        Path(__file__).with_name("swapped_stores.py"),
        prefix=f"{distribution}/",
        options=("-o", "addopts=", "-o", "asyncio_mode=auto"),
    )


@pytest.mark.parametrize(
    ("distribution", "file", "at_least"),
    [
        (SQLITE, "tests/test_store.py", 99),  # of 103
        (SQLITE, "tests/test_async_store.py", 37),  # of 39
        (SQLITE, "tests/test_ttl.py", 10),  # of 11
        (BASE, "tests/test_store.py", 116),  # of 117; the others are in not_applicable.txt
    ],
)
def test_every_test_of_langgraph_that_can_apply_passes(distribution: str, file: str, at_least: int) -> None:
    ran = suite_of(distribution).run(file)
    print(distribution, file, ran.summary)  # noqa: T201  the figures
    assert ran.all_passed(at_least=at_least), ran.said


@pytest.mark.parametrize("operation", ["PutOp", "GetOp", "SearchOp", "ListNamespacesOp"])
def test_a_store_with_an_operation_that_does_nothing_is_noticed(operation: str) -> None:
    assert suite_of(SQLITE).run("tests/test_store.py", BREAK_STORE=operation).count("failed") >= 5
