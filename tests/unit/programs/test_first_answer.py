"""A request with a key that was cut off is finished when it is sent again."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from chatmemory import ChatMemoryService, Do, Effect, ManagedRuntime, NewMessage
from chatmemory.errors import AddError
from chatmemory.programs.operations.first_answer import answered_once
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory_layers import stacks
from tests.empty_store import empty_store

MAIN = Grant(name="main", user="mei", conversations=(), past_chats=False)
CUT_OFF = Refusal("CutOffError", "the program ended here")


@Effect.gen
async def two_writes(do: Do[AddError | Refusal, ChatMemoryService], is_cut_off: bool) -> list[int]:
    memory = do.service(ChatMemoryService)
    first = await do(memory.add_messages("a", [NewMessage("user", "one")]))
    if is_cut_off:
        do.fail(CUT_OFF)
    second = await do(memory.add_messages("b", [NewMessage("user", "two")]))
    return [first.version, second.version]


@pytest.mark.parametrize("store", ["in_memory", "sqlite", "postgres"])
async def test_it_runs_on_from_its_first_write(store: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as opened:
        if store == "postgres":
            stack = stacks.postgres(await opened.enter_async_context(empty_store()))
        else:
            stack = stacks.testing() if store == "in_memory" else stacks.embedded(tmp_path / "a.db")
        runtime = await opened.enter_async_context(ManagedRuntime(stack))
        for is_cut_off in (True, False, False):
            asked = answered_once(MAIN, ("store", "key"), "asked", two_writes(is_cut_off))
            outcome = await runtime.run(asked)
        assert json.loads(outcome.unwrap()) == [1, 1]
        memory = await runtime.service(ChatMemoryService)
        assert [await memory.count(name).or_raise() for name in "ab"] == [1, 1]
