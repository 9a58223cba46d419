"""LangGraph's own conformance suite of checkpointers, unmodified, on ours."""

from collections.abc import AsyncGenerator

import pytest

pytest.importorskip(
    "langgraph.checkpoint.conformance", reason="pip install langgraph-checkpoint-conformance==0.0.2"
)

from langgraph.checkpoint.conformance import checkpointer_test, validate

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemorySaver
from chatmemory_layers.stacks import MemoryTags, Stack

ALL = 81


async def figures(saver: ChatMemorySaver) -> tuple[int, list[str]]:
    @checkpointer_test(name="ChatMemorySaver")
    async def made() -> AsyncGenerator[ChatMemorySaver]:
        yield saver

    results = (await validate(made)).results.values()
    return sum(each.tests_passed for each in results), [name for each in results for name in each.failures]


@pytest.mark.parametrize("kind", [ManagedRuntime, ThreadRuntime])
async def test_every_case_passes(every_stack: Stack, kind: type[ManagedRuntime | ThreadRuntime]) -> None:
    async with kind(every_stack) as runtime:
        assert await figures(ChatMemorySaver(runtime)) == (ALL, [])


async def test_a_saver_that_breaks_a_promise_is_noticed(runtime: ManagedRuntime[MemoryTags]) -> None:
    class Forgetful(ChatMemorySaver):
        async def aput_writes(self, *_: object, **__: object) -> None:
            pass

    passed, failures = await figures(Forgetful(runtime))
    assert passed < ALL
    assert len(failures) >= 10
