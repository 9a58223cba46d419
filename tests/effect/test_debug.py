"""Development mode: what it warns of, where it says that it was, and what it leaves alone."""

from __future__ import annotations

import gc
import linecache
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from chatmemory.effect import (
    Effect,
    Failure,
    Layer,
    ManagedRuntime,
    Outcome,
    Success,
    Tag,
    ThreadRuntime,
    catch,
    debug,
)
from chatmemory.effect.debug import EffectWarning
from chatmemory.effect.stream.stream import Stream

pytestmark = pytest.mark.anyio


class Price(Tag[int]): ...


@pytest.fixture(autouse=True)
def development_mode() -> Generator[None]:
    was_enabled = debug.is_enabled()
    debug.enable()
    gc.freeze()  # only what the test leaves behind is garbage here, and that is soon looked through
    yield
    if not was_enabled:
        debug.disable()


async def no() -> Outcome[int, str]:
    return Failure("no")


def refused() -> Effect[int, str]:
    return Effect.from_outcome(no)


def code_of(warning: warnings.WarningMessage) -> str:
    """Return the line that *warning* names."""
    return linecache.getline(warning.filename, warning.lineno).strip()


async def warned(work: Callable[[], Awaitable[object]]) -> list[warnings.WarningMessage]:
    """Return what *work* is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await work()
        gc.collect()
    return [warning for warning in caught if warning.category is EffectWarning]


async def test_an_effect_that_never_ran_is_told_with_the_line_that_made_it() -> None:
    async def forgets_to_await() -> None:
        refused().map(str)

    (warning,) = await warned(forgets_to_await)
    assert "never ran: await it" in str(warning.message)
    assert code_of(warning) == "refused().map(str)"


async def test_a_failure_that_nobody_looked_at_is_told_with_the_line_that_awaited_it() -> None:
    async def drops() -> None:
        await refused()

    (warning,) = await warned(drops)
    assert "nobody looked at this failure: str: no" in str(warning.message)
    assert "or_raise" in str(warning.message)
    assert code_of(warning) == "await refused()"


async def test_a_failure_that_left_a_runtime_is_told() -> None:
    async def drops() -> None:
        async with ManagedRuntime(Layer.succeed(Price, 1)) as runtime:
            await runtime.run(refused())
            runtime.run_sync(Effect.fail("no"))
        async with ThreadRuntime(Layer.succeed(Price, 1)) as there:
            await there.run(refused())
            there.run_blocking(refused())
        Effect.fail("no").run_sync()
        await refused().run()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(refused().run)  # told by the line that made it

    told = await warned(drops)
    assert len(told) == 7
    assert {warning.filename for warning in told} == {__file__}


async def test_a_failure_for_which_a_cancelled_task_no_longer_waits_is_not_told() -> None:
    begun, may_end = threading.Event(), threading.Event()

    async def fails_late() -> Outcome[int, str]:
        begun.set()
        may_end.wait()  # so that no cancellation reaches it
        return Failure("no")

    async def cancels() -> None:
        async with ThreadRuntime(Layer.succeed(Price, 1)) as there, anyio.create_task_group() as tasks:

            async def looks() -> None:
                (await there.run(Effect.from_outcome(fails_late))).failure()

            tasks.start_soon(looks)
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
            may_end.set()

    assert await warned(cancels) == []


async def test_every_look_at_a_failure_is_a_look() -> None:
    def matched(outcome: Outcome[int, str]) -> None:
        match outcome:
            case Success():
                raise AssertionError
            case Failure():
                pass

    looks: list[Callable[[Outcome[int, str]], object]] = [
        matched,
        lambda outcome: isinstance(outcome, Failure),
        lambda outcome: isinstance(outcome, Success),
        lambda outcome: outcome == Success(1),
        lambda outcome: Failure("no") == outcome,
        lambda outcome: outcome.value_or(0),
        lambda outcome: outcome.failure(),
        repr,
        hash,
    ]
    for look in looks:

        async def look_at_it(look: Callable[[Outcome[int, str]], object] = look) -> None:
            look(await refused())

        assert await warned(look_at_it) == []


async def test_a_failure_that_is_watched_is_a_failure_like_any_other() -> None:
    effect = refused()
    assert f"<Effect made at {__file__}:" in repr(effect)
    outcome = await effect
    assert outcome == Failure("no")
    assert Failure("no") == outcome
    assert outcome != Failure("yes")
    assert hash(outcome) == hash(Failure("no"))
    assert repr(outcome) == "<Failure: no>"
    assert type(pickle.loads(pickle.dumps(outcome))) is Failure
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(outcome)
    assert await Effect.from_outcome(refused().run).alt(str.upper) == Failure("NO")


async def test_garbage_of_a_line_is_not_told_while_the_line_runs_again() -> None:
    async def collects() -> None:
        for _ in range(3):
            circle: list[Any] = [Effect.succeed(gc.collect())]
            circle.append(circle)

    async def collects_when_every_later_effect_is_gone() -> None:
        for is_second in (False, True):
            circle: list[Any] = [gc.collect() if is_second else None, Effect.succeed(is_second)]
            circle.append(circle)
            del circle
            await Effect.succeed("later, and gone")

    assert await warned(collects) == []
    assert await warned(collects_when_every_later_effect_is_gone) == []


async def test_what_is_handed_on_is_not_told_though_it_never_runs() -> None:
    async def hands_on() -> None:
        async def keep(*_: object) -> Outcome[int, str]:
            return Success(1)

        fallback = refused()
        after = refused()
        kept: list[Any] = [
            Effect.succeed(1).lash(lambda _: fallback),
            Effect.succeed(1).pipe(catch(str, lambda _: fallback)),
            Effect.all([Effect.fail("first"), refused(), after]),
            Effect.from_outcome(partial(keep, refused())),
            Effect.gen(_program)(refused()),
            Effect.succeed(1).race(refused()),
        ]
        for effect in kept:
            (await effect).value_or(None)
        Layer.effect(Price, refused())
        Stream.unwrap(refused().map(lambda _: Stream.from_iterable([1])))

    assert await warned(hands_on) == []


async def _program(do: Any, _: Effect[int, str]) -> int:
    return 1


async def test_an_answer_that_was_prepared_and_not_asked_for_is_left_alone() -> None:
    async def prepares() -> None:
        answers: list[Effect[int, str]] = [Effect.succeed(1), Effect.fail("no")]
        answers.clear()

    async def forgets_to_return() -> None:
        Effect.fail("no")

    assert await warned(prepares) == []
    (warning,) = await warned(forgets_to_return)
    assert "never ran" in str(warning.message)


async def test_it_can_be_switched_off() -> None:
    debug.disable()
    assert not debug.is_enabled()

    async def forgets() -> None:
        refused().map(str)
        await refused()

    assert await warned(forgets) == []
    assert type(refused()) is Effect


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


@pytest.mark.parametrize(("value", "lines"), [("1", [9, 10]), ("0", []), ("", [])])
def test_a_variable_switches_it_on_for_a_program(value: str, lines: list[int], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "CHATMEMORY_DEBUG": value}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=True, env=environment
    )
    told = [text for text in done.stderr.splitlines() if "EffectWarning" in text]
    assert [int(text.removeprefix(f"{program}:").partition(":")[0]) for text in told] == lines
