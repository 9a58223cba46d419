"""``for_each`` runs every case, reports every failing one, and leaves fixtures and marks to pytest."""

import asyncio
import inspect

import pytest

from tests.for_each import for_each


def test_every_case_runs_and_every_failing_one_is_named() -> None:
    seen: list[int] = []

    @for_each("number, square", [(2, 4), (3, 8), (4, 17)])
    @for_each("sign", [1, -1])
    def is_square(base: int, number: int, square: int, sign: int) -> None:
        seen.append(number * sign)
        assert (number * sign) ** 2 + base == square

    assert list(inspect.signature(is_square).parameters) == ["base"]
    with pytest.raises(ExceptionGroup, match="2 of 3 cases fail") as caught:
        is_square(base=0)
    assert seen == [2, -2, 3, -3, 4, -4]
    notes = [error.__notes__ for error in caught.value.exceptions]
    assert notes == [["in the case number=3, square=8"], ["in the case number=4, square=17"]]


def test_a_coroutine_is_awaited_marks_stay_and_a_case_with_a_mark_is_a_mistake() -> None:
    @for_each("number", [1, 2])
    @pytest.mark.anyio
    async def is_one(number: int) -> None:
        await asyncio.sleep(0)
        assert number == 1

    assert [mark.name for mark in is_one.pytestmark] == ["anyio"]
    with pytest.raises(ExceptionGroup, match="1 of 2 cases fail"):
        asyncio.run(is_one())
    for cases in ([], [pytest.param(1, marks=pytest.mark.skip)]):
        with pytest.raises(AssertionError):
            for_each("number", cases)
