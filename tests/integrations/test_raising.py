"""What a framework's users catch in the place of chatmemory's failures, and that a write that has begun ends.

That is so whoever cancels the one that waits for it, and on whatever event loop.
"""

import asyncio
import gc
from typing import NoReturn

import anyio
import pytest

from chatmemory import ChatMemoryService, Effect, ManagedRuntime, ThreadRuntime
from chatmemory.effect import EffectFailed, EffectInterrupted, Layer
from chatmemory.errors import DataValidationError, Problem, RepositoryError
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory_layers import stacks
from tests.for_each import for_each


class RefusedError(Exception): ...


class FailedError(Exception): ...


class ClosedError(Exception): ...


RAISING = Raising(refused=RefusedError, failed=FailedError, closed=ClosedError)
DAMAGED = RepositoryError("read", "damaged")
BROKEN = DataValidationError((Problem("$.limit", "至少 1"),))


@for_each(("error", "kind"), [(BROKEN, RefusedError), (DAMAGED, FailedError)])
async def test_a_failure_is_raised_in_its_own_words_and_stays_a_value(
    error: DataValidationError | RepositoryError, kind: type[Exception]
) -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        with pytest.raises(kind) as raised:
            await RAISING.run(runtime, Effect.fail(error))
        assert str(raised.value) == str(error)
        assert isinstance(raised.value.__cause__, EffectFailed)
        assert raised.value.__cause__.error == error
        assert (await RAISING.outcome(runtime, Effect.fail(error))).failure() == error
        assert await RAISING.run(runtime, Effect.succeed(7)) == 7


async def test_a_runtime_that_does_not_open_has_failed_and_one_that_is_closed_says_so() -> None:
    unopened = ThreadRuntime(Layer.effect(ChatMemoryService, Effect.fail(DAMAGED)))
    with pytest.raises(FailedError, match="damaged"):
        await RAISING.run(unopened, Effect.succeed(7))
    with pytest.raises(FailedError, match="damaged"):
        RAISING.outcome_blocking(unopened, Effect.succeed(7))
    unopened.close()
    closed = ThreadRuntime[ChatMemoryService](stacks.testing())
    assert RAISING.outcome_blocking(closed, Effect.succeed(7)).unwrap() == 7
    closed.close()
    with pytest.raises(ClosedError, match="the runtime of this memory is closed") as raised:
        await RAISING.run(closed, Effect.succeed(7))
    assert isinstance(raised.value.__cause__, EffectInterrupted)
    with pytest.raises(ClosedError):
        RAISING.outcome_blocking(closed, Effect.succeed(7))


class Writing:
    """Takes some turns of the event loop."""

    def __init__(self) -> None:
        self.has_begun = anyio.Event()
        self.has_ended = False

    async def write(self) -> str:
        self.has_begun.set()
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        self.has_ended = True
        return "写好了"

    async def fail(self) -> NoReturn:
        await self.write()
        raise OSError("满了")


@pytest.mark.anyio
async def test_who_waits_gets_the_result_or_the_failure(anyio_backend: str) -> None:
    assert await to_its_end(Writing().write()) == "写好了"
    with pytest.raises(OSError, match="满了"):
        await to_its_end(Writing().fail())


@pytest.mark.anyio
async def test_a_scope_that_is_cancelled_is_left_when_the_write_has_ended(anyio_backend: str) -> None:
    writing = Writing()
    async with anyio.create_task_group() as group:
        group.start_soon(to_its_end, writing.write())
        await writing.has_begun.wait()
        group.cancel_scope.cancel()
    assert writing.has_ended


@pytest.mark.anyio
async def test_a_failure_that_nobody_waits_for_any_more_is_not_complained_about(
    anyio_backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    writing = Writing()
    with anyio.CancelScope() as scope:
        scope.cancel()
        if anyio_backend == "trio":
            with pytest.raises(OSError, match="满了"):
                await to_its_end(writing.fail())
        else:
            await to_its_end(writing.fail())
    assert writing.has_ended
    gc.collect()  # when asyncio finds what was not asked for
    assert caplog.text == ""


@pytest.mark.anyio
async def test_a_task_that_is_cancelled_again_and_again_is_cancelled_when_the_write_has_ended(
    anyio_backend: str,
) -> None:
    if anyio_backend == "trio":
        pytest.skip("tasks of trio are cancelled by scopes alone")
    writing = Writing()
    task = asyncio.ensure_future(to_its_end(writing.write()))
    await writing.has_begun.wait()
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)
    assert task.cancelled()
    assert writing.has_ended


@pytest.mark.anyio
async def test_who_waits_for_a_write_in_a_cancelled_scope_does_not_spin(anyio_backend: str) -> None:
    """A scope of anyio that is cancelled wakes its tasks at each turn of the loop, unless they are shielded."""
    if anyio_backend == "trio":
        pytest.skip("a scope of trio cancels once")
    writing, woken = Writing(), 0

    class Counting(asyncio.Task[str]):
        def cancel(self, msg: object = None) -> bool:
            nonlocal woken
            woken += 1
            return super().cancel(msg)

    loop = asyncio.get_running_loop()
    loop.set_task_factory(lambda loop, work, **options: Counting(work, loop=loop, **options))
    async with anyio.create_task_group() as group:
        group.start_soon(to_its_end, writing.write())
        await writing.has_begun.wait()
        group.cancel_scope.cancel()
    loop.set_task_factory(None)
    assert writing.has_ended
    assert 1 <= woken <= 3
