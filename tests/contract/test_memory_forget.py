"""What every memory repository forgets, what is left of it (nothing), and which summaries are stale then."""

import pytest

from chatmemory.access.principal import Granted, acting_as
from chatmemory.conversation.message_repository import MessageRepository
from chatmemory.laws.kit.samples import START, batch, said, somebody
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.laws.messages.witness import Witness
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


@pytest.fixture
async def talk(repository: MessageRepository) -> str:
    """Five messages; one is deleted by a summary, that summary is covered by another, a third one covers the rest."""
    witness = Witness(repository)
    for conversation_id in ("会议", "会"):
        await witness.append(conversation_id, *FIVE)
    await witness.summarize("会议", 0, 2, message_id="inner", delete_covered=True)
    await witness.summarize("会议", 0, 2, message_id="outer")
    await witness.summarize("会议", 1, 2, message_id="aside")
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
    await Witness(repository).summarize("会议", 3, 4, message_id="aside")
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
    witness = Witness(repository)
    await witness.fork(talk, "branch")  # shares all summaries
    await witness.fork(talk, "early", "3")  # shares 3
    await witness.append("early", said("4", "another one"), said("6", "own"))
    await witness.summarize("early", 0, 1, message_id="of early")
    await witness.summarize("early", 1, 2, message_id="of another 4")
    await witness.fork("branch", "twig")
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
