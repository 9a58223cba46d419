"""Scopes: Effect's cases, v3 and v4."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import Cause, Die, Exit, Failure, Interrupt, Scope, Success
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


def writing(journal: list[Any], entry: Any) -> Callable[[Exit[Any, Any]], Awaitable[None]]:
    async def finalize(_: Exit[Any, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        journal.append(entry)

    return finalize


def failing(message: str) -> Callable[[Exit[Any, Any]], Awaitable[None]]:
    async def finalize(_: Exit[Any, Any]) -> None:
        raise OSError(message)

    return finalize


async def test_finalizers_run_once_in_reverse_order_also_when_the_closing_is_interrupted() -> None:
    journal: list[int] = []
    scope = Scope()
    await scope.add(writing(journal, 1))
    await scope.add(writing(journal, 2))
    assert journal == []
    with anyio.CancelScope() as cancel_scope:
        cancel_scope.cancel()
        await scope.close()
    await scope.close()
    assert journal == [2, 1]


async def test_a_fork_is_closed_on_its_own_or_with_its_scope() -> None:
    journal: list[str] = []
    async with Scope() as scope:
        early = scope.fork()
        await early.add(writing(journal, "early"))
        await scope.add(writing(journal, "scope"))
        await scope.fork().add(writing(journal, "late"))
        await early.close()
        async with scope.fork() as inner:
            await inner.add(writing(journal, "inner"))
        assert journal == ["early", "inner"]
    assert journal == ["early", "inner", "late", "scope"]


@for_each(
    ("raised", "told"),
    [
        (None, Success(None)),
        (error := OSError("disk full"), Failure(Cause((Die(error),)))),
        (KeyboardInterrupt(), Failure(Cause((Interrupt(),)))),
    ],
)
async def test_finalizers_are_told_how_the_scope_ended(
    raised: BaseException | None, told: Exit[Any, Any]
) -> None:
    exits: list[Exit[Any, Any]] = []

    async def finalize(exit_: Exit[Any, Any]) -> None:
        exits.append(exit_)

    with pytest.raises(type(raised)) if raised else nullcontext():
        async with Scope() as scope:
            await scope.add(finalize)
            if raised:
                raise raised
    assert exits == [told]


async def test_a_finalizer_added_after_the_close_runs_at_once() -> None:
    journal: list[int] = []
    scope = Scope()
    await scope.close()
    await scope.add(writing(journal, 1))
    await scope.fork().add(writing(journal, 2))
    assert journal == [1, 2]


async def test_all_finalizers_run_and_their_failures_are_gathered() -> None:
    journal: list[int] = []
    scope = Scope()
    for finalizer in (writing(journal, 1), failing("a"), writing(journal, 2), failing("b")):
        await scope.add(finalizer)
    with pytest.raises(ExceptionGroup) as caught:
        await scope.close()
    assert sorted(map(str, caught.value.exceptions)) == ["a", "b"]
    assert sorted(journal) == [1, 2]


async def test_the_failure_of_a_single_finalizer_is_raised_as_it_is_and_has_that_of_the_use_beside_it() -> (
    None
):
    scope = Scope()
    await scope.add(failing("release"))
    with pytest.raises(OSError, match="release") as caught:
        async with scope:
            raise ValueError("use")
    assert isinstance(caught.value.__context__, ValueError)


async def test_a_context_manager_is_left_when_its_scope_is_closed() -> None:
    journal: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncGenerator[str]:
        yield "value"
        journal.append("left")

    async with Scope() as scope:
        assert await scope.enter(opened()) == "value"
        assert journal == []
    assert journal == ["left"]
