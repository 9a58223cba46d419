"""How every message repository puts a summary in the place of messages, and tells where it comes from."""

from datetime import timedelta

import pytest

from chatmemory.conversation.message_repository import MessageRepository, PageQuery, Summary
from chatmemory.conversation.messages import SummarizationMetadata, TimestampRange, View
from chatmemory.effect import Failure, Success
from chatmemory.errors import RepositoryError, VersionConflictError
from chatmemory.laws.kit.samples import START, batch, said, summary_of

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
            timestamp=START + timedelta(minutes=index),
        )
        for index in range(1, 7)
    ]
    await repository.append(batch("会议", *drafts)).or_raise()
    return "会议"


async def ids(repository: MessageRepository, view: View) -> list[str]:
    page = await repository.page(PageQuery("会议", view)).or_raise()
    return [message.id for message in page.messages] if page else []


async def plan(
    repository: MessageRepository, *covers: str, message_id: str, delete_covered: bool = False
) -> Summary:
    page = await repository.page(PageQuery("会议", "full")).or_raise()
    assert page is not None
    covered = [message for message in page.messages if message.id in covers]
    return summary_of(
        "会议",
        covered,
        message_id=message_id,
        planned_at_version=page.version,
        delete_covered=delete_covered,
        now=LATER,
    )


@DELETING
async def test_a_summary_takes_the_place_of_what_it_covers(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    summary = await plan(repository, "1", "3", message_id="s", delete_covered=delete_covered)
    conversation = await repository.summarize(summary).or_raise()
    assert conversation == await repository.conversation(talk).or_raise()
    assert (conversation.version, conversation.updated_at) == (2, LATER)
    assert (conversation.view_count, conversation.open_count) == (5, 3)
    assert conversation.message_count == (5 if delete_covered else 7)
    assert conversation.view_tokens == 4 * len("第1句_") + summary.draft.tokens
    assert await ids(repository, "model") == ["2", "s", "4", "5", "6"]
    stored = ["2", "4", "5", "6", "s"] if delete_covered else [*"123456", "s"]
    assert await ids(repository, "full") == stored


@DELETING
async def test_a_summary_says_where_it_comes_from(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    summary = await plan(repository, "1", "3", message_id="s", delete_covered=delete_covered)
    await repository.summarize(summary).or_raise()
    made = SummarizationMetadata(
        id="origin of s",
        conversation_id=talk,
        summary_message_id="s",
        summarized_message_ids=("1", "3"),
        timestamp_range=TimestampRange(START + timedelta(minutes=1), START + timedelta(minutes=3)),
        skill_id="conversation-summary",
        messages_deleted=delete_covered,
        created_at=LATER,
    )
    assert await repository.summarization(talk, "s").or_raise() == made
    for covered in ("1", "3"):
        assert await repository.summarizations_of(talk, covered).or_raise() == (made,)
    for uncovered in ("2", "4", "s", "nobody"):
        assert await repository.summarizations_of(talk, uncovered).or_raise() == ()
        if uncovered != "s":
            assert await repository.summarization(talk, uncovered).or_raise() is None
    assert await repository.summarization("nobody", "s").or_raise() is None


@DELETING
async def test_a_rolling_summary_covers_the_earlier_one_too(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    for covers, name in ((("1", "3"), "a"), (("a", "4"), "b"), (("b", "5"), "c")):
        summary = await plan(repository, *covers, message_id=name, delete_covered=delete_covered)
        await repository.summarize(summary).or_raise()
    assert await ids(repository, "model") == ["2", "c", "6"]
    assert await ids(repository, "full") == (["2", "6", "c"] if delete_covered else [*"123456", *"abc"])
    for message_id, chain in {"1": "abc", "a": "bc", "4": "bc", "5": "c", "c": "", "6": ""}.items():
        found = await repository.summarizations_of(talk, message_id).or_raise()
        assert [made.summary_message_id for made in found] == [*chain]
    conversation = await repository.conversation(talk).or_raise()
    assert conversation is not None
    assert (conversation.open_count, conversation.view_count) == (1, 3)


@DELETING
async def test_a_summary_may_cover_the_whole_view(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    summary = await plan(repository, *"123456", message_id="s", delete_covered=delete_covered)
    conversation = await repository.summarize(summary).or_raise()
    assert (conversation.created_at, conversation.view_count, conversation.open_count) == (START, 1, 0)
    await repository.append(batch(talk, said("7"))).or_raise()
    assert await ids(repository, "model") == ["s", "7"]


async def test_messages_that_came_since_the_plan_do_no_harm(repository: MessageRepository, talk: str) -> None:
    summary = await plan(repository, "1", message_id="s")
    await repository.append(batch(talk, said("7"))).or_raise()
    assert isinstance(await repository.summarize(summary), Success)
    assert await ids(repository, "model") == ["s", *"234567"]


async def test_a_history_that_was_rewritten_since_the_plan_refuses_it(
    repository: MessageRepository, talk: str
) -> None:
    early, late = (
        await plan(repository, "1", message_id="s"),
        await plan(repository, "3", message_id="t"),
    )
    await repository.summarize(early).or_raise()
    before = await repository.conversation(talk).or_raise()
    assert await repository.summarize(late) == Failure(VersionConflictError(talk, expected=1, actual=2))
    assert await repository.conversation(talk).or_raise() == before
    assert await repository.summarization(talk, "t").or_raise() is None


@DELETING
async def test_no_message_is_covered_twice(
    repository: MessageRepository, talk: str, delete_covered: bool
) -> None:
    again = await plan(repository, "1", "3", message_id="t")
    summary = await plan(repository, "1", message_id="s", delete_covered=delete_covered)
    version = (await repository.summarize(summary).or_raise()).version
    again = summary_of(
        talk,
        [message for message in await _messages(repository) if message.id in {"1", "3"}],
        message_id="t",
        planned_at_version=version,
    )
    outcome = await repository.summarize(again)
    if delete_covered:  # only "3" was there to be read
        assert isinstance(outcome, Success)
    else:
        assert outcome == Failure(VersionConflictError(talk, expected=2, actual=2))


async def test_a_plan_from_before_a_clear_is_refused(repository: MessageRepository, talk: str) -> None:
    summary = await plan(repository, "1", message_id="s")
    await repository.clear(talk, now=LATER).or_raise()
    assert await repository.summarize(summary) == Failure(VersionConflictError(talk, expected=1, actual=2))
    await repository.append(batch(talk, said("1"))).or_raise()
    assert await repository.summarize(summary) == Failure(VersionConflictError(talk, expected=1, actual=3))
    assert await ids(repository, "full") == ["1"]


async def test_nothing_is_summarized_in_an_unknown_conversation(
    repository: MessageRepository, talk: str
) -> None:
    covered = (await _messages(repository))[:1]
    summary = summary_of("nobody", covered, message_id="s", planned_at_version=0)
    outcome = await repository.summarize(summary)
    assert outcome == Failure(VersionConflictError("nobody", expected=0, actual=0))
    assert await repository.conversation("nobody").or_raise() is None


async def test_a_summary_takes_no_id_from_a_message(repository: MessageRepository, talk: str) -> None:
    summary = await plan(repository, "1", message_id="6")
    outcome = await repository.summarize(summary)
    assert isinstance(outcome, Failure)
    error = outcome.failure()
    assert isinstance(error, RepositoryError)
    assert error.problem == "unexpected"
    assert await ids(repository, "model") == [*"123456"]
    assert await repository.summarizations_of(talk, "1").or_raise() == ()


async def test_deleted_messages_stay_known_and_are_not_stored_again(
    repository: MessageRepository, talk: str
) -> None:
    summary = await plan(repository, "1", "2", "3", message_id="s", delete_covered=True)
    await repository.summarize(summary).or_raise()
    answer = await repository.append(
        batch(talk, said("1", "第1句"), said("3", "whatever"), said("7"))
    ).or_raise()
    assert (answer.stored, answer.duplicates) == (("7",), ("1", "3"))
    assert await ids(repository, "model") == ["s", *"4567"]


async def test_sequence_numbers_are_never_used_again(repository: MessageRepository, talk: str) -> None:
    summary = await plan(repository, *"123456", message_id="s", delete_covered=True)
    await repository.summarize(summary).or_raise()
    await repository.append(batch(talk, said("7"))).or_raise()
    assert [message.seq for message in await _messages(repository)] == [7, 8]


async def _messages(repository: MessageRepository):
    page = await repository.page(PageQuery("会议", "full")).or_raise()
    assert page is not None
    return page.messages
