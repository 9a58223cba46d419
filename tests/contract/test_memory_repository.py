"""What every memory repository does with batches, and with a key and its value, where no law says it."""

from datetime import UTC, datetime, timedelta
from functools import partial

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import CONTENTS, dedup_key, remembered
from chatmemory.longterm.memories import Duplicate, Memory, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import MemoryListing

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
WORD = Namespace("小明", "word")
HONG = Namespace("小红")
HOUR = timedelta(hours=1)
LATER = START + HOUR
INSTANTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 2, 17, 9, 30, 0, 123_457, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]
TEA = dedup_key("茶")

note = partial(remembered, namespace=MING)


async def ids(memories: MemoryRepository, namespace: Namespace = MING) -> list[str]:
    return [memory.id for memory in await memories.list(MemoryListing(namespace, 100)).or_raise()]


async def stored(memories: MemoryRepository, memory_id: str) -> Memory:
    memory = await memories.get(MING, memory_id).or_raise()
    assert memory is not None
    return memory


async def test_texts_keys_values_and_instants_come_back_exactly(memories: MemoryRepository) -> None:
    texts = {f"{index}": text for index, text in enumerate(CONTENTS)}
    drafts = [note(name, text, key=text[:512], value=text) for name, text in texts.items()]
    instants = {f"at {at}": at for at in INSTANTS}
    drafts += [note(name, created_at=at) for name, at in instants.items()]
    await memories.store(tuple(drafts)).or_raise()
    for name, text in texts.items():
        kept = await stored(memories, name)
        assert (kept.content, kept.key, kept.value) == (text, text[:512], text)
    for name, at in instants.items():
        created_at = (await stored(memories, name)).created_at
        assert (created_at, created_at.utcoffset()) == (at, timedelta())


async def test_a_batch_is_answered_in_order_and_each_draft_sees_those_before_it(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("2", dedup_key=TEA),)).or_raise()
    batch = (note("3"), note("4", dedup_key=TEA), note("2", dedup_key=TEA), note("1"))
    answer = await memories.store(batch).or_raise()
    assert answer == (Stored("3"), Duplicate("2"), Duplicate("2"), Stored("1"))
    assert await ids(memories) == ["3", "2", "1"]
    places = enumerate((WORD, WORD, EXCEL, HONG, EXCEL))
    alike = [remembered(f"n{number}", namespace=place, dedup_key=TEA) for number, place in places]
    outcomes = await memories.store(tuple(alike)).or_raise()
    assert outcomes == (Stored("n0"), Duplicate("n0"), Stored("n2"), Stored("n3"), Duplicate("n2"))
    chain = (note("a", "住在北京"), note("b", "住在上海", replaces="a"), note("c", "住在杭州", replaces="b"))
    outcomes = await memories.store(chain).or_raise()
    assert outcomes == (Stored("a"), Stored("b", superseded=("a",)), Stored("c", superseded=("b",)))


async def test_a_reader_sees_its_app_and_what_belongs_to_no_app(memories: MemoryRepository) -> None:
    places = {"of excel": EXCEL, "of word": WORD, "of no app": MING, "of another user": HONG}
    batch = tuple(remembered(name, namespace=namespace) for name, namespace in places.items())
    await memories.store(batch).or_raise()
    for reader, seen in {
        EXCEL: ["of no app", "of excel"],
        WORD: ["of word", "of no app"],
        MING: ["of word", "of no app", "of excel"],
        HONG: ["of another user"],
        Namespace("小明", "Excel"): ["of no app"],
        Namespace("小"): [],
    }.items():
        assert await ids(memories, reader) == seen
        by_id = [name for name in places if await memories.get(reader, name).or_raise() is not None]
        assert sorted(by_id) == sorted(seen)


async def test_all_conflicts_of_a_batch_are_named_in_order_and_nothing_of_it_is_stored(
    memories: MemoryRepository,
) -> None:
    assert await memories.store((note("1"), note("1", "别的"))) == Failure(MemoryConflictError(("1",)))
    await memories.store((note("1"), note("2"))).or_raise()
    batch = (note("2", "别的"), note("3", replaces="nobody"), note("1", "别的"))
    assert await memories.store(batch) == Failure(MemoryConflictError(("2", "1")))
    of_an_app = (note("3"), remembered("1", namespace=EXCEL))
    assert await memories.store(of_an_app) == Failure(MemoryConflictError(("1",)))
    assert await ids(memories) == ["2", "1"]


async def test_what_is_no_longer_true_has_no_duplicates_and_a_duplicate_takes_nobodys_place(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1", dedup_key=TEA), note("2", replaces="1"))).or_raise()
    assert await memories.store((note("3", dedup_key=TEA),)).or_raise() == (Stored("3"),)
    repeated = note("4", dedup_key=TEA, replaces="2")
    assert await memories.store((repeated,)).or_raise() == (Duplicate("3"),)
    assert await ids(memories) == ["3", "2"]


async def test_what_is_not_there_cannot_be_replaced(memories: MemoryRepository) -> None:
    await memories.store(
        (
            remembered("of another user", namespace=HONG),
            remembered("of another app", namespace=WORD),
            remembered("no longer true", namespace=EXCEL),
            remembered("newer", namespace=EXCEL, replaces="no longer true"),
        )
    ).or_raise()
    for replaces in ("nobody", "of another user", "of another app", "no longer true"):
        batch = (remembered("1", namespace=EXCEL), remembered("2", namespace=EXCEL, replaces=replaces))
        assert await memories.store(batch) == Failure(MemoryNotFoundError(replaces))
    assert await ids(memories, EXCEL) == ["newer"]


async def test_a_key_is_taken_over_from_all_that_have_it_in_the_very_namespace_with_the_place_of_another(
    memories: MemoryRepository,
) -> None:
    await memories.store(
        (
            note("old", key="城市"),
            note("newer", key="城市", created_at=LATER),
            note("of another key", key="城"),
            note("another", created_at=LATER),
            remembered("of an app", key="城市", namespace=EXCEL),
        )
    ).or_raise()
    taking = note("newest", key="城市", replaces_key=True, replaces="another", created_at=LATER)
    outcomes = await memories.store((taking,)).or_raise()
    assert outcomes == (Stored("newest", superseded=("newer", "another", "old")),)
    assert await ids(memories) == ["newest", "of another key", "of an app"]


# --- Values ---------------------------------------------------------------------------------------------------------


async def test_a_value_belongs_to_the_very_namespace_and_the_very_key(memories: MemoryRepository) -> None:
    city = partial(remembered, key="城市", replaces_key=True)
    await memories.store(
        (
            city("1", "北京", namespace=MING),
            city("2", "上海", namespace=EXCEL),
            city("3", "杭州", namespace=MING, key="城"),
        )
    ).or_raise()
    for namespace, content in ((MING, "北京"), (EXCEL, "上海")):
        value = await memories.value(namespace, "城市").or_raise()
        assert value is not None
        assert value.content == content
    assert await memories.retire(EXCEL, "城市", now=START).or_raise()
    assert await memories.value(EXCEL, "城市").or_raise() is None
    assert await memories.value(MING, "城市").or_raise() is not None


async def test_of_several_memories_with_a_key_the_newest_is_its_value_and_all_are_retired(
    memories: MemoryRepository,
) -> None:
    said = partial(note, key="城市")
    await memories.store(
        (said("b", "上海"), said("c", "杭州", created_at=START - HOUR), said("a", "北京"))
    ).or_raise()
    value = await memories.value(MING, "城市").or_raise()
    assert value is not None
    assert value.content == "上海"  # of two that are equally new, the one whose id comes last
    assert await memories.retire(MING, "城市", now=LATER).or_raise()
    assert await ids(memories) == []
    assert not await memories.retire(MING, "城市", now=LATER + HOUR).or_raise()
    assert (await stored(memories, "b")).superseded_at == LATER


async def test_no_truth_ends_before_it_began_and_what_will_be_true_is_true_now(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2", replaces="1", created_at=START - HOUR))).or_raise()
    assert (await stored(memories, "1")).superseded_at == START
    await memories.store((note("3", key="城市", created_at=LATER),)).or_raise()
    assert await memories.value(MING, "城市").or_raise() is not None
    assert await memories.value(MING, "城市", as_of=START).or_raise() is None
    assert await memories.retire(MING, "城市", now=START).or_raise()
    assert (await stored(memories, "3")).superseded_at == LATER
