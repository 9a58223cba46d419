"""What every message repository does with appends, versions and clears."""

from datetime import UTC, datetime, timedelta

import pytest

from chatmemory.conversation.message_repository import ConversationListing, MessageRepository, PageQuery
from chatmemory.conversation.messages import ChatMessage, ClearReport, Conversation
from chatmemory.effect import Failure
from chatmemory.errors import MessageConflictError, VersionConflictError
from chatmemory.laws.kit.samples import START, TEXTS, batch, said, summary_of

LATER = START + timedelta(hours=1)


async def full(repository: MessageRepository, conversation_id: str) -> tuple[ChatMessage, ...]:
    page = await repository.page(PageQuery(conversation_id, "full")).or_raise()
    return page.messages if page else ()


async def contents(repository: MessageRepository, conversation_id: str) -> list[str]:
    return [message.content for message in await full(repository, conversation_id)]


async def test_a_conversation_comes_into_being_with_its_first_message(repository: MessageRepository) -> None:
    assert await repository.conversation("会议").or_raise() is None
    await repository.append(batch("会议", said("1", "明天几点？"))).or_raise()
    assert await repository.conversation("会议").or_raise() == Conversation(
        "会议",
        version=1,
        message_count=1,
        view_count=1,
        view_tokens=6,
        open_count=1,
        created_at=START,
        updated_at=START,
    )


async def test_an_append_reports_the_conversation_as_it_is_afterwards(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1"))).or_raise()
    answer = await repository.append(batch("c", said("2"), said("3", role="system"), now=LATER)).or_raise()
    assert (answer.stored, answer.duplicates, answer.work_is_due) == (("2", "3"), (), False)
    assert answer.conversation == await repository.conversation("c").or_raise()
    assert (answer.conversation.message_count, answer.conversation.open_count) == (3, 2)
    assert (answer.conversation.created_at, answer.conversation.updated_at) == (START, LATER)


@pytest.mark.parametrize("content", TEXTS)
async def test_text_comes_back_exactly(repository: MessageRepository, content: str) -> None:
    await repository.append(batch("c", said("1", content, metadata={content: [content]}))).or_raise()
    (message,) = await full(repository, "c")
    assert (message.content, message.metadata) == (content, {content: [content]})


async def test_ten_megabytes_come_back_exactly(repository: MessageRepository) -> None:
    content = "记忆" * 1_700_000
    await repository.append(batch("c", said("1", content))).or_raise()
    assert await contents(repository, "c") == [content]


@pytest.mark.parametrize(
    "instant",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 2, 17, 9, 30, 0, 123_457, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
)
async def test_instants_come_back_to_the_microsecond_in_utc(
    repository: MessageRepository, instant: datetime
) -> None:
    await repository.append(batch("c", said("1", timestamp=instant))).or_raise()
    (message,) = await full(repository, "c")
    assert (message.timestamp, message.timestamp.utcoffset()) == (instant, timedelta())


async def test_order_is_the_order_of_writing_whatever_the_clock_says(repository: MessageRepository) -> None:
    for days, word in ((0, "一"), (-3, "二"), (0, "三"), (-9, "四")):
        draft = said(word, word, timestamp=START + timedelta(days=days))
        await repository.append(batch("c", draft)).or_raise()
    assert await contents(repository, "c") == ["一", "二", "三", "四"]
    assert [message.seq for message in await full(repository, "c")] == [1, 2, 3, 4]


async def test_what_is_stored_already_is_a_duplicate_and_changes_nothing(
    repository: MessageRepository,
) -> None:
    await repository.append(batch("c", said("1"), said("2", metadata={"a": 1, "b": 2}))).or_raise()
    before = await repository.conversation("c").or_raise()
    again = batch("c", said("2", metadata={"b": 2, "a": 1}, timestamp=LATER), said("1"), now=LATER)
    answer = await repository.append(again).or_raise()
    assert (answer.stored, answer.duplicates) == ((), ("2", "1"))
    assert answer.conversation == before == await repository.conversation("c").or_raise()
    assert (await full(repository, "c"))[1].timestamp == START


async def test_new_messages_among_duplicates_are_stored(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1", "旧"))).or_raise()
    answer = await repository.append(batch("c", said("2", "新"), said("1", "旧"), said("3", "新"))).or_raise()
    assert (answer.stored, answer.duplicates) == (("2", "3"), ("1",))
    assert [(message.id, message.seq) for message in await full(repository, "c")] == [
        ("1", 1),
        ("2", 2),
        ("3", 3),
    ]


@pytest.mark.parametrize(
    "other",
    [
        said("1", "你好", role="assistant"),
        said("1", "您好"),
        said("1", "你好", metadata={}),
        said("1", "你好", metadata={"n": 1}),
    ],
)
async def test_an_id_that_is_taken_refuses_the_whole_batch(repository: MessageRepository, other) -> None:
    await repository.append(batch("c", said("1", "你好"))).or_raise()
    before = await repository.conversation("c").or_raise()
    outcome = await repository.append(batch("c", said("2"), other, said("3")))
    assert outcome == Failure(MessageConflictError("c", ("1",)))
    assert await repository.conversation("c").or_raise() == before
    assert await contents(repository, "c") == ["你好"]


async def test_one_id_twice_in_a_batch_is_stored_once_or_refused(repository: MessageRepository) -> None:
    answer = await repository.append(batch("c", said("1"), said("1"))).or_raise()
    assert (answer.stored, answer.duplicates) == (("1",), ("1",))
    outcome = await repository.append(batch("c", said("2", "这个"), said("2", "那个")))
    assert outcome == Failure(MessageConflictError("c", ("2",)))


async def test_the_same_id_may_be_used_in_every_conversation(repository: MessageRepository) -> None:
    for conversation_id in ("a", "A", "a%", "会议"):
        answer = await repository.append(batch(conversation_id, said("1", conversation_id))).or_raise()
        assert answer.stored == ("1",)
    assert await contents(repository, "A") == ["A"]


async def test_an_expected_version_is_the_one_that_was_read(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1"), expected_version=0)).or_raise()
    await repository.append(batch("c", said("2"), expected_version=1)).or_raise()
    late = await repository.append(batch("c", said("3"), expected_version=1))
    assert late == Failure(VersionConflictError("c", expected=1, actual=2))
    new = await repository.append(batch("new", said("1"), expected_version=4))
    assert new == Failure(VersionConflictError("new", expected=4, actual=0))
    assert await repository.conversation("new").or_raise() is None


async def test_a_repeated_add_is_no_conflict_with_its_own_success(repository: MessageRepository) -> None:
    sent = batch("c", said("1", "你好"), said("2"), expected_version=0)
    first = await repository.append(sent).or_raise()
    again = await repository.append(sent).or_raise()
    assert (again.stored, again.duplicates, again.conversation) == ((), ("1", "2"), first.conversation)
    await repository.append(batch("c", said("3"))).or_raise()
    assert (await repository.append(sent).or_raise()).conversation.version == 2
    more = await repository.append(batch("c", said("1", "你好"), said("4"), expected_version=0))
    assert more == Failure(VersionConflictError("c", expected=0, actual=2))
    other = await repository.append(batch("c", said("1", "您好"), expected_version=0))
    assert other == Failure(VersionConflictError("c", expected=0, actual=2))
    await repository.clear("c", now=LATER).or_raise()
    gone = await repository.append(sent)
    assert gone == Failure(VersionConflictError("c", expected=0, actual=3))


async def test_a_clear_removes_everything_but_the_version(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1", "旧"), said("2"))).or_raise()
    messages = await full(repository, "c")
    await repository.summarize(summary_of("c", messages[:1], message_id="s", planned_at_version=1)).or_raise()
    assert await repository.clear("c", now=LATER).or_raise() == ClearReport(
        messages=3, summaries=1, version=3
    )
    assert await repository.page(PageQuery("c", "model")).or_raise() is None
    assert await repository.conversation("c").or_raise() is None
    assert await repository.summarization("c", "s").or_raise() is None
    assert await repository.summarizations_of("c", "1").or_raise() == ()
    assert await repository.conversations(ConversationListing(10)).or_raise() == ()
    assert await repository.clear("c", now=LATER).or_raise() is None


async def test_what_comes_after_a_clear_is_another_history(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1", "旧"), said("2"))).or_raise()
    await repository.clear("c", now=START).or_raise()
    stale = await repository.append(batch("c", said("3"), expected_version=1))
    assert stale == Failure(VersionConflictError("c", expected=1, actual=2))
    answer = await repository.append(batch("c", said("1", "新"), now=LATER)).or_raise()
    assert (answer.stored, answer.conversation.version) == (("1",), 3)
    assert answer.conversation.created_at == LATER
    assert [(message.content, message.seq) for message in await full(repository, "c")] == [("新", 3)]
