"""How every message repository queues history work, leases it and lets it go, where no law says it."""

from datetime import datetime, timedelta

import pytest

from chatmemory.conversation.message_repository import HistoryWork, MessageRepository, WorkThreshold
from chatmemory.effect import Failure
from chatmemory.laws.kit.samples import ALWAYS, START, batch, said

MINUTE = timedelta(minutes=1)
MICROSECOND = timedelta(microseconds=1)


async def claim(
    repository: MessageRepository,
    *,
    at: datetime = START,
    lease_id: str = "lease",
    conversation_id: str | None = None,
) -> HistoryWork | None:
    """Claim for a minute."""
    return await repository.claim_work(
        now=at, lease_id=lease_id, lease_until=at + MINUTE, conversation_id=conversation_id
    ).or_raise()


async def held(repository: MessageRepository, *, at: datetime = START) -> HistoryWork:
    work = await claim(repository, at=at)
    assert work is not None
    return work


@pytest.fixture
async def talk(repository: MessageRepository) -> str:
    """A conversation with work in the queue."""
    answer = await repository.append(batch("会议", said("1"), threshold=ALWAYS)).or_raise()
    assert answer.work_is_due
    return "会议"


async def test_a_refused_append_queues_nothing_and_a_repeated_one_tells_of_what_is_queued(
    repository: MessageRepository,
) -> None:
    await repository.append(batch("c", said("1"))).or_raise()
    for refused in (
        batch("c", said("2"), expected_version=0, threshold=ALWAYS),
        batch("c", said("1", "别的"), threshold=ALWAYS),
    ):
        assert isinstance(await repository.append(refused), Failure)
    assert await claim(repository) is None
    await repository.append(batch("c", said("2"), threshold=ALWAYS)).or_raise()
    again = await repository.append(batch("c", said("2"), threshold=None)).or_raise()
    assert (again.stored, again.work_is_due) == ((), True)


async def test_who_held_work_before_neither_settles_it_nor_puts_it_off(
    repository: MessageRepository, talk: str
) -> None:
    first = await held(repository)
    assert await claim(repository, at=START + MINUTE - MICROSECOND) is None
    second = await claim(repository, at=START + MINUTE, lease_id="second")
    assert second == HistoryWork(talk, attempts=2, lease_id="second")
    await repository.settle_work(first, threshold=None).or_raise()
    await repository.settle_work(first, threshold=None, retry_at=START).or_raise()
    assert await claim(repository, at=START + MINUTE) is None
    third = await claim(repository, at=START + 2 * MINUTE, lease_id="second")
    assert third == HistoryWork(talk, attempts=3, lease_id="second")
    await repository.settle_work(second, threshold=None).or_raise()
    assert await claim(repository, at=START + 9 * MINUTE) is None


async def test_work_that_is_done_goes_unless_more_is_due_and_its_holder_settles_nothing_after_a_clear(
    repository: MessageRepository, talk: str
) -> None:
    await repository.settle_work(await held(repository), threshold=ALWAYS).or_raise()
    work = await held(repository)
    assert work.attempts == 1  # another piece of work
    await repository.settle_work(work, threshold=WorkThreshold(open_count=2)).or_raise()
    assert await claim(repository, at=START + 9 * MINUTE) is None
    await repository.append(batch(talk, said("2"), threshold=ALWAYS)).or_raise()
    work = await held(repository)
    await repository.clear(talk, now=START).or_raise()
    await repository.settle_work(work, threshold=ALWAYS).or_raise()
    assert await claim(repository, at=START + 9 * MINUTE) is None


async def test_the_longest_waiting_work_comes_first_and_that_of_one_conversation_can_be_asked_for(
    repository: MessageRepository,
) -> None:
    for minutes, conversation_id in ((3, "A"), (1, "a"), (2, "乙"), (3, "丙")):
        append = batch(conversation_id, said("1"), threshold=ALWAYS, now=START + minutes * MINUTE)
        await repository.append(append).or_raise()
    assert await claim(repository) is None
    at = START + 3 * MINUTE
    assert await claim(repository, at=at, conversation_id="nobody") is None
    assert await claim(repository, at=at, conversation_id="A") == HistoryWork("A", 1, "lease")
    assert await claim(repository, at=at, conversation_id="A") is None
    found = [await claim(repository, at=at, lease_id=f"{index}") for index in range(4)]
    assert [work and work.conversation_id for work in found] == ["a", "乙", "丙", None]
