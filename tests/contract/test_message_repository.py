"""What every message repository does that no law says: exact answers, large messages, and where a page stands."""

from datetime import UTC, datetime, timedelta

import pytest

from chatmemory.conversation.message_repository import MessageRepository, PageQuery
from chatmemory.conversation.messages import Conversation, MessagePage, View
from chatmemory.effect import Failure
from chatmemory.errors import MessageConflictError
from chatmemory.laws.kit.samples import START, TEXTS, batch, said, summary_of

LATER = START + timedelta(hours=1)
INSTANTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 2, 17, 9, 30, 0, 123_457, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]
ALL: dict[View, list[str]] = {"full": [*"123456789", "s"], "model": ["1", "s", *"56789"]}


async def read(repository: MessageRepository, query: PageQuery) -> MessagePage:
    page = await repository.page(query).or_raise()
    assert page is not None
    return page


def ids(page: MessagePage) -> list[str]:
    return [message.id for message in page.messages]


@pytest.fixture
async def talk(repository: MessageRepository) -> str:
    """Nine messages, a minute apart; "2" to "4" are covered by a summary that bears the time of "4"."""
    for index in range(1, 10):
        draft = said(f"{index}", f"第{index}句", timestamp=START + timedelta(minutes=index))
        await repository.append(batch("会议", draft)).or_raise()
    page = await read(repository, PageQuery("会议", "full"))
    summary = summary_of("会议", page.messages[1:4], message_id="s", planned_at_version=9)
    await repository.summarize(summary).or_raise()
    return "会议"


async def test_an_append_reports_the_conversation_as_it_is_afterwards(repository: MessageRepository) -> None:
    await repository.append(batch("会议", said("1", "明天几点？"))).or_raise()
    answer = await repository.append(batch("会议", said("2"), said("3", role="system"), now=LATER)).or_raise()
    assert (answer.stored, answer.duplicates, answer.work_is_due) == (("2", "3"), (), False)
    assert answer.conversation == Conversation(
        "会议",
        version=2,
        message_count=3,
        view_count=3,
        view_tokens=12,
        open_count=2,
        created_at=START,
        updated_at=LATER,
    )
    assert await repository.conversation("会议").or_raise() == answer.conversation


async def test_any_instant_any_text_and_ten_megabytes_come_back_exactly(
    repository: MessageRepository,
) -> None:
    at_instants = [said(f"at {at}", timestamp=at) for at in INSTANTS]
    texts = [said(f"{index}", text, metadata={text: [text]}) for index, text in enumerate(TEXTS)]
    content = "记忆" * 1_700_000
    await repository.append(batch("c", *at_instants, *texts, said("long", content))).or_raise()
    *kept, long = (await read(repository, PageQuery("c", "full"))).messages
    assert [(one.timestamp, one.timestamp.utcoffset()) for one in kept[: len(INSTANTS)]] == [
        (at, timedelta()) for at in INSTANTS
    ]
    assert [one.metadata for one in kept[len(INSTANTS) :]] == [{text: [text]} for text in TEXTS]
    assert (len(long.content), long.content == content) == (len(content), True)


async def test_empty_metadata_and_none_are_two_messages(repository: MessageRepository) -> None:
    await repository.append(batch("c", said("1"))).or_raise()
    outcome = await repository.append(batch("c", said("1", metadata={})))
    assert outcome == Failure(MessageConflictError("c", ("1",)))


@pytest.mark.parametrize("view", ALL)
async def test_a_page_tells_whether_there_are_older_messages_and_leads_to_them_and_back(
    repository: MessageRepository, talk: str, view: View
) -> None:
    whole = ALL[view]
    for limit in (0, 1, 3, 50, None):
        page = await read(repository, PageQuery(talk, view, limit=limit))
        kept = len(whole) if limit is None else min(limit, len(whole))
        assert (ids(page), page.version) == (whole[len(whole) - kept :], 10)
        assert (page.older is None) == (kept == len(whole))
    assert (await read(repository, PageQuery(talk, view, limit=2, newer_than=0))).older is None
    newest = await read(repository, PageQuery(talk, view, limit=3))
    older = await read(repository, PageQuery(talk, view, limit=2, older_than=newest.older))
    back = await read(repository, PageQuery(talk, view, limit=3, newer_than=older.newer))
    assert ids(back) == ids(newest)
    again = await read(repository, PageQuery(talk, view, limit=2, older_than=back.older))
    assert ids(again) == ids(older)


async def test_a_page_before_an_instant_leads_to_older_ones(repository: MessageRepository, talk: str) -> None:
    await repository.append(batch(talk, said("early", timestamp=START))).or_raise()
    before = START + timedelta(minutes=4)
    page = await read(repository, PageQuery(talk, "full", limit=1, before=before))
    assert ids(page) == ["early"]
    page = await read(repository, PageQuery(talk, "full", limit=5, before=before, older_than=page.older))
    assert ids(page) == ["1", "2", "3"]
    page = await read(repository, PageQuery(talk, "model", before=START))
    assert (ids(page), page.older, page.version) == ([], None, 11)


async def test_what_a_summary_covers_names_it(repository: MessageRepository, talk: str) -> None:
    page = await read(repository, PageQuery(talk, "full"))
    assert [message.covered_by for message in page.messages] == [None, "s", "s", "s", *[None] * 6]
    assert page.messages[-1].role == "summary"
