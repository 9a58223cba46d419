"""What every memory repository does with batches, and with a key and its value, where no law says it."""

from functools import partial

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import PUT, dedup_key, remembered
from chatmemory.longterm.memories import Duplicate, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from tests.contract.noted import DAY, EXCEL, HONG, HOUR, MING, WORD, listed, note, stored

LATER = START + HOUR
TEA = dedup_key("茶")


async def test_all_conflicts_of_a_batch_are_named_in_order_and_what_is_not_seen_cannot_be_replaced(
    memories: MemoryRepository,
) -> None:
    assert await memories.store((note("1"), note("1", "别的"))) == Failure(MemoryConflictError(("1",)))
    await memories.store((note("1"), note("2"))).or_raise()
    batch = (note("2", "别的"), note("3", replaces="nobody"), note("1", "别的"))
    assert await memories.store(batch) == Failure(MemoryConflictError(("2", "1")))
    of_an_app = (note("3"), remembered("1", namespace=EXCEL))
    assert await memories.store(of_an_app) == Failure(MemoryConflictError(("1",)))
    for place, namespace in (("hers", HONG), ("of word", WORD)):
        await memories.store((remembered(place, namespace=namespace),)).or_raise()
        replacing = (note("3"), remembered("4", namespace=EXCEL, replaces=place))
        assert await memories.store(replacing) == Failure(MemoryNotFoundError(place))
    assert await listed(memories) == ["of word", "2", "1"]


async def test_what_is_no_longer_true_has_no_duplicates_and_a_duplicate_takes_nobodys_place(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1", dedup_key=TEA), note("2", replaces="1"))).or_raise()
    assert await memories.store((note("3", dedup_key=TEA),)).or_raise() == (Stored("3"),)
    repeated = note("4", dedup_key=TEA, replaces="2")
    assert await memories.store((repeated,)).or_raise() == (Duplicate("3"),)
    assert await listed(memories) == ["3", "2"]


async def test_a_value_replaces_that_of_its_key_in_the_very_namespace_and_no_label_with_the_place_of_another(
    memories: MemoryRepository,
) -> None:
    await memories.store(
        (
            note("old", key="城市", **PUT),
            note("label", key="城市"),
            note("of another key", key="城", **PUT),
            note("another", created_at=LATER),
            remembered("of an app", key="城市", **PUT, namespace=EXCEL),
        )
    ).or_raise()
    taking = note("newest", key="城市", **PUT, replaces="another", created_at=LATER)
    outcomes = await memories.store((taking,)).or_raise()
    assert outcomes == (Stored("newest", superseded=("another", "old")),)
    assert await listed(memories) == ["newest", "of another key", "of an app", "label"]


async def test_no_truth_ends_before_it_began_and_what_will_be_true_is_true_now(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2", replaces="1", created_at=START - HOUR))).or_raise()
    assert (await stored(memories, "1")).superseded_at == START
    await memories.store((note("3", key="城市", **PUT, created_at=LATER),)).or_raise()
    assert await memories.value(MING, "城市").or_raise() is not None
    assert await memories.value(MING, "城市", as_of=START).or_raise() is None
    assert await memories.retire(MING, "城市", now=START).or_raise()
    assert (await stored(memories, "3")).superseded_at == LATER


async def test_of_equally_new_ones_the_last_id_comes_first_and_a_cursor_stays_good_without_its_memory(
    memories: MemoryRepository,
) -> None:
    # By code points: a locale would put "a" before "B", and "茶" elsewhere.
    drafts = [note(name) for name in ("B", "a", "茶", "🙂", "b", "﹏")]
    await memories.store((note("old", created_at=START - DAY), *drafts)).or_raise()
    await memories.store((note("new", created_at=START + DAY),)).or_raise()
    assert await listed(memories) == ["new", "🙂", "﹏", "茶", "b", "a", "B", "old"]
    assert await listed(memories, after=(START, "aa")) == ["a", "B", "old"]
    assert await listed(memories, limit=0) == []


CONTAINING = {
    "": ["100_", "\\n咖啡", "4.50", "\\u", "\U0001f643"],
    "2": ["drink_"],
    "3": ['"黑', "\n咖啡"],
    "6": ["4.5", '["咖啡", null'],
    "236": ["咖啡"],
    "9c": ["i like"],
    "2369c": [" "],
}
"""The ids of what is listed, and the texts that it contains."""


async def test_a_list_of_what_contains_a_text_takes_a_value_for_its_json(memories: MemoryRepository) -> None:
    drafts = (
        note("2", "x 1", key="Drink_咖啡"),
        note("3", "x 2", value='"黑"\n咖啡'),
        note("6", "x 3", value={"价": ["咖啡", None, 4.5]}),
        note("7", "咖啡", namespace=HONG),
        note("9", "x 4", key="I LIKE TEA"),
        note("c", "x 5", value={"I Like Tea": 1}),
    )
    await memories.store(drafts).or_raise()
    texts = {text: ids for ids, texts in CONTAINING.items() for text in texts}
    found = {text: "".join(sorted(await listed(memories, containing=text))) for text in texts}
    assert found == texts


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
    assert await listed(memories, since=START + DAY) == ["5", "4", "3", "2"]
    assert await listed(memories, since=START + DAY, containing="绿茶 3") == ["3"]
    assert await listed(memories, since=START + DAY, after=(START + DAY, "3")) == ["2"]
    assert await listed(memories, since=START + DAY, limit=1) == ["5"]
    assert await listed(memories, since=START + 3 * DAY) == []
