"""What is asked for at the same time is done together, and still fails one by one."""

import asyncio
from collections.abc import Sequence

import pytest

from chatmemory.access.principal import acting_as, principal
from chatmemory.integrations.langgraph.gathering import Gathering
from chatmemory.laws.kit.samples import somebody
from tests.patience import PATIENCE_SECONDS

FAILURES = {13: ValueError, 14: RuntimeError, 15: asyncio.CancelledError}


class Doubling:
    """Doubles numbers, in groups that can be looked at; refuses 13."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.has_begun = asyncio.Event()
        self.may_end = asyncio.Semaphore(0)
        self.gathering = Gathering(self.run, is_of_one=lambda failure: isinstance(failure, ValueError))

    def let_all_end(self) -> None:
        for _ in range(100):
            self.may_end.release()

    async def run(self, numbers: Sequence[int]) -> list[int]:
        self.groups.append(list(numbers))
        self.has_begun.set()
        await self.may_end.acquire()
        await asyncio.sleep(0)
        for number in (13, 14, 15):
            if number in numbers:
                raise FAILURES[number]
        return [] if 16 in numbers else [2 * number for number in numbers]


async def asked(doubling: Doubling, *numbers: int) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(doubling.gathering.ask(number)) for number in numbers]
    await asyncio.sleep(0)
    return tasks


async def test_who_is_alone_is_done_at_once_and_those_that_come_meanwhile_are_the_next_group() -> None:
    doubling = Doubling()
    first = await asked(doubling, 1, 2)
    assert doubling.groups == [[1]]
    later = await asked(doubling, 3, 4)
    doubling.let_all_end()
    assert await asyncio.gather(*first, *later) == [2, 4, 6, 8]
    assert doubling.groups == [[1], [2, 3, 4]]


async def test_requests_of_principals_run_in_their_names() -> None:
    seen: list[tuple[str, list[int]]] = []

    async def run(numbers: Sequence[int]) -> Sequence[int]:
        seen.append((principal().name, list(numbers)))
        await asyncio.sleep(0)
        return numbers

    gathering = Gathering[int, int](run, is_of_one=lambda _: False)

    async def ask(name: str, number: int) -> None:
        with acting_as(somebody(name)):
            assert await gathering.ask(number, writes=True) == number

    await asyncio.gather(ask("ada", 1), ask("bob", 2), ask("ada", 3))
    assert seen == [("ada", [1, 3]), ("bob", [2])]


async def test_who_had_company_waits_a_turn_for_it_and_who_asks_again_joins_it() -> None:
    doubling = Doubling()
    doubling.let_all_end()

    async def twice(number: int) -> None:
        await doubling.gathering.ask(number)
        await doubling.gathering.ask(number)

    await asyncio.gather(*map(twice, (1, 2, 3)))
    assert doubling.groups == [[1], [2, 3, 1], [2, 3]]
    assert await doubling.gathering.ask(5) == 10
    assert await doubling.gathering.ask(6) == 12
    assert doubling.groups[3:] == [[5], [6]]


async def test_a_group_waits_for_those_of_the_last_one_who_ask_again() -> None:
    doubling = Doubling()

    async def again(number: int) -> None:
        await doubling.gathering.ask(await doubling.gathering.ask(number))

    (alone,) = await asked(doubling, 1)
    repeating = [asyncio.create_task(again(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    doubling.may_end.release()
    await alone
    later = await asked(doubling, 5)
    doubling.let_all_end()
    await asyncio.gather(*later, *repeating)
    assert doubling.groups == [[1], [2, 3], [5, 4, 6]]


async def test_who_writes_hears_of_a_cancellation_when_it_is_known_what_is_stored() -> None:
    doubling = Doubling()
    asking = asyncio.create_task(doubling.gathering.ask(1, writes=True))
    await doubling.has_begun.wait()
    for _ in range(3):
        asking.cancel()
        await asyncio.sleep(0)
    assert not asking.done()
    doubling.let_all_end()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_fault_of_one_is_its_own_and_another_is_that_of_all() -> None:
    doubling = Doubling()
    doubling.let_all_end()
    one, fault, two = await asyncio.gather(*map(doubling.gathering.ask, (1, 13, 2)), return_exceptions=True)
    assert (one, type(fault), two) == (2, ValueError, 4)
    failed = await asyncio.gather(*map(doubling.gathering.ask, (1, 14)), return_exceptions=True)
    assert [type(each) for each in failed] == [RuntimeError] * 2
    assert doubling.groups[-1] == [1, 14], "nobody tries again"


async def test_who_leaves_before_the_group_begins_is_not_done() -> None:
    doubling = Doubling()
    doubling.let_all_end()
    stays, leaves = await asked(doubling, 1, 2)
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    assert await stays == 2
    assert doubling.groups == [[1]]


@pytest.mark.parametrize("number", [15, 16])
async def test_nobody_waits_for_a_run_that_cancels_itself_or_answers_too_little(number: int) -> None:
    doubling = Doubling()
    doubling.let_all_end()
    async with asyncio.timeout(PATIENCE_SECONDS):
        asking = map(doubling.gathering.ask, (1, 2, number))
        first, _, last = await asyncio.gather(*asking, return_exceptions=True)
        assert first == 2
        assert isinstance(last, Exception)
        assert await doubling.gathering.ask(3) == 6
