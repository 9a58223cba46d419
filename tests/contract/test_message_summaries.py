"""How every message repository puts a summary in the place of messages, and tells where it comes from."""

from datetime import timedelta

import pytest

from chatmemory.conversation.message_repository import MessageRepository, PageQuery, Summary
from chatmemory.conversation.messages import ChatMessage, SummarizationMetadata, TimestampRange, View
from chatmemory.effect import Failure
from chatmemory.errors import RepositoryError, VersionConflictError
from chatmemory.laws.kit.samples import START, batch, said, summary_of

MINUTE = timedelta(minutes=1)
LATER = START + timedelta(hours=1)
DELETING = pytest.mark.parametrize("delete_covered", [False, True])


@pytest.fixture
async def talk(repository: MessageRepository) -> str:
    """Six messages, a minute apart, one of them a system message."""
    drafts = [
        said(
            f"{index}",
            f"第{index}句",
            role="system" if index == 2 else "user",
            timestamp=START + index * MINUTE,
        )
        for index in range(1, 7)
    ]
    await repository.append(batch("会议", *drafts)).or_raise()
    return "会议"


async def messages(repository: MessageRepository, view: View = "full") -> tuple[ChatMessage, ...]:
    page = await repository.page(PageQuery("会议", view)).or_raise()
    assert page is not None
    return page.messages


async def ids(repository: MessageRepository, view: View) -> list[str]:
    return [message.id for message in await messages(repository, view)]


async def plan(
    repository: MessageRepository, *covers: str, message_id: str, delete_covered: bool = False
) -> Summary:
    page = await repository.page(PageQuery("会议", "full")).or_raise()
    assert page is not None
    return summary_of(
        "会议",
        [message for message in page.messages if message.id in covers],
        message_id=message_id,
        planned_at_version=page.version,
        delete_covered=delete_covered,
        now=LATER,
    )


@DELETING
async def test_a_summary_takes_the_place_of_what_it_covers_and_says_where_it_comes_from(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    summary = await plan(repository, "1", "3", message_id="s", delete_covered=delete_covered)
    conversation = await repository.summarize(summary).or_raise()
    assert conversation == await repository.conversation(talk).or_raise()
    assert (conversation.version, conversation.updated_at) == (2, LATER)
    assert (conversation.view_count, conversation.open_count) == (5, 3)
    assert conversation.message_count == (5 if delete_covered else 7)
    assert conversation.view_tokens == 4 * len("第1句_") + summary.draft.tokens
    made = SummarizationMetadata(
        id="origin of s",
        conversation_id=talk,
        summary_message_id="s",
        summarized_message_ids=("1", "3"),
        timestamp_range=TimestampRange(START + MINUTE, START + 3 * MINUTE),
        skill_id="conversation-summary",
        messages_deleted=delete_covered,
        created_at=LATER,
    )
    assert await repository.summarization(talk, "s").or_raise() == made
    for covered in ("1", "3"):
        assert await repository.summarizations_of(talk, covered).or_raise() == (made,)
    for uncovered in ("2", "4", "nobody"):
        assert await repository.summarization(talk, uncovered).or_raise() is None
        assert await repository.summarizations_of(talk, uncovered).or_raise() == ()
    assert await repository.summarization("nobody", "s").or_raise() is None


@DELETING
async def test_a_summary_may_cover_the_whole_view_and_no_sequence_number_is_used_again(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    summary = await plan(repository, *"123456", message_id="s", delete_covered=delete_covered)
    conversation = await repository.summarize(summary).or_raise()
    assert (conversation.created_at, conversation.view_count, conversation.open_count) == (START, 1, 0)
    await repository.append(batch(talk, said("7"))).or_raise()
    assert await ids(repository, "model") == ["s", "7"]
    numbers = [message.seq for message in await messages(repository)]
    assert numbers == ([7, 8] if delete_covered else [1, 2, 3, 4, 5, 6, 7, 8])


async def test_a_summary_in_an_unknown_conversation_or_with_the_id_of_a_message_is_refused(
    repository: MessageRepository, talk: str
) -> None:
    covered = (await messages(repository))[:1]
    summary = summary_of("nobody", covered, message_id="s", planned_at_version=0)
    outcome = await repository.summarize(summary)
    assert outcome == Failure(VersionConflictError("nobody", expected=0, actual=0))
    assert await repository.conversation("nobody").or_raise() is None
    taken = await repository.summarize(await plan(repository, "1", message_id="6"))
    assert isinstance(taken, Failure)
    error = taken.failure()
    assert isinstance(error, RepositoryError)
    assert error.problem == "unexpected"
    assert await ids(repository, "model") == [*"123456"]
    assert await repository.summarizations_of(talk, "1").or_raise() == ()
