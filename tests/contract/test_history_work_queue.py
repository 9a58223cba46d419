"""How every message repository queues history work, leases it and lets it go."""

from datetime import datetime, timedelta

import anyio
import pytest

from chatmemory.conversation.message_repository import (
    HistoryWork,
    MessageRepository,
    PageQuery,
    WorkThreshold,
)
from chatmemory.effect import Failure
from chatmemory.laws.kit.samples import ALWAYS, START, batch, said, summary_of

MINUTE = timedelta(minutes=1)


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


async def test_an_append_that_reaches_the_threshold_queues_work(repository: MessageRepository) -> None:
    for number, expected in (("1", False), ("2", False), ("3", True)):
        append = batch("c", said(number), threshold=WorkThreshold(open_count=3))
        assert (await repository.append(append).or_raise()).work_is_due is expected
    assert await claim(repository) == HistoryWork("c", attempts=1, lease_id="lease")


async def test_an_append_that_is_refused_queues_nothing(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1"))).or_raise()
    for refused in (
        batch("c", said("2"), expected_version=0, threshold=ALWAYS),
        batch("c", said("1", "别的"), threshold=ALWAYS),
    ):
        assert isinstance(await repository.append(refused), Failure)
    assert await claim(repository) is None


async def test_a_repeated_append_tells_of_the_work_that_is_queued(
    repository: MessageRepository, talk: str
) -> None:
    again = await repository.append(batch(talk, said("1"), threshold=None)).or_raise()
    assert (again.stored, again.work_is_due) == ((), True)


async def test_work_is_held_by_one(repository: MessageRepository, talk: str) -> None:
    claims: list[HistoryWork | None] = []

    async def try_it(number: int) -> None:
        claims.append(await claim(repository, lease_id=f"lease {number}"))

    async with anyio.create_task_group() as claimants:
        for number in range(8):
            claimants.start_soon(try_it, number)
    assert len([work for work in claims if work is not None]) == 1


async def test_a_lease_that_expired_passes_to_another(repository: MessageRepository, talk: str) -> None:
    first = await held(repository)
    just_before = START + MINUTE - timedelta(microseconds=1)
    assert await claim(repository, at=just_before) is None
    second = await claim(repository, at=START + MINUTE, lease_id="second")
    assert second == HistoryWork(talk, attempts=2, lease_id="second")
    await repository.settle_work(first, threshold=None).or_raise()
    await repository.settle_work(first, threshold=None, retry_at=START).or_raise()
    assert await claim(repository, at=START + MINUTE) is None
    third = await claim(repository, at=START + 2 * MINUTE, lease_id="second")
    assert third == HistoryWork(talk, attempts=3, lease_id="second")  # it was never settled by the first
    await repository.settle_work(second, threshold=None).or_raise()
    assert await claim(repository, at=START + 9 * MINUTE) is None


async def test_work_that_failed_waits_for_its_time_whatever_is_added(
    repository: MessageRepository, talk: str
) -> None:
    work = await held(repository)
    await repository.settle_work(work, threshold=None, retry_at=START + 5 * MINUTE).or_raise()
    answer = await repository.append(batch(talk, said("2"), threshold=ALWAYS)).or_raise()
    assert answer.work_is_due
    assert await claim(repository, at=START + 4 * MINUTE) is None
    again = await claim(repository, at=START + 5 * MINUTE)
    assert again == HistoryWork(talk, attempts=2, lease_id="lease")


async def test_work_that_is_done_goes_unless_more_is_due(repository: MessageRepository, talk: str) -> None:
    await repository.settle_work(await held(repository), threshold=ALWAYS).or_raise()
    work = await held(repository)
    assert work.attempts == 1  # another piece of work
    await repository.settle_work(work, threshold=WorkThreshold(open_count=2)).or_raise()
    assert await claim(repository, at=START + 9 * MINUTE) is None


async def test_what_is_added_while_work_is_held_is_work_for_later(
    repository: MessageRepository, talk: str
) -> None:
    work = await held(repository)
    await repository.append(batch(talk, said("2"), threshold=ALWAYS)).or_raise()
    assert await claim(repository) is None
    await repository.settle_work(work, threshold=WorkThreshold(open_count=2)).or_raise()
    assert await claim(repository) is not None


async def test_a_summary_takes_the_work_away_when_nothing_is_due_any_more(
    repository: MessageRepository, talk: str
) -> None:
    await repository.append(batch(talk, said("2"), threshold=ALWAYS)).or_raise()
    for minutes, threshold, remains in ((10, ALWAYS, True), (20, None, False)):
        page = await repository.page(PageQuery(talk, "model")).or_raise()
        assert page is not None
        summary = summary_of(
            talk,
            page.messages[:1],
            message_id=f"summary {remains}",
            planned_at_version=page.version,
            threshold=threshold,
        )
        await repository.summarize(summary).or_raise()
        work = await claim(repository, at=START + minutes * MINUTE)
        assert (work is not None) is remains


async def test_a_clear_takes_the_work_away_and_its_holder_settles_nothing(
    repository: MessageRepository, talk: str
) -> None:
    work = await held(repository)
    await repository.clear(talk, now=START).or_raise()
    await repository.settle_work(work, threshold=ALWAYS).or_raise()
    assert await claim(repository, at=START + 9 * MINUTE) is None


async def test_the_longest_waiting_work_comes_first(repository: MessageRepository) -> None:
    for minutes, conversation_id in ((3, "丙"), (1, "甲"), (2, "乙")):
        append = batch(conversation_id, said("1"), threshold=ALWAYS, now=START + minutes * MINUTE)
        await repository.append(append).or_raise()
    assert await claim(repository) is None
    found = [await claim(repository, at=START + 3 * MINUTE, lease_id=f"{index}") for index in range(4)]
    assert [work and work.conversation_id for work in found] == ["甲", "乙", "丙", None]


async def test_work_of_one_conversation_can_be_asked_for(repository: MessageRepository) -> None:
    for conversation_id in ("a", "A"):
        await repository.append(batch(conversation_id, said("1"), threshold=ALWAYS)).or_raise()
    assert await claim(repository, conversation_id="nobody") is None
    assert await claim(repository, conversation_id="A") == HistoryWork("A", attempts=1, lease_id="lease")
    assert await claim(repository, conversation_id="A") is None
    assert await claim(repository, conversation_id="a") == HistoryWork("a", attempts=1, lease_id="lease")
