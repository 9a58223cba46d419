"""How every memory repository corrects, promotes and pins memories, counts their uses and exchanges their vectors."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import OTHER_SPACES, SPACE, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import Duplicate, Memory, Provenance, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import Attachment, MemorySearch

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
HONG = Namespace("小红")
DAY = timedelta(days=1)

note = partial(remembered, namespace=MING)


async def stored(memories: MemoryRepository, memory_id: str = "1") -> Memory:
    memory = await memories.get(MING, memory_id).or_raise()
    assert memory is not None
    return memory


async def similarity(memories: MemoryRepository) -> float | None:
    """Return how similar the only memory is to the first vector; None when it is not compared."""
    found = await memories.search(MemorySearch(MING, "nowhere", (), SPACE, VECTORS[0])).or_raise()
    return found.found[0].similarity if found.found else None


# --- Correcting --------------------------------------------------------------------------------------------------


async def test_a_correction_changes_what_a_memory_says_and_nothing_else(memories: MemoryRepository) -> None:
    first = note("1", session_id="会议", role="assistant", pinned=True, space=SPACE, vector=VECTORS[0])
    await memories.store((first,)).or_raise()
    await memories.record_use(MING, ("1",), use_id="u", session_id=None, now=START + DAY).or_raise()
    before = await stored(memories)
    said: dict[str, Any] = {
        "content": "住在上海",
        "key": "城市",
        "value": ["上海"],
        "category": "preference",
        "tags": ("home",),
        "confidence": 0.5,
        "source": "inferred",
        "provenance": Provenance(("m9",)),
    }
    other = {"session_id": "x", "role": "tool", "pinned": False, "created_at": START + DAY}
    draft = note("1", memory_type="short_term", namespace=EXCEL, **said, **other)
    after = evolve(before, **said, embedding=None, version=2)
    assert await memories.rewrite(draft, expected_version=1).or_raise() == after
    assert await stored(memories) == after
    await memories.store((remembered("2", namespace=Namespace("小明", "word")),)).or_raise()
    for stranger in (HONG, EXCEL):
        unseen = note("2", namespace=stranger)
        assert await memories.rewrite(unseen, expected_version=1).or_raise() is None


async def test_a_correction_keeps_the_vector_or_brings_another(memories: MemoryRepository) -> None:
    await memories.store((note("1", space=SPACE, vector=VECTORS[0]),)).or_raise()
    await memories.rewrite(note("1", "甲"), expected_version=1, keep_vector=True).or_raise()
    assert await similarity(memories) == pytest.approx(1, abs=1e-6)
    another = note("1", "乙", space=SPACE, vector=VECTORS[1])
    await memories.rewrite(another, expected_version=2).or_raise()
    assert await similarity(memories) == pytest.approx(-1, abs=1e-6)
    await memories.rewrite(note("1", "丙"), expected_version=3).or_raise()
    assert await similarity(memories) is None


async def test_a_correction_takes_its_dedup_key_along_unless_another_memory_has_it(
    memories: MemoryRepository,
) -> None:
    tea, coffee = dedup_key("茶"), dedup_key("咖啡")
    await memories.store((note("1", "爱喝茶", dedup_key=tea),)).or_raise()
    await memories.rewrite(note("1", "爱喝咖啡", dedup_key=coffee), expected_version=1).or_raise()
    again = (note("2", "爱喝咖啡", dedup_key=coffee), note("3", "爱喝茶", dedup_key=tea))
    assert await memories.store(again).or_raise() == (Duplicate("1"), Stored("3"))
    await memories.store((note("4", "别的"),)).or_raise()
    await memories.rewrite(note("4", dedup_key=tea), expected_version=1).or_raise()
    assert await memories.store((note("5", dedup_key=tea),)).or_raise() == (Duplicate("3"),)
    await memories.store((note("6", "别的", replaces="3"),)).or_raise()
    assert await memories.store((note("7", dedup_key=tea),)).or_raise() == (Stored("7"),)


# --- Promoting, pinning and using --------------------------------------------------------------------------------


async def test_a_mark_changes_what_it_names_and_may_be_repeated(memories: MemoryRepository) -> None:
    await memories.store((note("1", memory_type="short_term"),)).or_raise()
    before = await stored(memories)
    promoted = evolve(before, memory_type="long_term")
    for _ in range(2):
        assert await memories.mark(MING, "1", memory_type="long_term").or_raise() == promoted
    pinned = evolve(promoted, pinned=True)
    for _ in range(2):
        assert await memories.mark(MING, "1", pinned=True).or_raise() == pinned
    assert await memories.mark(MING, "1").or_raise() == pinned == await stored(memories)
    assert await memories.mark(MING, "1", memory_type="short_term", pinned=False).or_raise() == before
    assert await memories.mark(HONG, "1", pinned=True).or_raise() is None
    assert await stored(memories) == before


async def test_use_promotes_nothing_unless_it_is_asked_to_and_notes_the_sessions_all_the_same(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1", memory_type="short_term"),)).or_raise()
    use = partial(memories.record_use, MING, ("1",), now=START)
    for session in "abc":
        assert (await use(use_id=session, session_id=session).or_raise()).promoted == ()
    assert (await stored(memories)).memory_type == "short_term"
    assert (await use(use_id="d", session_id=None, promote_after=3).or_raise()).promoted == ("1",)


# --- Vectors -----------------------------------------------------------------------------------------------------


async def test_what_lacks_a_vector_is_listed_newest_first_and_counted(memories: MemoryRepository) -> None:
    other, _ = OTHER_SPACES
    await memories.store(
        (
            note("none"),
            note("older", created_at=START - DAY),
            note("of another space", space=other, vector=VECTORS[0]),
            note("embedded", space=SPACE, vector=VECTORS[0]),
            note("short-term", memory_type="short_term"),
            note("superseded"),
            note("superseding", replaces="superseded", space=SPACE, vector=VECTORS[0]),
            remembered("of another user", namespace=HONG),
        )
    ).or_raise()
    lacking = ["of another space", "none", "older"]
    page, count = await memories.unembedded(MING, SPACE, limit=2).or_raise()
    assert ([memory.id for memory in page], count) == (lacking[:2], 3)
    after = (page[-1].created_at, page[-1].id)
    page, count = await memories.unembedded(MING, SPACE, limit=2, after=after).or_raise()
    assert ([memory.id for memory in page], count) == (lacking[2:], 3)


async def test_a_vector_is_attached_in_place_of_any_other_but_not_to_another_content_or_what_is_not_seen(
    memories: MemoryRepository,
) -> None:
    other, _ = OTHER_SPACES
    mine = (note("1"), note("2", space=other, vector=VECTORS[0]))
    await memories.store((*mine, remembered("3", namespace=HONG))).or_raise()
    await memories.rewrite(note("1", "甲"), expected_version=1).or_raise()
    attachments = tuple([Attachment(name, 1, VECTORS[1]) for name in ("1", "2", "3", "nobody")])
    assert await memories.attach(MING, SPACE, attachments).or_raise() == 1
    one, two = await stored(memories, "1"), await stored(memories, "2")
    assert (one.embedding, two.embedding, two.version) == (None, SPACE, 1)
    assert await similarity(memories) == pytest.approx(-1, abs=1e-6)
    elsewhere = await memories.search(MemorySearch(MING, "nowhere", (), other, VECTORS[0])).or_raise()
    assert elsewhere.found == ()
