"""How every message repository reads stretches of a conversation, in both views and both directions."""

from datetime import timedelta

import pytest

from chatmemory.conversation.message_repository import MessageRepository, PageQuery
from chatmemory.conversation.messages import MessagePage, View
from chatmemory.laws.kit.samples import START, batch, said, summary_of

VIEWS = pytest.mark.parametrize("view", ["full", "model"])


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


ALL = {"full": [*"123456789", "s"], "model": ["1", "s", *"56789"]}


async def read(repository: MessageRepository, query: PageQuery) -> MessagePage:
    page = await repository.page(query).or_raise()
    assert page is not None
    return page


def ids(page: MessagePage) -> list[str]:
    return [message.id for message in page.messages]


async def test_an_unknown_conversation_has_no_page(repository: MessageRepository) -> None:
    assert await repository.page(PageQuery("nobody", "full")).or_raise() is None
    assert await repository.page(PageQuery("没有", "model", limit=0)).or_raise() is None


@VIEWS
async def test_a_page_without_limit_is_the_whole_view(
    repository: MessageRepository, talk: str, view: View
) -> None:
    page = await read(repository, PageQuery(talk, view))
    assert (ids(page), page.older, page.version) == (ALL[view], None, 10)


async def test_a_summary_stands_in_the_place_of_the_last_message_that_it_covers(
    repository: MessageRepository, talk: str
) -> None:
    page = await read(repository, PageQuery(talk, "model", limit=6))
    assert ids(page) == ["s", *"56789"]
    page = await read(repository, PageQuery(talk, "full"))
    assert [message.covered_by for message in page.messages] == [None, "s", "s", "s", *[None] * 6]
    assert page.messages[-1].role == "summary"


@VIEWS
@pytest.mark.parametrize("limit", [0, 1, 3, 50])
async def test_a_limit_keeps_the_newest(
    repository: MessageRepository, talk: str, view: View, limit: int
) -> None:
    page = await read(repository, PageQuery(talk, view, limit=limit))
    whole = ALL[view]
    assert ids(page) == whole[max(0, len(whole) - limit) :]
    assert (page.older is None) == (limit >= len(whole))


@VIEWS
@pytest.mark.parametrize("size", [1, 2, 3, 10])
async def test_pages_towards_the_beginning_join_to_the_whole(
    repository: MessageRepository, talk: str, view: View, size: int
) -> None:
    page = await read(repository, PageQuery(talk, view, limit=size))
    joined = ids(page)
    while page.older is not None:
        page = await read(repository, PageQuery(talk, view, limit=size, older_than=page.older))
        assert len(page.messages) == size or page.older is None
        joined = ids(page) + joined
        assert len(joined) <= len(ALL[view])
    assert joined == ALL[view]


@VIEWS
@pytest.mark.parametrize("size", [1, 2, 3, 10])
async def test_pages_from_the_beginning_join_to_the_whole(
    repository: MessageRepository, talk: str, view: View, size: int
) -> None:
    joined: list[str] = []
    page = await read(repository, PageQuery(talk, view, limit=size, newer_than=0))
    assert page.older is None
    while page.messages:
        joined += ids(page)
        assert len(joined) <= len(ALL[view])  # a cursor that stands still would go on for ever
        page = await read(repository, PageQuery(talk, view, limit=size, newer_than=page.newer))
    assert joined == ALL[view]


@VIEWS
async def test_a_page_leads_back_to_the_one_that_it_came_from(
    repository: MessageRepository, talk: str, view: View
) -> None:
    newest = await read(repository, PageQuery(talk, view, limit=3))
    older = await read(repository, PageQuery(talk, view, limit=2, older_than=newest.older))
    back = await read(repository, PageQuery(talk, view, limit=3, newer_than=older.newer))
    assert ids(back) == ids(newest)
    again = await read(repository, PageQuery(talk, view, limit=2, older_than=back.older))
    assert ids(again) == ids(older)


@VIEWS
async def test_the_cursor_at_the_end_waits_for_what_comes_next(
    repository: MessageRepository, talk: str, view: View
) -> None:
    end = await read(repository, PageQuery(talk, view, limit=1))
    empty = await read(repository, PageQuery(talk, view, newer_than=end.newer))
    assert (ids(empty), empty.newer) == ([], end.newer)
    await repository.append(batch(talk, said("next"))).or_raise()
    assert ids(await read(repository, PageQuery(talk, view, newer_than=empty.newer))) == ["next"]


@VIEWS
async def test_before_filters_by_time_and_keeps_the_order(
    repository: MessageRepository, talk: str, view: View
) -> None:
    early = said("early", timestamp=START)
    await repository.append(batch(talk, early)).or_raise()
    before = START + timedelta(minutes=4)
    page = await read(repository, PageQuery(talk, view, before=before))
    assert ids(page) == (["1", "2", "3", "early"] if view == "full" else ["1", "early"])
    page = await read(repository, PageQuery(talk, view, limit=1, before=before))
    assert ids(page) == ["early"]
    page = await read(repository, PageQuery(talk, view, limit=5, before=before, older_than=page.older))
    assert ids(page) == (["1", "2", "3"] if view == "full" else ["1"])


@VIEWS
async def test_before_may_exclude_everything(repository: MessageRepository, talk: str, view: View) -> None:
    page = await read(repository, PageQuery(talk, view, before=START))
    assert (ids(page), page.older, page.version) == ([], None, 10)


async def test_messages_of_one_instant_keep_the_order_of_writing(repository: MessageRepository) -> None:
    for start in range(0, 9, 3):
        drafts = [said(f"{index}") for index in range(start, start + 3)]
        await repository.append(batch("c", *drafts)).or_raise()
    assert ids(await read(repository, PageQuery("c", "full"))) == [*"012345678"]
    assert ids(await read(repository, PageQuery("c", "full", before=START))) == []
    after = PageQuery("c", "model", before=START + timedelta(microseconds=1), limit=4)
    assert ids(await read(repository, after)) == [*"5678"]
