"""How every memory repository lists: in one order, in pages, and only what was asked for."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from chatmemory.contracts import MemoryListing, MemoryRepository
from chatmemory.laws.memory_samples import remembered
from chatmemory.laws.samples import START
from chatmemory.memories import Namespace

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
DAY = timedelta(days=1)

note = partial(remembered, namespace=MING)


async def ids(memories: MemoryRepository, namespace: Namespace = MING, **filters: Any) -> list[str]:
    listing = MemoryListing(namespace, **{"limit": 100, **filters})
    return [memory.id for memory in await memories.list(listing).or_raise()]


async def test_the_newest_comes_first_and_of_equally_new_ones_the_last_id(memories: MemoryRepository) -> None:
    # By code points: a locale would put "a" before "B", and "茶" elsewhere.
    drafts = [note(name) for name in ("B", "a", "茶", "🙂", "b", "﹏")]
    await memories.store((note("old", created_at=START - DAY), *drafts)).or_raise()
    await memories.store((note("new", created_at=START + DAY),)).or_raise()
    assert await ids(memories) == ["new", "🙂", "﹏", "茶", "b", "a", "B", "old"]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("filters", [{}, {"session_id": "会议"}, {"key_prefix": "城"}])
async def test_pages_join_to_the_whole_list(
    memories: MemoryRepository, filters: dict[str, Any], size: int
) -> None:
    asked_for = partial(note, session_id="会议", key="城\U0010ffff\U0010ffff")  # no character comes behind it
    drafts = [asked_for(f"{index}", created_at=START + (index // 3) * DAY) for index in range(8)]
    await memories.store(tuple(drafts)).or_raise()
    joined: list[str] = []
    after = None
    while page := await memories.list(MemoryListing(MING, size, after=after, **filters)).or_raise():
        joined += [memory.id for memory in page]
        after = (page[-1].created_at, page[-1].id)
    assert joined == ["7", "6", "5", "4", "3", "2", "1", "0"]


async def test_a_cursor_stays_good_when_its_memory_is_gone(memories: MemoryRepository) -> None:
    await memories.store((note("1"), note("3"))).or_raise()
    assert await ids(memories, after=(START, "2")) == ["1"]


async def test_a_page_without_room_is_empty(memories: MemoryRepository) -> None:
    await memories.store((note("1"),)).or_raise()
    assert await ids(memories, limit=0) == []


@pytest.mark.parametrize(
    ("filters", "listed"),
    [
        ({}, "4321"),
        ({"memory_type": "short_term"}, "2"),
        ({"memory_type": "long_term"}, "431"),
        ({"category": "fact"}, "31"),
        ({"session_id": "会议"}, "21"),
        ({"session_id": "会"}, ""),
        ({"tag": "work"}, "32"),
        ({"tag": "wor_"}, ""),
        ({"key_prefix": ""}, "431"),
        ({"key_prefix": "c"}, "43"),
        ({"key_prefix": "c_"}, "4"),
        ({"key_prefix": "C"}, ""),
        ({"key_prefix": "城"}, "1"),
        ({"key_prefix": "%"}, ""),
        ({"category": "fact", "session_id": "会议", "memory_type": "long_term"}, "1"),
    ],
)
async def test_a_list_holds_what_passes_every_filter(
    memories: MemoryRepository, filters: dict[str, Any], listed: str
) -> None:
    await memories.store(
        (
            note("1", category="fact", session_id="会议", key="城市", tags=("Work",)),
            note("2", category="pattern", session_id="会议", memory_type="short_term", tags=("x", "work")),
            note("3", category="fact", key="city", tags=("work",)),
            note("4", key="c_ty"),
        )
    ).or_raise()
    assert await ids(memories, **filters) == list(listed)


async def test_a_list_may_be_of_the_very_app(memories: MemoryRepository) -> None:
    await memories.store((note("1"), remembered("2", namespace=EXCEL))).or_raise()
    assert await ids(memories, EXCEL) == ["2", "1"]
    assert await ids(memories, EXCEL, exact_app=True) == ["2"]
    assert await ids(memories, MING) == ["2", "1"]
    assert await ids(memories, MING, exact_app=True) == ["1"]
