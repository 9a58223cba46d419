"""Development mode: what it warns of, where it says that it was, and what it leaves alone."""

import gc
import linecache
import os
import subprocess
import sys
import warnings
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chatmemory.effect import Effect, Failure, Layer, Outcome, Tag, catch, debug
from chatmemory.effect.debug import EffectWarning
from chatmemory.effect.stream import Stream

pytestmark = pytest.mark.anyio


class Price(Tag[int]): ...


@pytest.fixture(autouse=True)
def development_mode() -> Generator[None]:
    was_enabled = debug.is_enabled()
    debug.enable()
    yield
    if not was_enabled:
        debug.disable()


async def no() -> Outcome[int, str]:
    return Failure("no")


def refused() -> Effect[int, str]:
    return Effect.from_outcome(no)


async def warned(work: Callable[[], Awaitable[object]]) -> list[str]:
    """Return the lines that *work* is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await work()
        gc.collect()
    told = [warning for warning in caught if warning.category is EffectWarning]
    assert all("never ran: await it" in str(warning.message) for warning in told)
    return [linecache.getline(warning.filename, warning.lineno).strip() for warning in told]


async def test_an_effect_that_never_ran_is_told_with_the_line_that_made_it() -> None:
    def helps() -> Effect[int, str]:
        return refused().alt(str.upper)

    async def forgets() -> None:
        refused().map(str)
        helps()
        unused = refused()
        del unused
        Effect.fail("no")

    made = [
        "refused().map(str)",
        "return refused().alt(str.upper)",
        "unused = refused()",
        'Effect.fail("no")',
    ]
    assert await warned(forgets) == [
        "return Effect.from_outcome(no)" if "unused" in line else line for line in made
    ]


async def test_what_runs_or_is_handed_on_is_not_told() -> None:
    async def keep(*_: object) -> Outcome[int, str]:
        return await refused()

    async def program(_: Any, effect: Effect[int, str]) -> int:
        return 1

    async def hands_on() -> None:
        fallback = refused()
        kept: list[Any] = [
            refused(),
            Effect.succeed(1).lash(lambda _: fallback),
            Effect.succeed(1).pipe(catch(str, lambda _: fallback)),
            Effect.all([Effect.fail("first"), refused()]),
            Effect.from_outcome(partial(keep, refused())),
            Effect.gen(program)(refused()),
            Effect.all([Effect.succeed(1), refused()]),
        ]
        for effect in kept:
            await effect
        await refused()
        await refused().run()
        refused().run_sync()
        Layer.effect(Price, refused())
        Stream.unwrap(refused().map(lambda _: Stream.from_iterable([1])))
        answers: list[Effect[int, str]] = [Effect.succeed(1), Effect.fail("no")]
        answers.clear()  # prepared, and not asked for

    assert await warned(hands_on) == []


async def test_it_can_be_switched_off() -> None:
    debug.disable()
    assert not debug.is_enabled()

    async def forgets() -> None:
        refused().map(str)

    assert await warned(forgets) == []


PROGRAM = """
import asyncio
from chatmemory import ChatMemoryService, ManagedRuntime
from chatmemory_layers import stacks

async def main():
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        memory.get_messages("c1")
        await memory.get_messages("c1")

asyncio.run(main())
"""


@pytest.mark.parametrize(("value", "lines"), [("1", [9]), ("0", []), ("", [])])
def test_a_variable_switches_it_on_for_a_program(value: str, lines: list[int], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "CHATMEMORY_DEBUG": value}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=True, env=environment
    )
    told = [text for text in done.stderr.splitlines() if "EffectWarning" in text]
    assert [int(text.removeprefix(f"{program}:").partition(":")[0]) for text in told] == lines
