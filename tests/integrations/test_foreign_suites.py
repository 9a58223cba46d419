"""The tests that frameworks publish of their own parts, unmodified, on ours.

``make test-long`` installs the frameworks and unpacks their tests.
"""

from typing import Final

import pytest

from tests.integrations.foreign_suite import HERE, ForeignSuite, needs_suites, unpacked

pytestmark = needs_suites

# The SDK's conftest is about clients and recorded answers, and needs packages that these tests do without.
ANTHROPIC: Final = ForeignSuite(
    unpacked("anthropic"),
    HERE / "anthropic_tool" / "swapped_memory_tools.py",
    options=("--noconftest", "-o", "addopts="),
)
MEMORY_TOOLS = "tests/lib/tools/memory_tools/test_filesystem.py"

OPENAI_AGENTS: Final = ForeignSuite(unpacked("openai-agents"), HERE / "openai_agents" / "swapped_sessions.py")
SESSIONS = (
    "tests/memory/test_session.py",
    "tests/memory/test_session_limit.py",
    "tests/memory/test_session_context_wrapper.py",
    "tests/extensions/memory/test_async_sqlite_session.py",
    "tests/extensions/memory/test_encrypt_session.py",
    "tests/memory/test_compaction_suffix.py",
    "tests/memory/test_compaction_model_visibility.py",
    "tests/memory/test_openai_responses_compaction_session.py",
)


def langgraph(distribution: str) -> ForeignSuite:
    return ForeignSuite(
        unpacked(distribution),
        HERE / "langgraph" / "swapped_stores.py",
        prefix=f"{distribution}/",
        options=("-o", "addopts=", "-o", "asyncio_mode=auto"),
    )


SQLITE, BASE = langgraph("langgraph-checkpoint-sqlite"), langgraph("langgraph-checkpoint")


@pytest.mark.parametrize(
    ("suite", "files", "at_least"),
    [  # not_applicable.txt names the others
        pytest.param(ANTHROPIC, [MEMORY_TOOLS], 74, id="anthropic"),  # of 99
        pytest.param(OPENAI_AGENTS, SESSIONS, 355, id="openai-agents"),
        pytest.param(SQLITE, ["tests/test_store.py"], 99, id="sqlite store"),  # of 103
        pytest.param(SQLITE, ["tests/test_async_store.py"], 37, id="sqlite async store"),  # of 39
        pytest.param(SQLITE, ["tests/test_ttl.py"], 10, id="sqlite ttl"),  # of 11
        pytest.param(BASE, ["tests/test_store.py"], 116, id="store"),  # of 117
    ],
)
def test_every_published_test_that_can_apply_passes(
    suite: ForeignSuite, files: list[str], at_least: int
) -> None:
    ran = suite.run(*files)
    print(suite.folder.name, *files, ran.summary)  # noqa: T201  the figures
    assert ran.all_passed(at_least=at_least), ran.said


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_a_memory_tool_with_a_command_that_does_nothing_is_noticed(command: str) -> None:
    ran = ANTHROPIC.run(MEMORY_TOOLS, "-k", "not too_many_lines", BREAK_TOOL=command)
    assert ran.count("failed") >= 6, "three in each of the two classes at least"
    assert ran.count("error") == 0


@pytest.mark.parametrize("method", ["get_items", "add_items", "pop_item", "clear_session"])
def test_a_session_with_a_method_that_does_nothing_is_noticed(method: str) -> None:
    assert OPENAI_AGENTS.run(*SESSIONS, BREAK_SESSION=method).count("failed") >= 2


@pytest.mark.parametrize("operation", ["PutOp", "GetOp", "SearchOp", "ListNamespacesOp"])
def test_a_store_with_an_operation_that_does_nothing_is_noticed(operation: str) -> None:
    assert SQLITE.run("tests/test_store.py", BREAK_STORE=operation).count("failed") >= 5
