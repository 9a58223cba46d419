"""How every memory repository corrects, promotes and pins memories, counts their uses and exchanges their vectors."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure
from chatmemory.errors import MemoryChangedError
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import OTHER_SPACES, SPACE, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import (
    Category,
    Duplicate,
    Memory,
    MemoryRole,
    MemoryType,
    Provenance,
    Source,
    Stored,
    UseReport,
)
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import Attachment, MemorySearch

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
HONG = Namespace("小红")
DAY = timedelta(days=1)
PREFERENCE: Category = "preference"

note = partial(remembered, namespace=MING)


async def stored(memories: MemoryRepository, memory_id: str = "1") -> Memory:
    memory = await memories.get(MING, memory_id).or_raise()
    assert memory is not None
    return memory


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
        "category": PREFERENCE,
        "tags": ("home",),
        "confidence": 0.5,
        "source": "inferred",
        "provenance": Provenance(("m9",)),
    }
    other = {"session_id": "x", "role": "tool", "pinned": False, "created_at": START + DAY}
    draft = note("1", memory_type="short_term", **said, **other)
    after = evolve(before, **said, embedding=None, version=2)
    assert await memories.rewrite(draft, expected_version=1).or_raise() == after
    assert await stored(memories) == after


async def test_a_correction_keeps_the_vector_or_brings_another(memories: MemoryRepository) -> None:
    await memories.store((note("1", space=SPACE, vector=VECTORS[0]),)).or_raise()
    await memories.rewrite(note("1", "甲"), expected_version=1, keep_vector=True).or_raise()
    assert await similarity(memories) == pytest.approx(1, abs=1e-6)
    another = note("1", "乙", space=SPACE, vector=VECTORS[1])
    await memories.rewrite(another, expected_version=2).or_raise()
    assert await similarity(memories) == pytest.approx(-1, abs=1e-6)
    await memories.rewrite(note("1", "丙"), expected_version=3).or_raise()
    assert await similarity(memories) is None


async def similarity(memories: MemoryRepository) -> float | None:
    """Return how similar the only memory is to the first vector; None when it is not compared."""
    found = await memories.search(MemorySearch(MING, "nowhere", (), SPACE, VECTORS[0])).or_raise()
    return found.found[0].similarity if found.found else None


async def test_a_correction_of_what_has_changed_meanwhile_is_refused(memories: MemoryRepository) -> None:
    await memories.store((note("1"),)).or_raise()
    await memories.rewrite(note("1", "甲"), expected_version=1).or_raise()
    before = await stored(memories)
    late = await memories.rewrite(note("1", "乙"), expected_version=1)
    assert late == Failure(MemoryChangedError("1", expected=1, actual=2))
    assert await stored(memories) == before


@pytest.mark.parametrize("namespace", [HONG, EXCEL])
async def test_what_is_not_seen_cannot_be_corrected(memories: MemoryRepository, namespace: Namespace) -> None:
    await memories.store((remembered("1", namespace=Namespace("小明", "word")),)).or_raise()
    assert await memories.rewrite(note("1", namespace=namespace), expected_version=1).or_raise() is None


async def test_a_memory_of_no_app_is_corrected_where_it_is(memories: MemoryRepository) -> None:
    await memories.store((note("1"),)).or_raise()
    corrected = await memories.rewrite(note("1", "甲", namespace=EXCEL), expected_version=1).or_raise()
    assert corrected is not None
    assert (corrected.namespace, corrected.content) == (MING, "甲")


async def test_a_correction_takes_its_dedup_key_along(memories: MemoryRepository) -> None:
    tea, coffee = dedup_key("茶"), dedup_key("咖啡")
    await memories.store((note("1", "爱喝茶", dedup_key=tea),)).or_raise()
    await memories.rewrite(note("1", "爱喝咖啡", dedup_key=coffee), expected_version=1).or_raise()
    again = (note("2", "爱喝咖啡", dedup_key=coffee), note("3", "爱喝茶", dedup_key=tea))
    assert await memories.store(again).or_raise() == (Duplicate("1"), Stored("3"))


async def test_a_dedup_key_stays_with_the_memory_that_has_it(memories: MemoryRepository) -> None:
    tea = dedup_key("茶")
    await memories.store((note("1", dedup_key=tea), note("2", "爱喝咖啡"))).or_raise()
    await memories.rewrite(note("2", dedup_key=tea), expected_version=1).or_raise()
    assert await memories.store((note("3", dedup_key=tea),)).or_raise() == (Duplicate("1"),)
    await memories.store((note("4", "别的", replaces="1"),)).or_raise()
    assert await memories.store((note("5", dedup_key=tea),)).or_raise() == (Stored("5"),)


# --- Promoting and pinning ---------------------------------------------------------------------------------------


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


async def test_what_is_not_seen_cannot_be_marked(memories: MemoryRepository) -> None:
    await memories.store((note("1"),)).or_raise()
    assert await memories.mark(HONG, "1", pinned=True).or_raise() is None
    assert await memories.mark(MING, "nobody", pinned=True).or_raise() is None
    assert not (await stored(memories)).pinned


# --- Using -------------------------------------------------------------------------------------------------------


async def test_a_use_is_counted_once_for_each_memory_that_is_seen(memories: MemoryRepository) -> None:
    await memories.store((note("1"), note("2"), remembered("3", namespace=HONG))).or_raise()
    use = partial(memories.record_use, MING, session_id="s")
    later = START + DAY
    assert await use(("1", "1", "3", "nobody"), use_id="u", now=later).or_raise() == UseReport(1)
    assert await use(("1", "2"), use_id="u", now=later + DAY).or_raise() == UseReport(1)
    one, two = await stored(memories, "1"), await stored(memories, "2")
    assert (one.access_count, one.last_accessed, one.version) == (1, later, 1)
    assert (two.access_count, two.last_accessed) == (1, later + DAY)
    assert await use(("1",), use_id="v", now=later + DAY).or_raise() == UseReport(1)
    assert (await stored(memories, "1")).access_count == 2
    unseen = await memories.get(HONG, "3").or_raise()
    assert unseen is not None
    assert (unseen.access_count, unseen.last_accessed) == (0, None)


async def use_in(memories: MemoryRepository, *sessions: str | None, promote_after: int) -> list[str]:
    """Use the memory ``1`` once in each of these sessions; return the sessions that promoted it."""
    promoted = list[str]()
    for number, session in enumerate(sessions):
        report = await memories.record_use(
            MING,
            ("1",),
            use_id=f"{number}",
            session_id=session,
            now=START,
            promote_after=promote_after,
        ).or_raise()
        promoted += [f"{session}"] if report.promoted == ("1",) else []
    return promoted


async def test_use_in_enough_sessions_promotes(memories: MemoryRepository) -> None:
    await memories.store((note("1", memory_type="short_term"),)).or_raise()
    assert await use_in(memories, "a", "a", None, "b", "A", "c", promote_after=3) == ["A"]
    assert (await stored(memories)).memory_type == "long_term"


async def test_use_promotes_nothing_unless_it_is_asked_to(memories: MemoryRepository) -> None:
    await memories.store((note("1", memory_type="short_term"),)).or_raise()
    use = partial(memories.record_use, MING, ("1",), now=START)
    for session in "abc":
        assert (await use(use_id=session, session_id=session).or_raise()).promoted == ()
    assert (await stored(memories)).memory_type == "short_term"
    # The sessions were noted all the same.
    assert (await use(use_id="d", session_id=None, promote_after=3).or_raise()).promoted == ("1",)


@pytest.mark.parametrize(
    ("source", "role", "memory_type"),
    [
        ("inferred", "user", "short_term"),
        ("system", "user", "short_term"),
        ("user_stated", "assistant", "short_term"),
        ("user_stated", "tool", "short_term"),
        ("user_stated", "user", "long_term"),
    ],
)
async def test_use_promotes_only_what_the_user_stated(
    memories: MemoryRepository, source: Source, role: MemoryRole, memory_type: MemoryType
) -> None:
    await memories.store((note("1", source=source, role=role, memory_type=memory_type),)).or_raise()
    assert await use_in(memories, "a", "b", promote_after=1) == []
    assert (await stored(memories)).memory_type == memory_type


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


async def test_an_attached_vector_takes_the_place_of_any_other(memories: MemoryRepository) -> None:
    other, _ = OTHER_SPACES
    await memories.store((note("1", space=other, vector=VECTORS[0]), note("2"))).or_raise()
    attachments = (Attachment("1", 1, VECTORS[0]), Attachment("2", 1, VECTORS[1]))
    assert await memories.attach(MING, SPACE, attachments).or_raise() == 2
    found = await memories.search(MemorySearch(MING, "nowhere", (), SPACE, VECTORS[0])).or_raise()
    assert {candidate.memory.id: candidate.similarity for candidate in found.found} == pytest.approx(
        {"1": 1, "2": -1}, abs=1e-6
    )
    elsewhere = await memories.search(MemorySearch(MING, "nowhere", (), other, VECTORS[0])).or_raise()
    assert elsewhere.found == ()
    assert ((await stored(memories)).embedding, (await stored(memories)).version) == (SPACE, 1)


async def test_a_vector_of_another_content_or_of_what_is_not_seen_is_left_out(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2"), remembered("3", namespace=HONG))).or_raise()
    await memories.rewrite(note("1", "甲"), expected_version=1).or_raise()
    attachments = tuple(Attachment(name, 1, VECTORS[0]) for name in ("1", "2", "3", "nobody"))
    assert await memories.attach(MING, SPACE, attachments).or_raise() == 1
    assert [(await stored(memories, name)).embedding for name in "12"] == [None, SPACE]
