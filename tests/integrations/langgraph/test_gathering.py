"""What is asked for at the same time is done together, and still fails one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from chatmemory.integrations.gathering import Gathering


class Doubling:
    """Doubles numbers, in groups that can be looked at; refuses 13."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.may_end = asyncio.Event()
        self.gathering = Gathering(self.run, is_of_one=lambda failure: isinstance(failure, ValueError))

    async def run(self, numbers: Sequence[int]) -> list[int]:
        self.groups.append(list(numbers))
        await self.may_end.wait()
        if 13 in numbers:
            raise ValueError("13")
        if 14 in numbers:
            raise RuntimeError("14")
        return [2 * number for number in numbers]


async def test_those_that_come_meanwhile_are_the_next_group() -> None:
    doubling = Doubling()
    first = [asyncio.create_task(doubling.gathering.ask(number)) for number in (1, 2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = [asyncio.create_task(doubling.gathering.ask(number)) for number in (3, 4)]
    await asyncio.sleep(0)
    doubling.may_end.set()
    assert await asyncio.gather(*first, *later) == [2, 4, 6, 8]
    assert doubling.groups == [[1, 2], [3, 4]]
    assert await doubling.gathering.ask(5) == 10, "it begins again"


async def test_a_fault_of_one_is_its_own_and_another_is_that_of_all() -> None:
    doubling = Doubling()
    doubling.may_end.set()
    asking = [doubling.gathering.ask(number) for number in (1, 13, 2)]
    one, fault, two = await asyncio.gather(*asking, return_exceptions=True)
    assert (one, type(fault), two) == (2, ValueError, 4)
    asking = [doubling.gathering.ask(number) for number in (1, 14)]
    assert [type(each) for each in await asyncio.gather(*asking, return_exceptions=True)] == [
        RuntimeError
    ] * 2
    assert doubling.groups[-1] == [1, 14], "nobody tries again"


async def test_who_leaves_before_the_group_begins_is_not_done() -> None:
    doubling = Doubling()
    doubling.may_end.set()
    stays, leaves = (asyncio.create_task(doubling.gathering.ask(number)) for number in (1, 2))
    await asyncio.sleep(0)
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    assert await stays == 2
    assert doubling.groups in ([[1]], [[1, 2]])
