"""What every memory repository forgets, what is left of it (nothing), and which summaries are stale then."""

import pytest

from chatmemory.access.principal import Granted, acting_as
from chatmemory.conversation.message_repository import Fork, MessageRepository, PageQuery
from chatmemory.laws.kit.samples import START, batch, said, somebody, summary_of
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.longterm.memories import ForgetReceipt, Provenance
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import Forgetting
from tests.contract.noted import EXCEL, HONG, MING, WORD, listed, note, stored

FIVE = [said(f"{number}", f"第{number}句") for number in range(1, 6)]


async def test_a_reader_forgets_what_it_sees_and_nothing_else(memories: MemoryRepository) -> None:
    places = {"0": HONG, "1": WORD, "2": MING, "3": EXCEL}
    drafts = [remembered(name, namespace=place) for name, place in places.items()]
    await memories.store((*drafts, note("4", replaces="1"))).or_raise()
    for namespace in (HONG, EXCEL):
        for name in ("1", "nobody"):
            receipt = await memories.forget(Forgetting(namespace, memory_id=name)).or_raise()
            assert receipt == ForgetReceipt(0, 0)
    # The older value of a memory of no app belongs to an app that this reader does not see.
    assert (await memories.forget(Forgetting(EXCEL, memory_id="4")).or_raise()).memories == 1
    old = await stored(memories, "1")
    assert (old.superseded_at, old.superseded_by) == (START, None)
    assert (await memories.forget(Forgetting(EXCEL)).or_raise()).memories == 2
    assert (await listed(memories), await listed(memories, HONG)) == ([], ["0"])


async def summarize(
    repository: MessageRepository, conversation_id: str, *covers: str, message_id: str, delete: bool = False
) -> None:
    page = await repository.page(PageQuery(conversation_id, "full")).or_raise()
    assert page is not None
    covered = [message for message in page.messages if message.id in covers]
    summary = summary_of(
        conversation_id,
        covered,
        message_id=message_id,
        planned_at_version=page.version,
        delete_covered=delete,
    )
    await repository.summarize(summary).or_raise()


@pytest.fixture
async def talk(repository: MessageRepository) -> str:
    """Five messages; one is deleted by a summary, that summary is covered by another, a third one covers the rest."""
    for conversation_id in ("会议", "会"):
        await repository.append(batch(conversation_id, *FIVE)).or_raise()
    await summarize(repository, "会议", "1", "2", message_id="inner", delete=True)
    await summarize(repository, "会议", "inner", "3", message_id="outer")
    await summarize(repository, "会议", "4", message_id="aside")
    return "会议"


async def stale(repository: MessageRepository, conversation_id: str) -> list[str]:
    found = [
        (summary_id, await repository.summarization(conversation_id, summary_id).or_raise())
        for summary_id in ("inner", "outer", "aside")
    ]
    return [summary_id for summary_id, metadata in found if metadata is not None and metadata.is_stale]


@pytest.mark.usefixtures("everybody")
async def test_a_memory_that_names_the_messages_of_others_marks_and_names_no_summary_of_theirs(
    memories: MemoryRepository, repository: MessageRepository
) -> None:
    ming, hong = somebody(MING.user), somebody(HONG.user)
    reader = somebody(HONG.user, Granted(MING, "会", frozenset({"read"})))
    with acting_as(ming):
        await repository.append(batch("会议", *FIVE)).or_raise()
    await summarize(repository, "会议", "4", message_id="aside")
    for who, stale_summaries in ((hong, ()), (reader, ("aside",))):
        with acting_as(who):
            origin = Provenance(("4", f"of {len(stale_summaries)}"))
            forged = note("x", namespace=HONG, session_id="会议", provenance=origin)
            await memories.store((forged,)).or_raise()
            receipt = await memories.forget(Forgetting(HONG, memory_id="x")).or_raise()
            assert receipt == ForgetReceipt(1, 0, stale_summaries=stale_summaries)
        assert await stale(repository, "会议") == [*stale_summaries]


async def test_summaries_of_shared_messages_are_stale_in_the_whole_tree_and_no_other_one(
    memories: MemoryRepository, repository: MessageRepository, talk: str
) -> None:
    await repository.fork(Fork(talk, "branch", None, START)).or_raise()  # shares all summaries
    await repository.fork(Fork(talk, "early", "3", START)).or_raise()  # shares 3
    await repository.append(batch("early", said("4", "another one"), said("6", "own"))).or_raise()
    await summarize(repository, "early", "3", message_id="of early")
    await summarize(repository, "early", "4", message_id="of another 4")
    await repository.fork(Fork("branch", "twig", None, START)).or_raise()
    await memories.store(
        (
            note("a", session_id="twig", provenance=Provenance(("4",))),
            note("b", session_id="early", provenance=Provenance(("3",))),
        )
    ).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="a")).or_raise()
    assert receipt.stale_summaries == ("aside",)
    for name in (talk, "branch", "twig"):
        assert await stale(repository, name) == ["aside"]
    other = await repository.summarization("early", "of another 4").or_raise()
    assert other is not None
    assert not other.is_stale
    receipt = await memories.forget(Forgetting(MING, memory_id="b")).or_raise()
    assert receipt.stale_summaries == ("of early", "outer")
    for name in (talk, "branch", "twig"):
        assert await stale(repository, name) == ["outer", "aside"]
