"""What every memory repository does with batches: what it stores, what it knows already, and what it refuses."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.input.json_value import Json
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import CONTENTS, SPACE, VALUES, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import Duplicate, Memory, Provenance, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import MemoryDraft, MemoryListing

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
WORD = Namespace("小明", "word")
HONG = Namespace("小红")
LATER = START + timedelta(hours=1)

note = partial(remembered, namespace=MING)


async def ids(memories: MemoryRepository, namespace: Namespace = MING) -> list[str]:
    return [memory.id for memory in await memories.list(MemoryListing(namespace, 100)).or_raise()]


async def test_a_memory_reads_as_it_was_stored(memories: MemoryRepository) -> None:
    draft = note(
        "1",
        "用户偏好：Python 编程",
        key="编程语言偏好",
        value={"language": "Python", "版本": [3, 11]},
        category="preference",
        tags=("编程", "work"),
        confidence=0.85,
        source="inferred",
        role="assistant",
        session_id="会议",
        memory_type="short_term",
        pinned=True,
        provenance=Provenance(("m1", "m2"), extractor="rules", path="notes.md#3"),
        space=SPACE,
        vector=VECTORS[0],
    )
    assert await memories.store((draft,)).or_raise() == (Stored("1"),)
    assert await memories.get(MING, "1").or_raise() == Memory(
        id="1",
        namespace=MING,
        content="用户偏好：Python 编程",
        key="编程语言偏好",
        value={"language": "Python", "版本": [3, 11]},
        category="preference",
        tags=("编程", "work"),
        confidence=0.85,
        source="inferred",
        role="assistant",
        session_id="会议",
        memory_type="short_term",
        pinned=True,
        provenance=Provenance(("m1", "m2"), extractor="rules", path="notes.md#3"),
        created_at=START,
        embedding=SPACE,
    )


@pytest.mark.parametrize("content", CONTENTS)
async def test_text_comes_back_exactly(memories: MemoryRepository, content: str) -> None:
    await memories.store((note("1", content, key=content[:512], value=content),)).or_raise()
    memory = await memories.get(MING, "1").or_raise()
    assert memory is not None
    assert (memory.content, memory.key, memory.value) == (content, content[:512], content)


@pytest.mark.parametrize("value", VALUES, ids=repr)
async def test_a_value_comes_back_as_the_json_that_it_was(memories: MemoryRepository, value: Json) -> None:
    await memories.store((note("1", value=value),)).or_raise()
    memory = await memories.get(MING, "1").or_raise()
    assert memory is not None
    assert repr(memory.value) == repr(value)  # 1, 1.0 and True are equal, and no two of them the same


async def test_what_is_kept_is_a_copy(memories: MemoryRepository) -> None:
    value: dict[str, Json] = {"cities": ["北京"]}
    await memories.store((note("1", value=value),)).or_raise()
    value["cities"] = "changed by the writer"
    for _ in range(2):
        memory = await memories.get(MING, "1").or_raise()
        assert memory is not None
        assert memory.value == {"cities": ["北京"]}
        assert isinstance(memory.value, dict)
        memory.value.clear()  # as a careless reader might


@pytest.mark.parametrize(
    "instant",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 2, 17, 9, 30, 0, 123_457, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
)
async def test_instants_come_back_to_the_microsecond_in_utc(
    memories: MemoryRepository, instant: datetime
) -> None:
    await memories.store((note("1", created_at=instant),)).or_raise()
    memory = await memories.get(MING, "1").or_raise()
    assert memory is not None
    assert (memory.created_at, memory.created_at.utcoffset()) == (instant, timedelta())


async def test_an_empty_batch_stores_nothing(memories: MemoryRepository) -> None:
    assert await memories.store(()).or_raise() == ()
    assert await ids(memories) == []


async def test_a_batch_is_answered_in_order(memories: MemoryRepository) -> None:
    await memories.store((note("2", dedup_key=dedup_key("茶")),)).or_raise()
    batch = (note("3"), note("4", dedup_key=dedup_key("茶")), note("2", dedup_key=dedup_key("茶")), note("1"))
    assert await memories.store(batch).or_raise() == (
        Stored("3"),
        Duplicate("2"),
        Duplicate("2"),
        Stored("1"),
    )
    assert await ids(memories) == ["3", "2", "1"]


# --- Who sees what -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reader", "seen"),
    [
        (EXCEL, ["of no app", "of excel"]),
        (WORD, ["of word", "of no app"]),
        (MING, ["of word", "of no app", "of excel"]),
        (HONG, ["of another user"]),
        (Namespace("小明", "Excel"), ["of no app"]),
        (Namespace("小"), []),
    ],
)
async def test_a_reader_sees_its_app_and_what_belongs_to_no_app(
    memories: MemoryRepository, reader: Namespace, seen: list[str]
) -> None:
    places = {"of excel": EXCEL, "of word": WORD, "of no app": MING, "of another user": HONG}
    batch = tuple(remembered(name, namespace=namespace) for name, namespace in places.items())
    await memories.store(batch).or_raise()
    assert await ids(memories, reader) == seen
    for name in places:
        assert (await memories.get(reader, name).or_raise() is not None) == (name in seen)


# --- Ids ---------------------------------------------------------------------------------------------------------


async def test_the_same_id_with_the_same_content_key_and_value_is_a_duplicate_of_itself(
    memories: MemoryRepository,
) -> None:
    first = note("1", "喜欢喝茶", key="饮料", value={"a": 1, "b": 2})
    await memories.store((first,)).or_raise()
    before = await memories.get(MING, "1").or_raise()
    again = note("1", "喜欢喝茶", key="饮料", value={"b": 2, "a": 1}, tags=("new",), created_at=LATER)
    assert await memories.store((again,)).or_raise() == (Duplicate("1"),)
    assert await memories.get(MING, "1").or_raise() == before


async def test_it_is_a_duplicate_of_itself_when_another_has_taken_its_place(
    memories: MemoryRepository,
) -> None:
    newer = note("2", replaces="1")
    await memories.store((note("1"), newer)).or_raise()
    assert await memories.store((note("1"), newer)).or_raise() == (Duplicate("1"), Duplicate("2"))
    assert await ids(memories) == ["2"]


@pytest.mark.parametrize(
    "other",
    [
        note("1", "别的"),
        note("1", key="饮料"),
        note("1", value=True),
        remembered("1", value=1, namespace=EXCEL),
    ],
    ids=["content", "key", "value", "app"],
)
async def test_the_same_id_for_anything_else_is_a_conflict(
    memories: MemoryRepository, other: MemoryDraft
) -> None:
    await memories.store((note("1", value=1),)).or_raise()
    assert await memories.store((note("2"), other)) == Failure(MemoryConflictError(("1",)))
    assert await ids(memories) == ["1"]


async def test_all_conflicts_of_a_batch_are_named_in_order(memories: MemoryRepository) -> None:
    await memories.store((note("1"), note("2"))).or_raise()
    batch = (note("2", "别的"), note("3", replaces="nobody"), note("1", "别的"))
    assert await memories.store(batch) == Failure(MemoryConflictError(("2", "1")))


async def test_one_id_with_two_contents_in_a_batch_is_a_conflict(memories: MemoryRepository) -> None:
    assert await memories.store((note("1"), note("1", "别的"))) == Failure(MemoryConflictError(("1",)))
    assert await ids(memories) == []


# --- Dedup keys --------------------------------------------------------------------------------------------------


async def test_the_same_dedup_key_is_a_duplicate_in_the_same_namespace_only(
    memories: MemoryRepository,
) -> None:
    drafts = [
        remembered(f"{number}", namespace=namespace, dedup_key=dedup_key("茶"))
        for number, namespace in enumerate((MING, MING, EXCEL, HONG, EXCEL))
    ]
    outcomes = await memories.store(tuple(drafts)).or_raise()
    assert outcomes == (Stored("0"), Duplicate("0"), Stored("2"), Stored("3"), Duplicate("2"))


async def test_without_a_dedup_key_nothing_is_a_duplicate(memories: MemoryRepository) -> None:
    assert await memories.store((note("1"), note("2"))).or_raise() == (Stored("1"), Stored("2"))


async def test_what_is_no_longer_true_has_no_duplicates(memories: MemoryRepository) -> None:
    tea = dedup_key("茶")
    await memories.store((note("1", dedup_key=tea), note("2", replaces="1"))).or_raise()
    assert await memories.store((note("3", dedup_key=tea),)).or_raise() == (Stored("3"),)
    assert await memories.store((note("4", dedup_key=tea),)).or_raise() == (Duplicate("3"),)


async def test_a_duplicate_takes_nobodys_place(memories: MemoryRepository) -> None:
    await memories.store((note("1"), note("2", dedup_key=dedup_key("茶")))).or_raise()
    repeated = note("3", dedup_key=dedup_key("茶"), replaces="1")
    assert await memories.store((repeated,)).or_raise() == (Duplicate("2"),)
    assert await ids(memories) == ["2", "1"]


# --- Replacing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replaces", ["nobody", "of another user", "of another app", "no longer true"])
async def test_what_is_not_there_cannot_be_replaced(memories: MemoryRepository, replaces: str) -> None:
    await memories.store(
        (
            remembered("of another user", namespace=HONG),
            remembered("of another app", namespace=WORD),
            remembered("no longer true", namespace=EXCEL),
            remembered("newer", namespace=EXCEL, replaces="no longer true"),
        )
    ).or_raise()
    batch = (remembered("1", namespace=EXCEL), remembered("2", namespace=EXCEL, replaces=replaces))
    assert await memories.store(batch) == Failure(MemoryNotFoundError(replaces))
    assert await ids(memories, EXCEL) == ["newer"]


async def test_a_draft_sees_those_before_it_in_its_batch(memories: MemoryRepository) -> None:
    batch = (note("1", "住在北京"), note("2", "住在上海", replaces="1"), note("3", "住在杭州", replaces="2"))
    outcomes = await memories.store(batch).or_raise()
    assert outcomes == (Stored("1"), Stored("2", superseded=("1",)), Stored("3", superseded=("2",)))
    assert await ids(memories) == ["3"]


async def test_a_key_is_taken_over_from_all_that_have_it_in_the_very_namespace(
    memories: MemoryRepository,
) -> None:
    await memories.store(
        (
            note("old", key="城市"),
            note("newer", key="城市", created_at=LATER),
            note("of another key", key="城"),
            remembered("of an app", key="城市", namespace=EXCEL),
        )
    ).or_raise()
    taking = note("newest", key="城市", replaces_key=True, created_at=LATER)
    outcomes = await memories.store((taking,)).or_raise()
    assert outcomes == (Stored("newest", superseded=("newer", "old")),)
    assert await ids(memories) == ["newest", "of another key", "of an app"]


async def test_a_memory_may_take_a_key_and_the_place_of_another(memories: MemoryRepository) -> None:
    await memories.store(
        (note("1", key="城市"), note("2", created_at=LATER), note("3", key="城市"))
    ).or_raise()
    both = note("4", key="城市", replaces_key=True, replaces="2", created_at=LATER)
    assert await memories.store((both,)).or_raise() == (Stored("4", superseded=("2", "3", "1")),)


async def test_what_was_replaced_says_since_when_and_by_what(memories: MemoryRepository) -> None:
    await memories.store((note("1"), note("2", replaces="1", created_at=LATER))).or_raise()
    old = await memories.get(MING, "1").or_raise()
    assert old is not None
    assert (old.superseded_at, old.superseded_by, old.version) == (LATER, "2", 1)


async def test_no_truth_ends_before_it_began(memories: MemoryRepository) -> None:
    earlier = START - timedelta(days=1)
    await memories.store((note("1"), note("2", replaces="1", created_at=earlier))).or_raise()
    old = await memories.get(MING, "1").or_raise()
    assert old is not None
    assert old.superseded_at == START
