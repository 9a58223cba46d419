"""``Raising``: what a framework's users catch in the place of chatmemory's failures."""

import pytest

from chatmemory import ChatMemoryService, Effect, ManagedRuntime, ThreadRuntime
from chatmemory.effect import EffectFailed, EffectInterrupted, Layer
from chatmemory.errors import DataValidationError, Problem, RepositoryError
from chatmemory.integrations.raising import Raising
from chatmemory_layers import stacks
from tests.for_each import for_each


class RefusedError(Exception):
    pass


class FailedError(Exception):
    pass


class ClosedError(Exception):
    pass


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


async def test_a_runtime_that_does_not_open_has_failed() -> None:
    unopened = ThreadRuntime(Layer.effect(ChatMemoryService, Effect.fail(DAMAGED)))
    with pytest.raises(FailedError, match="damaged"):
        await RAISING.run(unopened, Effect.succeed(7))
    with pytest.raises(FailedError, match="damaged"):
        RAISING.outcome_blocking(unopened, Effect.succeed(7))
    unopened.close()


async def test_a_runtime_that_is_closed_says_so() -> None:
    runtime = ThreadRuntime[ChatMemoryService](stacks.testing())
    assert RAISING.outcome_blocking(runtime, Effect.succeed(7)).unwrap() == 7
    runtime.close()
    with pytest.raises(ClosedError, match="the runtime of this memory is closed") as raised:
        await RAISING.run(runtime, Effect.succeed(7))
    assert isinstance(raised.value.__cause__, EffectInterrupted)
    with pytest.raises(ClosedError):
        RAISING.outcome_blocking(runtime, Effect.succeed(7))
