"""What every message repository does that no law says: with pages, summaries, and history work."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from chatmemory.conversation.message_repository import (
    ConversationListing,
    HistoryWork,
    MessageRepository,
)
from chatmemory.effect import Failure
from chatmemory.errors import RepositoryError, VersionConflictError
from chatmemory.laws.kit.samples import ALWAYS, MINUTE, START, batch, said, summary_of
from chatmemory.laws.messages.witness import Witness


@pytest.fixture
async def talk(repository: MessageRepository) -> str:
    """Nine messages, a minute apart; "2" to "4" are covered by a summary that bears the time of "4"."""
    witness = Witness(repository)
    for index in range(1, 10):
        draft = said(f"{index}", f"第{index}句", timestamp=START + timedelta(minutes=index))
        await witness.append("会议", draft)
    await witness.summarize("会议", 1, 4, message_id="s")
    return "会议"


async def test_a_summary_in_an_unknown_conversation_or_with_the_id_of_a_message_is_refused(
    repository: MessageRepository, talk: str
) -> None:
    witness = Witness(repository)
    plan = await witness.plan(talk, 0, 1, message_id="6")
    in_view = await witness.read(talk, "model")
    covered = in_view[:1]
    outcome = await repository.summarize(summary_of("nobody", covered, message_id="s", planned_at_version=0))
    assert outcome == Failure(VersionConflictError("nobody", expected=0, actual=0))
    assert await repository.conversation("nobody").or_raise() is None
    taken = await repository.summarize(plan)
    error = taken.failure()
    assert isinstance(error, RepositoryError)
    assert error.problem == "unexpected"
    assert await witness.read(talk, "model") == in_view
    assert await repository.summarizations_of(talk, "1").or_raise() == ()


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


LAST = "\U0010ffff" * 512  # no id is greater


async def listed(repository: MessageRepository, **listing: Any) -> list[str]:
    found = await repository.conversations(ConversationListing(**{"limit": 100, **listing})).or_raise()
    return [conversation.conversation_id for conversation in found]


async def test_nothing_comes_behind_the_last_id_that_begins_with_a_prefix(
    repository: MessageRepository,
) -> None:
    for conversation_id in ("a", LAST, "\uffff"):
        await repository.append(batch(conversation_id, said("1"))).or_raise()
    for prefix in ("\U0010ffff", LAST):
        assert await listed(repository, prefix=prefix) == [LAST]
        assert await listed(repository, prefix=prefix, order="recent") == [LAST]
    assert await listed(repository, limit=0) == []


async def test_what_changed_last_comes_first_and_a_place_stays_good_when_nobody_stands_there(
    repository: MessageRepository,
) -> None:
    for minute, conversation_id in enumerate(["c", "会议", "a", "b"]):
        await repository.append(batch(conversation_id, said("1"), now=START + minute * MINUTE)).or_raise()
    assert await listed(repository, after=(START + 9 * MINUTE, "aa")) == ["b", "c", "会议"]
    assert await listed(repository, after=(START + 2 * MINUTE, "z"), order="recent") == ["a", "会议", "c"]
    assert await listed(repository, after=(START + 2 * MINUTE, "A"), order="recent") == ["会议", "c"]
    later = START + 9 * MINUTE
    await repository.append(batch("c", said("1"), now=later)).or_raise()  # stored before: no change
    await repository.append(batch("会议", said("2"), now=later)).or_raise()
    await repository.clear("b", now=later).or_raise()
    assert await listed(repository, order="recent") == ["会议", "a", "c"]
