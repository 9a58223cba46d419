"""How every memory repository lists: in one order, in pages, and only what was asked for."""

from datetime import timedelta
from functools import partial
from typing import Any

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import remembered
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import MemoryCount, MemoryListing

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
HONG = Namespace("小红")
DAY = timedelta(days=1)

note = partial(remembered, namespace=MING)


async def ids(memories: MemoryRepository, namespace: Namespace = MING, **filters: Any) -> list[str]:
    listing = MemoryListing(namespace, **{"limit": 100, **filters})
    return [memory.id for memory in await memories.list(listing).or_raise()]


async def test_of_equally_new_ones_the_last_id_comes_first_and_a_cursor_stays_good_without_its_memory(
    memories: MemoryRepository,
) -> None:
    # By code points: a locale would put "a" before "B", and "茶" elsewhere.
    drafts = [note(name) for name in ("B", "a", "茶", "🙂", "b", "﹏")]
    await memories.store((note("old", created_at=START - DAY), *drafts)).or_raise()
    await memories.store((note("new", created_at=START + DAY),)).or_raise()
    assert await ids(memories) == ["new", "🙂", "﹏", "茶", "b", "a", "B", "old"]
    assert await ids(memories, after=(START, "aa")) == ["a", "B", "old"]
    assert await ids(memories, limit=0) == []


async def test_pages_join_to_the_whole_list_under_every_filter(memories: MemoryRepository) -> None:
    asked_for = partial(note, session_id="会议", key="城\U0010ffff\U0010ffff")  # no character comes behind it
    drafts = [asked_for(f"{index}", created_at=START + (index // 3) * DAY) for index in range(8)]
    await memories.store(tuple(drafts)).or_raise()
    filters: list[dict[str, Any]] = [{}, {"session_id": "会议"}, {"key_prefix": "城"}, {"containing": "绿茶"}]
    for narrowed in filters:
        for size in (1, 3, 100):
            joined: list[str] = []
            after = None
            while page := await memories.list(MemoryListing(MING, size, after=after, **narrowed)).or_raise():
                joined += [memory.id for memory in page]
                after = (page[-1].created_at, page[-1].id)
            assert joined == [*"76543210"], narrowed


LISTED: list[tuple[dict[str, Any], str]] = [
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
    ({"source": "inferred"}, "42"),
    ({"source": "user_stated", "category": "fact"}, "31"),
    ({"superseded": True}, ""),
]


async def test_a_list_holds_what_passes_every_filter(memories: MemoryRepository) -> None:
    short: dict[str, Any] = {"memory_type": "short_term", "tags": ("x", "work"), "source": "inferred"}
    await memories.store(
        (
            note("1", category="fact", session_id="会议", key="城市", tags=("Work",)),
            note("2", category="pattern", session_id="会议", **short),
            note("3", category="fact", key="city", tags=("work",)),
            note("4", key="c_ty", source="inferred"),
        )
    ).or_raise()
    found = [(filters, "".join(await ids(memories, **filters))) for filters, _ in LISTED]
    assert found == LISTED


CONTAINING = {
    "": ["CAFÉ", "茶", "100_", "\\n咖啡", "4.50", "\\u", "\U0001f643"],
    "1": ["下午不喝咖啡"],
    "2": ["_", "drink_"],
    "3": ['"黑', "\n咖啡"],
    "4": ["CAFé", "100%", "%", "🙂"],
    "5": ["cafe", "e\u0301", "\\", "'; --"],
    "6": ["4.5", '["咖啡", null'],
    "1236": ["咖啡"],
    "145689abc": [" "],
    "89ac": ["I LIKE", "i like", "I lIkE tEa"],
}
"""The ids of what is listed, and the texts that it contains."""


async def test_a_list_of_what_contains_a_text_takes_it_for_nothing_but_text(
    memories: MemoryRepository,
) -> None:
    drafts = (
        note("1", "下午不喝咖啡 at all", memory_type="short_term"),
        note("2", "x", key="Drink_咖啡"),
        note("3", "x", value='"黑"\n咖啡'),
        note("4", "at the Café 🙂, 100% sure"),
        note("5", "the Cafe\u0301 '; -- \\"),
        note("6", "x", value={"价": ["咖啡", None, 4.5]}),
        note("7", "咖啡", namespace=HONG),
        note("8", "I like tea"),
        note("9", "x", key="I LIKE TEA"),
        note("a", "x", value="i like Tea"),
        note("b", "I lıke tea"),
        note("c", "x", value={"I Like Tea": 1}),
    )
    await memories.store(drafts).or_raise()
    texts = {text: listed for listed, texts in CONTAINING.items() for text in texts}
    found = {text: "".join(sorted(await ids(memories, containing=text))) for text in texts}
    assert found == texts


async def test_what_contains_a_text_passes_the_other_filters_too(memories: MemoryRepository) -> None:
    drafts = (note("1", "绿茶", category="fact"), note("2", "绿茶", memory_type="short_term"), note("3", "x"))
    await memories.store(drafts).or_raise()
    assert await ids(memories, containing="茶", memory_type="short_term") == ["2"]
    assert await ids(memories, containing="茶", category="fact", limit=1) == ["1"]
    await memories.store((note("4", "红", replaces="1", created_at=START + DAY),)).or_raise()
    assert await ids(memories, containing="茶") == ["2"]
    assert await ids(memories, containing="茶", as_of=START) == ["2", "1"]


async def test_a_list_may_be_of_the_very_app_and_of_what_is_true_no_longer(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("tea"), note("city", namespace=EXCEL))).or_raise()
    assert await ids(memories, EXCEL) == ["tea", "city"]
    assert await ids(memories, EXCEL, exact_app=True) == ["city"]
    assert await ids(memories, exact_app=True) == ["tea"]
    await memories.store((note("oolong", created_at=START + DAY, replaces="tea"),)).or_raise()
    assert await ids(memories) == ["oolong", "city"]
    assert await ids(memories, superseded=True) == ["tea"]
    assert await ids(memories, superseded=True, as_of=START + DAY) == ["tea"]
    assert await ids(memories, superseded=True, as_of=START + DAY / 2) == []
    assert await ids(memories, HONG, superseded=True) == []


async def test_a_walk_reaches_so_far_as_it_is_told(memories: MemoryRepository) -> None:
    """It counts what the namespace sees, true now or not, and says when the last one was created."""
    drafts = [note(f"{number}", created_at=START + number * DAY) for number in range(4)]
    other = note("other", namespace=EXCEL, created_at=START + 9 * DAY)
    await memories.store((*drafts, other)).or_raise()
    await memories.store((note("new", created_at=START + 4 * DAY, replaces="3"),)).or_raise()
    reach = partial(memories.reach, Namespace("小明", "word"))
    assert await reach(1).or_raise() == START + 4 * DAY
    assert await reach(2).or_raise() == START + 3 * DAY  # which has ended
    assert await reach(5).or_raise() == START
    assert await reach(6).or_raise() is None
    assert await memories.reach(MING, 6).or_raise() == START  # who asks for no app sees them all
    assert await reach(2, after=(START + 3 * DAY, "3")).or_raise() == START + DAY
    assert await reach(2, after=(START + 3 * DAY, "\x01")).or_raise() == START + DAY


async def test_a_list_ends_at_the_instant_that_it_is_given(memories: MemoryRepository) -> None:
    drafts = [
        note(f"{number}", content=f"绿茶 {number}", created_at=START + number // 2 * DAY)
        for number in range(6)
    ]
    await memories.store(tuple(drafts)).or_raise()
    assert await ids(memories, since=START + DAY) == ["5", "4", "3", "2"]
    assert await ids(memories, since=START + DAY, containing="绿茶 3") == ["3"]
    assert await ids(memories, since=START + DAY, after=(START + DAY, "3")) == ["2"]
    assert await ids(memories, since=START + DAY, limit=1) == ["5"]
    assert await ids(memories, since=START + 3 * DAY) == []


async def test_counts_are_those_of_the_whole_list_whatever_its_page(memories: MemoryRepository) -> None:
    await memories.store(
        (
            note("1", category="fact"),
            note("2", category="fact"),
            note("3", category="fact", memory_type="short_term", source="inferred"),
            note("4", session_id="会议"),
            note("5", session_id="会议", namespace=EXCEL),
            note("6", namespace=HONG),
        )
    ).or_raise()
    listing = MemoryListing(MING, 1, after=(START - DAY, "0"))
    assert set(await memories.count(listing).or_raise()) == {
        MemoryCount("long_term", "fact", "user_stated", 2),
        MemoryCount("short_term", "fact", "inferred", 1),
        MemoryCount("long_term", None, "user_stated", 2),
    }
    of_session = MemoryListing(EXCEL, 1, session_id="会议", exact_app=True)
    assert await memories.count(of_session).or_raise() == (MemoryCount("long_term", None, "user_stated", 1),)
    assert await memories.count(MemoryListing(MING, 1, tag="no such")).or_raise() == ()
