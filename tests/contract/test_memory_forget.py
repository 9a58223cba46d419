"""What every memory repository forgets, what is left of it (nothing), and which summaries are stale then."""

from datetime import timedelta
from functools import partial

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.conversation.message_repository import Fork, MessageRepository, PageQuery
from chatmemory.laws.kit.samples import START, batch, said, summary_of
from chatmemory.laws.memories.memory_samples import SPACE, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import ForgetReceipt, Memory, Provenance, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Forgetting, MemoryListing, MemorySearch

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
WORD = Namespace("小明", "word")
HONG = Namespace("小红")
DAY = timedelta(days=1)

note = partial(remembered, namespace=MING)


async def ids(memories: MemoryRepository, namespace: Namespace = MING) -> list[str]:
    return [memory.id for memory in await memories.list(MemoryListing(namespace, 100)).or_raise()]


async def stored(memories: MemoryRepository, memory_id: str) -> Memory:
    memory = await memories.get(MING, memory_id).or_raise()
    assert memory is not None
    return memory


async def test_nothing_shows_what_was_forgotten(memories: MemoryRepository) -> None:
    secret = note(
        "1", "密码", key="密码", terms="密码", space=SPACE, vector=VECTORS[0], dedup_key=dedup_key("1")
    )
    await memories.store((secret,)).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="1")).or_raise()
    assert receipt == ForgetReceipt(memories=1, embeddings=1)
    assert await memories.value(MING, "密码").or_raise() is None
    for words in (("密码",), ()):
        found = await memories.search(MemorySearch(MING, "密码", words, SPACE, VECTORS[0])).or_raise()
        assert (found.found, found.matched_text, found.coverage) == ((), False, Coverage(0, 0))
    assert await memories.list(MemoryListing(MING, 100, as_of=START)).or_raise() == ()
    # Its dedup key is free again.
    assert await memories.store((note("2", "别的", dedup_key=dedup_key("1")),)).or_raise() == (Stored("2"),)


async def test_all_that_it_had_superseded_goes_with_it_and_what_superseded_it_stays(
    memories: MemoryRepository,
) -> None:
    at_once = [note("1", key="城市"), note("2", key="城市"), note("3", key="城市", replaces_key=True)]
    await memories.store((*at_once, note("4", replaces="3"), note("5"))).or_raise()
    assert (await memories.forget(Forgetting(MING, memory_id="3")).or_raise()).memories == 3
    assert [await memories.get(MING, name).or_raise() is None for name in "12345"] == [True] * 3 + [False] * 2


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
    assert (await ids(memories), await ids(memories, HONG)) == ([], ["0"])


async def test_what_is_no_longer_true_is_forgotten_by_its_origin_and_a_path_is_a_whole_path(
    memories: MemoryRepository,
) -> None:
    at_path = note("3", provenance=Provenance(("11",), path="notes.md#3"))
    await memories.store((note("1", session_id="会议"), note("2", replaces="1"), at_path)).or_raise()
    assert (await memories.forget(Forgetting(MING, session_id="会议")).or_raise()).memories == 1
    assert await memories.get(MING, "1").or_raise() is None
    for origin in ({"path": "notes.md"}, {"message_id": "1"}):
        assert (await memories.forget(Forgetting(MING, **origin)).or_raise()).memories == 0


async def test_what_an_expired_memory_had_superseded_stays_superseded_by_none(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2", replaces="1", memory_type="short_term"))).or_raise()
    assert await memories.expire(MING).or_raise() == 1
    old = await stored(memories, "1")
    assert (old.superseded_at, old.superseded_by) == (START, None)


# --- Summaries ---------------------------------------------------------------------------------------------------


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
        await repository.append(
            batch(conversation_id, *[said(f"{n}", f"第{n}句") for n in range(1, 6)])
        ).or_raise()
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


async def test_summaries_of_what_a_forgotten_memory_came_from_are_stale(
    memories: MemoryRepository, repository: MessageRepository, talk: str
) -> None:
    await memories.store(
        (
            note("a", session_id=talk, provenance=Provenance(("1", "5"))),
            note("b", session_id=talk, provenance=Provenance(("3",))),
            note("c", session_id="会", provenance=Provenance(("4",))),
            note("d", session_id="nowhere", provenance=Provenance(("4",))),
            note("e", provenance=Provenance(("4",))),
        )
    ).or_raise()
    before = await repository.conversation(talk).or_raise()
    for name in "cde":
        assert (await memories.forget(Forgetting(MING, memory_id=name)).or_raise()).stale_summaries == ()
    assert await stale(repository, talk) == []
    receipt = await memories.forget(Forgetting(MING, memory_id="b")).or_raise()
    assert receipt == ForgetReceipt(1, 0, stale_summaries=("outer",))
    assert await stale(repository, talk) == ["outer"]
    receipt = await memories.forget(Forgetting(MING, session_id=talk)).or_raise()
    assert receipt == ForgetReceipt(1, 0, stale_summaries=("inner", "outer"))
    assert await stale(repository, talk) == ["inner", "outer"]
    chain = await repository.summarizations_of(talk, "1").or_raise()
    assert [made.is_stale for made in chain] == [True, True]
    assert await repository.conversation(talk).or_raise() == before


async def test_a_memory_that_names_the_messages_of_others_marks_and_names_no_summary_of_theirs(
    memories: MemoryRepository, repository: MessageRepository
) -> None:
    ming = Principal(name="ming", namespace=MING, granted=(Granted(MING),))
    hong = Principal(name="hong", namespace=HONG, granted=(Granted(HONG),))
    shared = Granted(MING, "会", frozenset({"read"}))
    reader = Principal(name="hong", namespace=HONG, granted=(Granted(HONG), shared))
    with acting_as(ming):
        await repository.append(batch("会议", *[said(f"{n}", f"第{n}句") for n in range(1, 6)])).or_raise()
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


async def test_summaries_of_what_a_memory_said_before_are_stale_as_well(
    memories: MemoryRepository, repository: MessageRepository, talk: str
) -> None:
    old = note("1", session_id=talk, provenance=Provenance(("4",)))
    await memories.store((old, note("2", replaces="1"))).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="2")).or_raise()
    assert receipt == ForgetReceipt(2, 0, stale_summaries=("aside",))
