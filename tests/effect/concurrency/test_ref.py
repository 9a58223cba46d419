"""``Ref``: Effect's cases."""

from __future__ import annotations

from typing import Never

import pytest

from chatmemory.effect import Do, Effect, Ref, Success

pytestmark = pytest.mark.anyio


async def test_get_set_and_update() -> None:
    ref = Ref(1)
    assert await ref.get() == Success(1)
    await ref.set(2)
    await ref.update(lambda value: value + 1)
    assert await ref.get() == Success(3)
    assert await ref.update_and_get(lambda value: value * 2) == Success(6)
    assert await ref.get_and_update(lambda value: value * 2) == Success(6)
    assert repr(ref) == "Ref(12)"


async def test_nothing_happens_before_the_effect_runs() -> None:
    ref = Ref("先")
    later = ref.set("后")
    assert await ref.get() == Success("先")
    await later
    assert await ref.get() == Success("后")


async def test_modify_is_atomic() -> None:
    ref = Ref(0)

    @Effect.gen
    async def take_numbers(do: Do[Never]) -> list[int]:
        return [await do(ref.modify(lambda value: (value, value + 1))) for _ in range(100)]

    taken = await Effect.all([take_numbers() for _ in range(10)], concurrency=None).or_raise()
    assert sorted(number for numbers in taken for number in numbers) == list(range(1000))


async def test_a_function_that_raises_leaves_the_value_as_it_was() -> None:
    ref = Ref(0)
    with pytest.raises(ZeroDivisionError):
        await ref.update(lambda value: 1 // value)
    assert ref.get().run_sync() == Success(0)
