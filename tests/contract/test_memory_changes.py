"""How every memory repository corrects, promotes and pins memories, counts their uses and exchanges their vectors."""

from functools import partial

import numpy as np
import pytest

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import EVERYBODY, Principal, acting_as
from chatmemory.conversation.message_repository import MessageRepository
from chatmemory.laws.kit.samples import DAY, START, batch, said
from chatmemory.laws.memories.memory_witness import OTHER_SPACES, PUT, SPACE, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import Duplicate, EarlierContent, Provenance, Skipped, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import Attachment, Forgetting, ImportedPast, MemorySearch
from tests.contract.noted import HONG, MING, note, stored


async def similarity(memories: MemoryRepository) -> float | None:
    """Return how similar the only memory is to the first vector; None when it is not compared."""
    found = await memories.search(MemorySearch(MING, "nowhere", (), SPACE, VECTORS[0])).or_raise()
    return found.found[0].similarity if found.found else None


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


BEFORE = EarlierContent(
    1, START + DAY, "住在苏州", "城市", {"n": 1.0}, "fact", ("家",), 0.5, "inferred", Provenance(("m1",), "rules", "a.md")
)  # fmt: skip
PAST = ImportedPast(
    last_accessed=START + 2 * DAY,
    access_count=7,
    superseded_at=START + 3 * DAY,
    superseded_by="2",
    version=2,
    earlier=(BEFORE,),
)


async def test_a_memory_that_brings_its_past_keeps_it(memories: MemoryRepository) -> None:
    old = note("1", "住在杭州", attribute="residence", space=SPACE, vector=VECTORS[0], past=PAST)
    new = note("2", "住在上海", attribute="residence", created_at=START - DAY, past=ImportedPast())
    await memories.store((old, new)).or_raise()
    first, second = await memories.whole(limit=10).or_raise()
    kept = first.memory
    assert (kept.last_accessed, kept.access_count, kept.version) == (START + 2 * DAY, 7, 2)
    assert (kept.superseded_at, kept.superseded_by) == (START + 3 * DAY, "2")
    assert first.earlier == (BEFORE,)
    assert (await memories.history(MING, "1").or_raise()).earlier == (BEFORE,)
    assert first.vector is not None
    assert np.array_equal(first.vector, VECTORS[0])
    assert (second.memory.superseded_at, second.earlier, second.vector) == (None, (), None)


async def test_nothing_ends_by_the_attribute_of_what_brings_its_past(memories: MemoryRepository) -> None:
    await memories.store((note("1", "住在杭州", attribute="residence"),)).or_raise()
    later = note("2", "住在上海", attribute="residence", created_at=START + DAY, past=ImportedPast())
    assert await memories.store((later,)).or_raise() == (Stored("2"),)
    assert [whole.memory.superseded_at for whole in await memories.whole(limit=9).or_raise()] == [None, None]


async def test_of_the_values_of_a_key_the_newest_is_true_also_when_one_brings_its_past(
    memories: MemoryRepository,
) -> None:
    of_city = partial(note, key="城市", **PUT)
    await memories.store((of_city("1"),)).or_raise()
    older = of_city("2", created_at=START - DAY, past=ImportedPast())
    assert await memories.store((older,)).or_raise() == (Stored("2", superseded_by="1"),)
    newer = of_city("3", created_at=START + DAY, past=ImportedPast())
    assert await memories.store((newer,)).or_raise() == (Stored("3", superseded=("1",)),)
    ends = [whole.memory.superseded_at for whole in await memories.whole(limit=9).or_raise()]
    assert ends == [START + DAY, START, None]


async def test_a_draft_that_brings_its_past_is_told_apart_like_any_other(memories: MemoryRepository) -> None:
    twin = dedup_key("茶")
    await memories.store((note("1", dedup_key=twin), note("gone"))).or_raise()
    await memories.forget(Forgetting(MING, memory_id="gone")).or_raise()
    again = (
        note("1", past=PAST),
        note("2", dedup_key=twin, past=ImportedPast()),
        note("gone", past=ImportedPast()),
    )
    answer = await memories.store(again).or_raise()
    assert answer == (Duplicate("1"), Duplicate("1"), Skipped("forgotten"))
    (only,) = await memories.whole(limit=9).or_raise()
    assert (only.memory.version, only.dedup_key) == (1, twin)


async def test_whole_memories_are_walked_by_user_and_id(memories: MemoryRepository) -> None:
    names = sorted((user, id_) for user in ("A", "a", "小明", "小红") for id_ in ("1", "B", "b", "会"))
    await memories.store(
        tuple(remembered(id_, f"{user} {id_}", namespace=Namespace(user)) for user, id_ in reversed(names))
    ).or_raise()
    for limit in (1, 3, 5, 16, 17):
        found: list[tuple[str, str]] = []
        while page := await memories.whole(limit=limit, after=found[-1] if found else None).or_raise():
            assert len(page) <= limit
            found += [(whole.memory.namespace.user, whole.memory.id) for whole in page]
        assert found == names


async def test_a_conversation_is_of_whoever_began_it(repository: MessageRepository) -> None:
    with acting_as(Principal(name="", namespace=Namespace("mei", "desk"), granted=None)):
        await repository.append(batch("hers", said("m"))).or_raise()
    await repository.append(batch("nobody's", said("m"))).or_raise()
    with acting_as(EVERYBODY):
        owners = [await repository.owner(id_).or_raise() for id_ in ("hers", "nobody's", "unknown")]
    assert owners == [Namespace("mei", "desk"), UNOWNED, None]
    with acting_as(Principal(name="", namespace=Namespace("wang"))):
        assert await repository.owner("hers").or_raise() is None
