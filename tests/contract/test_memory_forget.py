"""What every memory repository forgets, what is left of it (nothing), and what expires."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.conversation.message_repository import Fork, MessageRepository, PageQuery
from chatmemory.laws.kit.samples import START, batch, said, summary_of
from chatmemory.laws.memories.memory_samples import SPACE, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import ForgetReceipt, Provenance, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Forgetting, MemoryListing, MemorySearch

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
WORD = Namespace("小明", "word")
HONG = Namespace("小红")
DAY = timedelta(days=1)

note = partial(remembered, namespace=MING)


async def ids(memories: MemoryRepository, namespace: Namespace = MING, **filters: Any) -> list[str]:
    listing = MemoryListing(namespace, 100, **filters)
    return [memory.id for memory in await memories.list(listing).or_raise()]


# --- One memory --------------------------------------------------------------------------------------------------


async def test_nothing_shows_what_was_forgotten(memories: MemoryRepository) -> None:
    secret = note(
        "1", "密码", key="密码", terms="密码", space=SPACE, vector=VECTORS[0], dedup_key=dedup_key("1")
    )
    await memories.store((secret,)).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="1")).or_raise()
    assert receipt == ForgetReceipt(memories=1, embeddings=1)
    assert await memories.get(MING, "1").or_raise() is None
    assert await memories.value(MING, "密码").or_raise() is None
    for words in (("密码",), ()):
        found = await memories.search(MemorySearch(MING, "密码", words, SPACE, VECTORS[0])).or_raise()
        assert (found.found, found.matched_text, found.coverage) == ((), False, Coverage(0, 0))
    assert await ids(memories) == await ids(memories, as_of=START) == []
    # Its dedup key is free again, and its uses begin anew.
    assert await memories.store((note("2", "别的", dedup_key=dedup_key("1")),)).or_raise() == (Stored("2"),)


async def test_what_it_had_superseded_goes_with_it_and_what_superseded_it_stays(
    memories: MemoryRepository,
) -> None:
    chain = [note("1"), note("2", replaces="1"), note("3", replaces="2"), note("4", replaces="3")]
    await memories.store((*chain, note("5"))).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="3")).or_raise()
    assert receipt.memories == 3
    assert [await memories.get(MING, name).or_raise() is None for name in "12345"] == [True] * 3 + [False] * 2


async def test_of_several_that_were_superseded_at_once_all_go(memories: MemoryRepository) -> None:
    await memories.store(
        (note("1", key="城市"), note("2", key="城市"), note("3", key="城市", replaces_key=True))
    ).or_raise()
    assert (await memories.forget(Forgetting(MING, memory_id="3")).or_raise()).memories == 3


async def test_what_is_not_seen_is_not_forgotten(memories: MemoryRepository) -> None:
    await memories.store((remembered("1", namespace=WORD), note("2"), note("3", replaces="2"))).or_raise()
    await memories.store((note("4", namespace=MING, replaces="1"),)).or_raise()
    for namespace in (HONG, EXCEL):
        for name in ("1", "nobody"):
            receipt = await memories.forget(Forgetting(namespace, memory_id=name)).or_raise()
            assert receipt == ForgetReceipt(0, 0)
    # The older value of a memory of no app belongs to an app that this reader does not see.
    assert (await memories.forget(Forgetting(EXCEL, memory_id="4")).or_raise()).memories == 1
    old = await memories.get(MING, "1").or_raise()
    assert old is not None
    assert (old.superseded_at, old.superseded_by) == (START, None)


# --- By where they come from -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "left"),
    [
        ({"session_id": "会议"}, ["4", "3", "of another user"]),
        ({"message_id": "1"}, ["4", "2", "of another user"]),
        ({"message_id": "1", "session_id": "会议"}, ["4", "3", "2", "of another user"]),
        ({"message_id": "11"}, ["4", "3", "2", "1", "of another user"]),
        ({"path": "notes.md#3"}, ["3", "2", "1", "of another user"]),
        ({"path": "notes.md"}, ["4", "3", "2", "1", "of another user"]),
        ({}, ["of another user"]),
    ],
)
async def test_what_comes_from_there_is_forgotten_and_nothing_else(
    memories: MemoryRepository, origin: dict[str, str], left: list[str]
) -> None:
    await memories.store(
        (
            note("1", session_id="会议", provenance=Provenance(("1", "2"))),
            note("2", session_id="会议", provenance=Provenance(("2",)), memory_type="short_term"),
            note("3", session_id="会", provenance=Provenance(("1",)), space=SPACE, vector=VECTORS[0]),
            note("4", provenance=Provenance(path="notes.md#3")),
            remembered("of another user", namespace=HONG, session_id="会议"),
        )
    ).or_raise()
    receipt = await memories.forget(Forgetting(MING, **origin)).or_raise()
    assert await ids(memories) + await ids(memories, HONG) == left
    assert receipt == ForgetReceipt(5 - len(left), int("3" not in left))


async def test_what_is_no_longer_true_is_forgotten_as_well(memories: MemoryRepository) -> None:
    await memories.store((note("1", session_id="会议"), note("2", replaces="1"))).or_raise()
    assert (await memories.forget(Forgetting(MING, session_id="会议")).or_raise()).memories == 1
    assert await memories.get(MING, "1").or_raise() is None


async def test_what_a_forgotten_memory_had_superseded_stays_superseded_by_none(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2", session_id="会议", replaces="1"))).or_raise()
    await memories.forget(Forgetting(MING, session_id="会议")).or_raise()
    old = await memories.get(MING, "1").or_raise()
    assert old is not None
    assert (old.superseded_at, old.superseded_by) == (START, None)
    assert await ids(memories) == []


async def test_a_reader_forgets_what_it_sees(memories: MemoryRepository) -> None:
    places = {"1": MING, "2": EXCEL, "3": WORD, "4": HONG}
    await memories.store(
        tuple(remembered(name, namespace=place) for name, place in places.items())
    ).or_raise()
    assert (await memories.forget(Forgetting(EXCEL)).or_raise()).memories == 2
    assert await ids(memories) + await ids(memories, HONG) == ["3", "4"]


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


# --- Expiry ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session_id", "created_before", "left"),
    [
        (None, None, ["promoted", "pinned"]),
        ("会议", None, ["promoted", "pinned", "old", "elsewhere"]),
        (None, START, ["promoted", "pinned", "new", "elsewhere"]),
        ("会议", START, ["promoted", "pinned", "old", "new", "elsewhere"]),
        ("会议", START + DAY, ["promoted", "pinned", "old", "elsewhere"]),
        (None, START - DAY, ["promoted", "pinned", "old", "new", "elsewhere"]),
    ],
)
async def test_short_term_memories_expire_by_session_and_age(
    memories: MemoryRepository, session_id: str | None, created_before: datetime | None, left: list[str]
) -> None:
    short = partial(note, memory_type="short_term")
    await memories.store(
        (
            short("new", session_id="会议"),
            short("old", created_at=START - DAY),
            short("elsewhere", session_id="会"),
            short("pinned", pinned=True, session_id="会议", created_at=START - DAY),
            note("promoted", session_id="会议", created_at=START - DAY),
            remembered("of another user", namespace=HONG, memory_type="short_term", session_id="会议"),
        )
    ).or_raise()
    count = await memories.expire(MING, session_id=session_id, created_before=created_before).or_raise()
    assert sorted(await ids(memories)) == sorted(left)
    assert count == 5 - len(left)
    assert await ids(memories, HONG) == ["of another user"]


async def test_what_an_expired_memory_had_superseded_stays_superseded_by_none(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2", replaces="1", memory_type="short_term"))).or_raise()
    assert await memories.expire(MING).or_raise() == 1
    old = await memories.get(MING, "1").or_raise()
    assert old is not None
    assert (old.superseded_at, old.superseded_by) == (START, None)
