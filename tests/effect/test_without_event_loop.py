"""Layers and effects run to their end in the calling thread, with neither an event loop nor what would run one."""

import os
import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest

from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success, SuspendedError
from tests.effect.numbered_layers import Journal, One, Two
from tests.for_each import for_each


class Waiting:
    """What an event loop would resume."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def wait() -> Success[int]:
    await Waiting()
    raise AssertionError


def test_what_was_opened_is_closed_in_reverse_order() -> None:
    journal = Journal()
    layer = journal.layer(1).feed_keep(journal.layer(2))
    with ManagedRuntime(layer) as runtime:
        assert runtime.run_sync(Effect.all([One.get(), Two.get()])) == Success([1, 2])
        journal.append("ran")
    assert journal == ["a1", "a2", "ran", "r2", "r1"]


async def fail() -> Success[int]:
    raise ValueError("坏了")


async def give_up() -> Success[int]:
    raise KeyboardInterrupt


@for_each(("make", "error"), [(wait, SuspendedError), (fail, ValueError), (give_up, KeyboardInterrupt)])
def test_what_was_opened_before_a_layer_that_fails_or_waits_is_closed(
    make: Any, error: type[BaseException]
) -> None:
    journal = Journal()
    layer = journal.layer(1).feed_keep(Layer.effect(Two, Effect.from_outcome(make)))
    with pytest.raises(error, match=r"needs an event loop: await it|坏了|^$"), ManagedRuntime(layer):
        raise AssertionError
    assert journal == ["a1", "r1"]


def test_what_was_opened_is_closed_when_the_body_raises() -> None:
    journal = Journal()
    with pytest.raises(ValueError, match="坏了"), ManagedRuntime(journal.layer(1)):
        raise ValueError("坏了")
    assert journal == ["a1", "r1"]


def test_an_effect_that_waits_leaves_the_runtime_as_it_was() -> None:
    with ManagedRuntime(Layer.succeed(One, 1)) as runtime:
        with pytest.raises(SuspendedError):
            runtime.run_sync(Effect.from_outcome(wait))
        assert runtime.run_sync(One.use(Effect.fail)) == Failure(1)


PROGRAM = """
import sys
from contextlib import asynccontextmanager
from chatmemory.effect import Do, Effect, Layer, ManagedRuntime, Tag
from chatmemory.effect.services.clock import ClockTag

class One(Tag[int]): ...
class Two(Tag[int]): ...

@asynccontextmanager
async def opened(one):
    yield one + 1

@Effect.gen
async def work(do):
    await do(Effect.fail("no").lash(Effect.succeed).on_exit(lambda _: Effect.service(ClockTag)))
    return await do(Two.get()) + sum(await do(Effect.all([One.get(), One.get()])))

layer = Layer.sync(One, lambda: 1).feed_keep(Layer.scoped(Two, opened, One).failing_with(OSError))
with ManagedRuntime(layer) as runtime:
    assert runtime.run_sync(work()).unwrap() == 4
print(*sys.modules)
"""


def test_neither_anyio_nor_asyncio_is_loaded() -> None:
    environment = {**os.environ, "CHATMEMORY_DEBUG": "0"}  # development mode loads more
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    loaded = set(done.stdout.split())
    assert "chatmemory.effect.running.runtime" in loaded
    assert loaded & {"anyio", "asyncio", "cattrs", "logging", "random", "socket", "ssl", "trio"} == set()


def test_an_event_loop_that_was_started_without_anyio_is_noticed() -> None:
    program = (
        "import asyncio\n"
        "from chatmemory.effect.suspended import has_event_loop\n"
        "async def ask(): return has_event_loop()\n"
        "print(has_event_loop(), asyncio.run(ask()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
