"""What ``LongTermMemory`` promises, on every store."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from functools import partial

import anyio
import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Layer, ManagedRuntime, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.embedding.space import Embedding
from chatmemory.errors import (
    DataValidationError,
    MemoryChangedError,
    MemoryConflictError,
    MemoryNotFoundError,
    Problem,
)
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.extraction.proposals import MemoryUpdate, StatedFact
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memories import (
    Duplicate,
    MemoryChanges,
    NewMemory,
    Provenance,
    Skipped,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.settings.memory_settings import ExpirySettings, MemorySettings, PromotionSettings, Settings
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.hashed import hashed
from tests.contract.conftest import Store

ALICE = Namespace("alice", "desk")
BOB = Namespace("bob")
A_DAY = timedelta(days=1).total_seconds()


@pytest.fixture
def settings() -> MemorySettings:
    """The defaults, unless a test says otherwise by a parameter of this name."""
    return MemorySettings()


@pytest.fixture
async def memory(store: Store, settings: MemorySettings, clock: TestClock) -> AsyncGenerator[LongTermMemory]:
    given = store | settings_given(Settings(memory=settings)) | Layer.succeed(ClockTag, clock)
    parts = given.feed_keep(hashed >> guarded).feed_keep(rule_extractor | recall_ranker)
    async with ManagedRuntime(parts >> long_term_memory) as runtime:
        yield await runtime.service(LongTermMemoryService)


async def remember_one(
    memory: LongTermMemory, content: str, namespace: Namespace = ALICE, **fields: object
) -> str:
    new = NewMemory(content, **fields)
    (memory_id,) = (await memory.remember(namespace, [new]).or_raise()).stored
    return memory_id


# --- Saving ---


async def test_an_empty_batch_changes_nothing(memory: LongTermMemory) -> None:
    assert (await memory.remember(ALICE, []).or_raise()).outcomes == ()
    assert (await memory.list(ALICE).or_raise()).memories == ()


async def test_every_problem_of_a_batch_is_told_at_once_and_nothing_is_stored(memory: LongTermMemory) -> None:
    batch = [NewMemory("fine"), NewMemory(" ", confidence=2.0), NewMemory("x\0", tags=("a", "a"))]
    refused = (await memory.remember(ALICE, batch)).failure()
    assert isinstance(refused, DataValidationError)
    assert [problem.path for problem in refused.problems] == [
        "$.memories[1].content",
        "$.memories[1].confidence",
        "$.memories[2].content",
        "$.memories[2].tags",
    ]
    assert (await memory.list(ALICE).or_raise()).memories == ()


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [1.0, float("nan")], [1.0, 1e300], [[1.0]], ["a"]])
async def test_a_vector_that_is_none_is_refused(memory: LongTermMemory, vector: list[float]) -> None:
    new = NewMemory("x", embedding=Embedding("mine", vector))
    refused = (await memory.remember(ALICE, [new])).failure()
    assert isinstance(refused, DataValidationError)
    assert [problem.path for problem in refused.problems] == ["$.memories[0].embedding.vector"]


async def test_a_call_without_a_namespace_is_refused(memory: LongTermMemory) -> None:
    refused = await memory.recall(Namespace(""), "x")
    assert refused == Failure(
        DataValidationError((Problem("$.namespace.user", "an id needs at least one character"),))
    )
    assert isinstance((await memory.recall("alice", "x")).failure(), DataValidationError)


async def test_what_is_said_again_in_the_same_words_is_a_duplicate_unless_it_is_wanted(
    memory: LongTermMemory,
) -> None:
    first = await remember_one(memory, "我喜欢喝茶")
    again = await memory.remember(ALICE, [NewMemory("我喜欢喝茶")]).or_raise()
    assert again.outcomes == (Duplicate(first),)
    wanted = await memory.remember(ALICE, [NewMemory("我喜欢喝茶")], dedup="none").or_raise()
    assert len(wanted.stored) == 1


async def test_the_same_id_again_is_a_duplicate_and_with_another_content_a_conflict(
    memory: LongTermMemory,
) -> None:
    assert await remember_one(memory, "tea", id="m1") == "m1"
    again = await memory.remember(ALICE, [NewMemory("tea", id="m1")], dedup="none").or_raise()
    assert again.outcomes == (Duplicate("m1"),)
    assert await memory.remember(ALICE, [NewMemory("coffee", id="m1")]) == Failure(
        MemoryConflictError(("m1",))
    )


async def test_only_what_the_user_stated_is_long_term_by_itself(memory: LongTermMemory) -> None:
    said = [
        NewMemory("a", source="user_stated"),
        NewMemory("b", source="inferred"),
        NewMemory("c", source="system", role="tool"),
        NewMemory("d", source="user_stated", role="assistant"),
    ]
    report = await memory.remember(ALICE, said).or_raise()
    types = [(await memory.get(ALICE, one).or_raise()).memory_type for one in report.stored]
    assert types == ["long_term", "short_term", "short_term", "short_term"]


async def test_an_empty_side_of_a_turn_is_skipped_in_its_place(memory: LongTermMemory) -> None:
    report = await memory.save_conversation_turn(ALICE, "  ", "Hello!", session_id="s1").or_raise()
    assert report.outcomes[0] == Skipped("empty")
    assert isinstance(report.outcomes[1], Stored)


async def test_a_turn_knows_the_messages_that_it_comes_from(memory: LongTermMemory) -> None:
    report = await memory.save_conversation_turn(
        ALICE, "Hi", "Hello!", session_id="s1", user_message_id="m1", assistant_message_id="m2"
    ).or_raise()
    origins = [(await memory.get(ALICE, one).or_raise()).provenance.message_ids for one in report.stored]
    assert origins == [("m1",), ("m2",)]


async def test_what_memory_says_again_is_never_saved_as_new(memory: LongTermMemory) -> None:
    await memory.auto_save(ALICE, "I prefer dark mode. I live in Berlin.", session_id="s0").or_raise()
    count = len((await memory.list(ALICE).or_raise()).memories)
    assert count == 2
    for turn in range(100):
        hits = (await memory.recall(ALICE, "Which mode do I prefer, and where do I live?").or_raise()).hits
        answer = " ".join(f"{hit.memory.content}." for hit in hits)
        for role in ("user", "assistant"):
            await memory.auto_save(ALICE, answer, role=role, session_id=f"s{turn}").or_raise()
    assert len((await memory.list(ALICE).or_raise()).memories) == count


async def test_a_turn_that_is_saved_again_under_its_id_is_there_once(memory: LongTermMemory) -> None:
    for _ in range(2):
        turn = memory.save_conversation_turn(
            ALICE, "你好", "Hello!", session_id="s1", dedup="none", write_id="turn 1"
        )
        report = await turn.or_raise()
    assert [outcome.outcome for outcome in report.outcomes] == ["duplicate", "duplicate"]
    other = memory.save_conversation_turn(ALICE, "再见", "Bye!", session_id="s1", write_id="turn 1")
    assert isinstance((await other).failure(), MemoryConflictError)


async def test_a_fact_in_other_words_is_saved_once_when_its_call_is_repeated(memory: LongTermMemory) -> None:
    """An extractor that is a model words the same fact in many ways."""
    for words in ("green tea", "绿茶，每天早上"):
        update = MemoryUpdate(should_store=True, memories=(StatedFact("drink", words),))
        report = await memory.auto_save(ALICE, "I drink tea", update=update, write_id="w").or_raise()
    (said,) = (await memory.list(ALICE).or_raise()).memories
    assert said.content == "drink: green tea"
    assert report.outcomes == (Duplicate(said.id),)


# --- Recalling ---


async def test_a_recall_changes_nothing(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "I like jazz")
    before = await memory.get(ALICE, memory_id).or_raise()
    first = await memory.recall(ALICE, "jazz").or_raise()
    assert await memory.recall(ALICE, "jazz").or_raise() == first
    assert await memory.get(ALICE, memory_id).or_raise() == before


async def test_a_hit_says_why_it_is_one(memory: LongTermMemory, clock: TestClock) -> None:
    await remember_one(memory, "I like jazz", source="inferred", memory_type="long_term")
    await clock.advance(10 * A_DAY)
    recalled = await memory.recall(ALICE, "I like jazz").or_raise()
    (hit,) = recalled.hits
    assert recalled.mode == "hybrid"
    assert (hit.signals.similarity, hit.signals.lexical) == (pytest.approx(1), pytest.approx(1))
    assert (hit.signals.age_days, hit.signals.decay) == (pytest.approx(10), pytest.approx(1 / 1.1))
    assert hit.score == pytest.approx(1 / 1.1)
    assert (recalled.coverage.embedded, recalled.coverage.memories) == (1, 1)


async def test_a_recall_can_ask_for_a_category_and_for_tags(memory: LongTermMemory) -> None:
    await remember_one(memory, "tea in the morning", category="preference", tags=("drinks", "daily"))
    await remember_one(memory, "tea is grown in China", category="fact", tags=("drinks",))
    preferred = await memory.recall(ALICE, "tea", category="preference").or_raise()
    assert [hit.memory.content for hit in preferred.hits] == ["tea in the morning"]
    daily = await memory.recall(ALICE, "tea", tags=["drinks", "daily"]).or_raise()
    assert [hit.memory.content for hit in daily.hits] == ["tea in the morning"]


async def test_an_answer_is_as_long_as_was_asked_for_and_begins_with_a_shorter_one(
    memory: LongTermMemory,
) -> None:
    await memory.remember(ALICE, [NewMemory(f"我养了{number}只狗 dog") for number in range(120)]).or_raise()
    longest, long, short = [
        (await memory.recall(ALICE, "狗 dog", limit=limit).or_raise()).hits for limit in (120, 50, 5)
    ]
    assert [len(hits) for hits in (longest, long, short)] == [120, 50, 5]
    assert long[:5] == short


@pytest.mark.parametrize("query", ["", "   ", "!?", "🙂", '"', "a-b OR (", "%", "*" * 10_000])
async def test_any_text_can_be_asked(memory: LongTermMemory, query: str) -> None:
    await remember_one(memory, "I like jazz")
    assert isinstance(await memory.recall(ALICE, query), Success)


async def test_a_use_counts_once_however_many_tasks_report_it(
    memory: LongTermMemory, clock: TestClock
) -> None:
    used = await remember_one(memory, "I like jazz")
    await clock.advance(60)

    async def report() -> None:
        await memory.record_use(ALICE, [used, used, "unknown"], use_id="context-1").or_raise()

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(report)
    stored = await memory.get(ALICE, used).or_raise()
    assert (stored.access_count, stored.last_accessed) == (1, clock.now())


async def test_concurrent_uses_all_count(memory: LongTermMemory) -> None:
    used = await remember_one(memory, "I like jazz")
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(memory.record_use(ALICE, [used]).or_raise)
    assert (await memory.get(ALICE, used).or_raise()).access_count == 20


# --- Values by key ---


async def test_a_value_put_again_takes_the_place_of_the_older_one(
    memory: LongTermMemory, clock: TestClock
) -> None:
    first = await memory.put_value(ALICE, "city", "北京").or_raise()
    then = clock.now()
    await clock.advance(A_DAY)
    second = await memory.put_value(ALICE, "city", {"name": "上海"}).or_raise()
    assert isinstance(first, Stored)
    assert isinstance(second, Stored)
    assert second.superseded == (first.id,)
    now = await memory.get_value(ALICE, "city").or_raise()
    past = await memory.get_value(ALICE, "city", as_of=then).or_raise()
    assert now is not None
    assert past is not None
    assert (now.value, past.value) == ({"name": "上海"}, "北京")
    assert (past.superseded_by, past.superseded_at) == (second.id, clock.now())
    assert [one.value for one in (await memory.list_values(ALICE).or_raise()).memories] == [{"name": "上海"}]


async def test_putting_the_same_value_again_changes_nothing(memory: LongTermMemory) -> None:
    first = await memory.put_value(ALICE, "limits", {"cpu": 2, "gpu": [1, None]}).or_raise()
    again = await memory.put_value(ALICE, "limits", {"gpu": [1, None], "cpu": 2}).or_raise()
    assert isinstance(first, Stored)
    assert again == Duplicate(first.id)


async def test_a_deleted_value_is_gone_now_and_readable_in_the_past(
    memory: LongTermMemory, clock: TestClock
) -> None:
    await memory.put_value(ALICE, "city", "北京").or_raise()
    then = clock.now()
    await clock.advance(A_DAY)
    assert await memory.delete_value(ALICE, "city") == Success(True)
    assert await memory.delete_value(ALICE, "city") == Success(False)
    assert await memory.get_value(ALICE, "city") == Success(None)
    past = await memory.get_value(ALICE, "city", as_of=then).or_raise()
    assert past is not None


async def test_values_are_those_of_exactly_one_namespace(memory: LongTermMemory) -> None:
    for namespace in (ALICE, Namespace("alice"), Namespace("bob", "desk")):
        await memory.put_value(namespace, "who", f"{namespace.user}/{namespace.app}").or_raise()
    for namespace in (ALICE, Namespace("alice"), Namespace("bob", "desk")):
        found = await memory.get_value(namespace, "who").or_raise()
        assert found is not None
        assert found.value == f"{namespace.user}/{namespace.app}"
        assert len((await memory.list_values(namespace).or_raise()).memories) == 1


async def test_values_are_listed_by_the_beginning_of_their_key(memory: LongTermMemory) -> None:
    for key in ("ui.theme", "ui.size", "uix", "%", "UI.x"):
        await memory.put_value(ALICE, key, 1).or_raise()
    listed = (await memory.list_values(ALICE, prefix="ui.").or_raise()).memories
    assert {one.key for one in listed} == {"ui.theme", "ui.size"}


# --- Maintenance ---


async def test_pages_of_a_list_join_to_the_whole(memory: LongTermMemory) -> None:
    said = [NewMemory(f"memory {n}") for n in range(7)]
    await memory.remember(ALICE, said).or_raise()
    whole = (await memory.list(ALICE).or_raise()).memories
    seen, cursor = [], None
    while True:
        page = await memory.list(ALICE, limit=3, after=cursor).or_raise()
        seen += page.memories
        cursor = page.next
        if cursor is None:
            break
    assert tuple(seen) == whole
    assert len(whole) == 7


async def test_who_tends_memories_finds_short_term_ones_by_a_text(memory: LongTermMemory) -> None:
    await memory.save_conversation_turn(ALICE, "我们下周三去上海", "好的", session_id="s1").or_raise()
    await remember_one(memory, "Shanghai is warm")
    page = await memory.list(ALICE, containing="上海").or_raise()
    assert [(one.content, one.memory_type) for one in page.memories] == [("我们下周三去上海", "short_term")]
    assert (await memory.recall(ALICE, "上海").or_raise()).hits == ()
    await memory.promote(ALICE, page.memories[0].id).or_raise()
    assert len((await memory.recall(ALICE, "上海").or_raise()).hits) == 1


async def test_pages_of_what_contains_a_text_join_to_the_whole(memory: LongTermMemory) -> None:
    await memory.remember(
        ALICE, [NewMemory(f"{'茶' if n % 3 else 'tea'} {n}") for n in range(9)], dedup="none"
    ).or_raise()
    first = await memory.list(ALICE, containing="TEA", limit=2).or_raise()
    second = await memory.list(ALICE, containing="TEA", limit=2, after=first.next).or_raise()
    found = {one.content for one in (*first.memories, *second.memories)}
    assert (found, second.next) == ({"tea 0", "tea 3", "tea 6"}, None)


async def test_what_is_no_cursor_is_refused(memory: LongTermMemory) -> None:
    for cursor in ("", "x", "2026-01-01 m1", "9999999 m1"):
        assert isinstance((await memory.list(ALICE, after=cursor)).failure(), DataValidationError)


async def test_a_correction_changes_what_it_names_and_is_found_by_its_new_words(
    memory: LongTermMemory,
) -> None:
    memory_id = await remember_one(memory, "I like jazz", tags=("music",), confidence=0.7)
    before = await memory.get(ALICE, memory_id).or_raise()
    changed = await memory.update(ALICE, memory_id, MemoryChanges(content="I like opera")).or_raise()
    assert (changed.content, changed.tags, changed.confidence) == ("I like opera", ("music",), 0.7)
    assert (changed.version, changed.created_at) == (before.version + 1, before.created_at)
    assert (await memory.recall(ALICE, "jazz").or_raise()).hits == ()
    (hit,) = (await memory.recall(ALICE, "opera").or_raise()).hits
    assert hit.signals.similarity is not None
    emptied = await memory.update(ALICE, memory_id, MemoryChanges(tags=(), key=None)).or_raise()
    assert (emptied.content, emptied.tags, emptied.key) == ("I like opera", (), None)


async def test_a_correction_of_a_version_that_has_passed_is_refused(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "I like jazz")
    await memory.update(ALICE, memory_id, MemoryChanges(confidence=0.5), expected_version=1).or_raise()
    late = await memory.update(ALICE, memory_id, MemoryChanges(confidence=0.6), expected_version=1)
    assert late == Failure(MemoryChangedError(memory_id, 1, 2))


async def test_a_repeated_correction_is_no_conflict_with_its_own_success(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "我爱喝咖啡")
    changes = MemoryChanges(value={"杯": True}, tags=("饮料",))
    changed = await memory.update(ALICE, memory_id, changes, expected_version=1).or_raise()
    assert await memory.update(ALICE, memory_id, changes, expected_version=1).or_raise() == changed
    other = MemoryChanges(value={"杯": 1}, tags=("饮料",))
    late = await memory.update(ALICE, memory_id, other, expected_version=1)
    assert late == Failure(MemoryChangedError(memory_id, 1, 2))


async def test_the_same_correction_twice_at_once_succeeds_twice(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "我爱喝咖啡")
    correction = memory.update(ALICE, memory_id, MemoryChanges(content="我爱喝茶"), expected_version=1)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(correction.or_raise)
    assert (await memory.get(ALICE, memory_id).or_raise()).version == 2


async def test_corrections_that_meet_all_hold(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "I like jazz")
    async with anyio.create_task_group() as tasks:
        for n in range(5):
            tasks.start_soon(memory.update(ALICE, memory_id, MemoryChanges(key=f"k{n}")).or_raise)
    assert (await memory.get(ALICE, memory_id).or_raise()).version == 6


async def test_a_newer_fact_takes_the_place_of_an_older_one(memory: LongTermMemory, clock: TestClock) -> None:
    old = await remember_one(memory, "I live in Berlin")
    then = clock.now()
    await clock.advance(A_DAY)
    new = await memory.supersede(ALICE, old, NewMemory("I live in Lisbon")).or_raise()
    assert new.superseded == (old,)
    assert [hit.memory.id for hit in (await memory.recall(ALICE, "live in").or_raise()).hits] == [new.id]
    (past,) = (await memory.recall(ALICE, "live in", as_of=then).or_raise()).hits
    assert (past.memory.id, past.signals.age_days) == (old, 0)
    no_vector = await memory.supersede(ALICE, new.id, NewMemory("Rome", embedding=Embedding("m", [0.0])))
    assert isinstance(no_vector, Failure)
    assert "@ $.replacement.embedding.vector" in str(no_vector.failure())
    again = await memory.supersede(ALICE, old, NewMemory("I live in Rome"))
    assert again == Failure(MemoryNotFoundError(old))


@pytest.mark.parametrize("operation", ["get", "promote", "pin", "forget"])
async def test_nobody_reaches_the_memories_of_another(memory: LongTermMemory, operation: str) -> None:
    memory_id = await remember_one(memory, "I like jazz")
    for stranger in (Namespace("bob", "desk"), Namespace("alice", "phone"), Namespace("Alice", "desk")):
        answer = await getattr(memory, operation)(stranger, memory_id)
        assert answer == Failure(MemoryNotFoundError(memory_id))
    everywhere = Namespace("alice")
    assert isinstance(await getattr(memory, operation)(everywhere, memory_id), Success)


async def test_promotion_and_pins_can_be_repeated(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "I like jazz", source="inferred")
    promoted = await memory.promote(ALICE, memory_id).or_raise()
    assert promoted.memory_type == "long_term"
    assert await memory.promote(ALICE, memory_id).or_raise() == promoted
    assert (await memory.pin(ALICE, memory_id).or_raise()).pinned
    assert not (await memory.pin(ALICE, memory_id, pinned=False).or_raise()).pinned


# --- Removing ---


async def test_what_is_forgotten_is_nowhere_with_all_that_it_superseded(memory: LongTermMemory) -> None:
    old = await remember_one(memory, "my card is 4711")
    new = await memory.supersede(ALICE, old, NewMemory("my card is 4712")).or_raise()
    other = await remember_one(memory, "I like jazz")
    receipt = await memory.forget(ALICE, new.id).or_raise()
    assert (receipt.memories, receipt.embeddings) == (2, 2)
    for gone in (old, new.id):
        assert await memory.get(ALICE, gone) == Failure(MemoryNotFoundError(gone))
        assert await memory.forget(ALICE, gone) == Failure(MemoryNotFoundError(gone))
    assert (await memory.recall(ALICE, "card 4711").or_raise()).hits == ()
    assert (await memory.get(ALICE, other).or_raise()).content == "I like jazz"


async def test_memories_are_forgotten_by_where_they_come_from(memory: LongTermMemory) -> None:
    await remember_one(memory, "a", session_id="s1", provenance=Provenance(("m1", "m2")))
    await remember_one(memory, "b", session_id="s1", provenance=Provenance(("m3",)))
    await remember_one(memory, "c", session_id="s2", provenance=Provenance(path="notes.md:7"))
    await remember_one(memory, "d", session_id="s3")
    assert (await memory.forget_where(ALICE, session_id="s1", message_id="m2").or_raise()).memories == 1
    assert (await memory.forget_where(ALICE, path="notes.md:7").or_raise()).memories == 1
    assert (await memory.forget_where(ALICE, session_id="s1").or_raise()).memories == 1
    assert [one.content for one in (await memory.list(ALICE).or_raise()).memories] == ["d"]
    assert isinstance((await memory.forget_where(ALICE)).failure(), DataValidationError)


async def test_forgetting_all_leaves_others_alone(memory: LongTermMemory) -> None:
    for namespace in (ALICE, Namespace("alice", "phone"), Namespace("bob", "desk")):
        await remember_one(memory, "I like jazz", namespace)
    assert (await memory.forget_all(ALICE).or_raise()).memories == 1
    assert (await memory.forget_all(Namespace("alice")).or_raise()).memories == 1
    assert len((await memory.list(Namespace("bob")).or_raise()).memories) == 1


class TestExpiry:
    @pytest.fixture
    def settings(self) -> MemorySettings:
        return MemorySettings(expiry=ExpirySettings(at_session_end=True, short_term_days=7))

    async def test_short_term_memories_go_with_their_session_unless_they_were_promoted_or_pinned(
        self, memory: LongTermMemory
    ) -> None:
        for n in range(3):
            await memory.save_conversation_turn(ALICE, f"question {n}", "", session_id="s1").or_raise()
        await memory.save_conversation_turn(ALICE, "elsewhere", "", session_id="s2").or_raise()
        listed = (await memory.list(ALICE, session_id="s1").or_raise()).memories
        await memory.promote(ALICE, listed[0].id).or_raise()
        await memory.pin(ALICE, listed[1].id).or_raise()
        assert await memory.end_session(ALICE, "s1") == Success(1)
        assert len((await memory.list(ALICE).or_raise()).memories) == 3

    async def test_short_term_memories_go_at_their_age_with_a_later_turn(
        self, memory: LongTermMemory, clock: TestClock
    ) -> None:
        await memory.save_conversation_turn(ALICE, "long ago", "", session_id="s1").or_raise()
        await remember_one(memory, "I like jazz")
        await clock.advance(8 * A_DAY)
        await memory.save_conversation_turn(ALICE, "now", "", session_id="s2").or_raise()
        assert {one.content for one in (await memory.list(ALICE).or_raise()).memories} == {
            "now",
            "I like jazz",
        }
        assert await memory.expire(ALICE) == Success(0)


async def test_by_default_nothing_expires(memory: LongTermMemory, clock: TestClock) -> None:
    await memory.save_conversation_turn(ALICE, "long ago", "", session_id="s1").or_raise()
    await clock.advance(1000 * A_DAY)
    assert await memory.end_session(ALICE, "s1") == Success(0)
    assert await memory.expire(ALICE) == Success(0)
    assert len((await memory.list(ALICE).or_raise()).memories) == 1


class TestPromotionByUse:
    @pytest.fixture
    def settings(self) -> MemorySettings:
        return MemorySettings(promotion=PromotionSettings(after_sessions=3))

    async def test_what_the_user_stated_becomes_long_term_by_use_across_sessions_and_nothing_else_does(
        self, memory: LongTermMemory
    ) -> None:
        turn = await memory.save_conversation_turn(ALICE, "I like jazz", "Noted.", session_id="s0").or_raise()
        for session in ("s1", "s2", "s2"):
            report = await memory.record_use(ALICE, turn.stored, session_id=session).or_raise()
            assert report == UseReport(2)
        last = await memory.record_use(ALICE, turn.stored, session_id="s3").or_raise()
        assert last == UseReport(2, promoted=(turn.stored[0],))

    async def test_contexts_of_other_sessions_use_what_their_messages_hit(
        self, memory: LongTermMemory
    ) -> None:
        said, question = "我对花生过敏", "有什么没有花生的点心？"
        turn = await memory.save_conversation_turn(ALICE, said, "花生，记住了。", session_id="s0").or_raise()
        await memory.save_conversation_turn(ALICE, "I live in Bonn", "", session_id="s0").or_raise()
        await memory.save_conversation_turn(BOB, said, "", session_id="s0").or_raise()
        used = partial(memory.record_use, ALICE, (), query=question)
        assert await used(session_id="s0").or_raise() == UseReport(0)  # it stands in the window of its own
        assert await used().or_raise() == UseReport(0)
        for session in ("s1", "s2", "s2"):
            assert await used(session_id=session).or_raise() == UseReport(1)
            assert (await memory.recall(ALICE, question).or_raise()).hits == ()
        assert await used(session_id="s3").or_raise() == UseReport(1, promoted=turn.stored[:1])
        (hit,) = (await memory.recall(ALICE, question).or_raise()).hits
        assert (hit.memory.id, hit.memory.access_count) == (turn.stored[0], 4)
        assert await used(session_id="s4").or_raise() == UseReport(0)  # now a recall shows it


async def test_by_default_a_message_uses_nothing_that_it_hits(memory: LongTermMemory) -> None:
    turn = await memory.save_conversation_turn(ALICE, "I like jazz", "", session_id="s0").or_raise()
    report = await memory.record_use(ALICE, (), session_id="s1", query="Any jazz tonight?").or_raise()
    assert report == UseReport(0)
    assert (await memory.get(ALICE, turn.stored[0]).or_raise()).access_count == 0


async def test_by_default_no_use_promotes(memory: LongTermMemory) -> None:
    turn = await memory.save_conversation_turn(ALICE, "I like jazz", "", session_id="s0").or_raise()
    for n in range(20):
        await memory.record_use(ALICE, turn.stored, session_id=f"s{n}").or_raise()
    assert (await memory.get(ALICE, turn.stored[0]).or_raise()).memory_type == "short_term"
