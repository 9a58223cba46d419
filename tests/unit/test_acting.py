"""For whom code runs: what begins inside of ``acting_as`` acts for the same principal, wherever it runs."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatmemory import (
    EVERYBODY,
    ChatMemoryService,
    ConversationNotFoundError,
    Granted,
    Namespace,
    NewMessage,
    Principal,
    ThreadRuntime,
    acting_as,
    principal,
)
from chatmemory.access.namespace import UNOWNED
from chatmemory.access.principal import NO_PRINCIPAL
from chatmemory.effect import Failure
from chatmemory.laws.kit.samples import somebody
from chatmemory_layers import stacks
from tests.for_each import for_each

ADA, BOB = somebody("ada"), somebody("bob")
HELLO = [NewMessage(role="user", content="hello")]


async def who() -> str:
    await asyncio.sleep(0)
    return principal().name


async def test_tasks_that_begin_inside_act_for_the_same_and_outside_nobody_is_named() -> None:
    with acting_as(ADA):
        task = asyncio.create_task(who())
        with acting_as(BOB):
            inner = await asyncio.gather(who(), who())
        after = await who()
    assert (await task, inner, after, await who()) == ("ada", ["bob", "bob"], "ada", "")
    assert principal() is NO_PRINCIPAL


def test_a_thread_runtime_acts_for_whoever_asks_it(tmp_path: Path) -> None:
    with ThreadRuntime(stacks.embedded(tmp_path / "a.db")) as runtime:
        add = ChatMemoryService.use(lambda memory: memory.add_messages("c", HELLO))
        look = ChatMemoryService.use(lambda memory: memory.get_messages("c"))
        with acting_as(ADA):
            runtime.run_blocking(add).unwrap()
        with acting_as(BOB):
            assert runtime.run_blocking(look) == Failure(ConversationNotFoundError("c"))
        with acting_as(EVERYBODY):
            assert len(runtime.run_blocking(look).unwrap()) == 1
            with ThreadPoolExecutor() as pool:  # whose threads do not know who acts
                assert pool.submit(runtime.run_blocking, look).result() == Failure(
                    ConversationNotFoundError("c")
                )


@for_each(
    "made_with",
    [
        lambda text: Principal(name=text, namespace=UNOWNED),
        lambda text: Principal(name="", namespace=Namespace(text)),
        lambda text: Principal(name="", namespace=Namespace("ada", text)),
        lambda text: Granted(Namespace(text)),
        lambda text: Granted(Namespace("ada", text)),
        lambda text: Granted(UNOWNED, text),
    ],
)
def test_a_principal_has_no_text_that_a_store_cannot_keep(made_with: Callable[[str], object]) -> None:
    for text, why in (("a\0", "NUL at character 1"), ("\ud800", "lone surrogate at character 0")):
        with pytest.raises(ValueError, match=why):
            made_with(text)
