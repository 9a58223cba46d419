"""How every memory repository tells what is true from what was: values by key, their end, and reads of the past."""

from datetime import timedelta
from functools import partial

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import remembered
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import MemoryListing, MemorySearch

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
HOUR = timedelta(hours=1)
MICROSECOND = timedelta(microseconds=1)

city = partial(remembered, namespace=MING, key="城市", terms="城市", replaces_key=True)


async def moves(memories: MemoryRepository) -> None:
    """Beijing, an hour later Shanghai, and after three hours nowhere."""
    await memories.store((city("1", "北京"), city("2", "上海", created_at=START + HOUR))).or_raise()
    assert await memories.retire(MING, "城市", now=START + 3 * HOUR).or_raise()


@pytest.mark.parametrize(
    ("hours", "content"),
    [(-1, None), (0, "北京"), (0.5, "北京"), (1, "上海"), (2, "上海"), (3, None), (9, None)],
)
async def test_each_instant_has_its_own_truth(
    memories: MemoryRepository, hours: float, content: str | None
) -> None:
    await moves(memories)
    then = START + hours * HOUR
    value = await memories.value(MING, "城市", as_of=then).or_raise()
    listed = await memories.list(MemoryListing(MING, 10, as_of=then)).or_raise()
    search = MemorySearch(MING, "", ("城市",), as_of=then)
    candidates = await memories.search(search).or_raise()
    expected = [] if content is None else [content]
    assert [memory.content for memory in (value,) if memory] == expected
    assert [memory.content for memory in listed] == expected
    assert [candidate.memory.content for candidate in candidates.found] == expected
    assert candidates.coverage.memories == len(expected)


async def test_a_truth_ends_just_before_the_next_one_begins(memories: MemoryRepository) -> None:
    await moves(memories)
    last = await memories.value(MING, "城市", as_of=START + HOUR - MICROSECOND).or_raise()
    assert last is not None
    assert last.content == "北京"


async def test_a_retired_key_has_no_value_and_its_memory_says_since_when(memories: MemoryRepository) -> None:
    await moves(memories)
    assert await memories.value(MING, "城市").or_raise() is None
    old = await memories.get(MING, "2").or_raise()
    assert old is not None
    assert (old.superseded_at, old.superseded_by) == (START + 3 * HOUR, None)


async def test_a_key_without_a_value_cannot_be_retired(memories: MemoryRepository) -> None:
    await moves(memories)
    assert not await memories.retire(MING, "城市", now=START + 4 * HOUR).or_raise()
    old = await memories.get(MING, "2").or_raise()
    assert old is not None
    assert old.superseded_at == START + 3 * HOUR


async def test_no_truth_is_retired_before_it_began(memories: MemoryRepository) -> None:
    await memories.store((city("1"),)).or_raise()
    assert await memories.retire(MING, "城市", now=START - HOUR).or_raise()
    old = await memories.get(MING, "1").or_raise()
    assert old is not None
    assert old.superseded_at == START


async def test_a_value_belongs_to_the_very_namespace_and_the_very_key(memories: MemoryRepository) -> None:
    await memories.store(
        (city("1", "北京"), city("2", "上海", namespace=EXCEL), city("3", "杭州", key="城"))
    ).or_raise()
    for namespace, content in ((MING, "北京"), (EXCEL, "上海")):
        value = await memories.value(namespace, "城市").or_raise()
        assert value is not None
        assert value.content == content
    assert await memories.retire(EXCEL, "城市", now=START).or_raise()
    assert await memories.value(EXCEL, "城市").or_raise() is None
    assert await memories.value(MING, "城市").or_raise() is not None


async def test_of_several_memories_with_a_key_the_newest_is_its_value(memories: MemoryRepository) -> None:
    said = partial(remembered, namespace=MING, key="城市")
    await memories.store(
        (said("b", "上海"), said("c", "杭州", created_at=START - HOUR), said("a", "北京"))
    ).or_raise()
    value = await memories.value(MING, "城市").or_raise()
    assert value is not None
    assert value.content == "上海"  # of two that are equally new, the one whose id comes last
    assert await memories.retire(MING, "城市", now=START + HOUR).or_raise()
    assert await memories.list(MemoryListing(MING, 10)).or_raise() == ()


async def test_what_will_be_true_is_true_now(memories: MemoryRepository) -> None:
    tomorrow = START + timedelta(days=1)
    await memories.store((city("1", created_at=tomorrow),)).or_raise()
    assert await memories.value(MING, "城市").or_raise() is not None
    assert await memories.value(MING, "城市", as_of=START).or_raise() is None
