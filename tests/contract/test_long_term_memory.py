"""What ``LongTermMemory`` promises beside its laws, whatever keeps its data."""

from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any

import anyio
import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success
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
    Retired,
    Skipped,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.settings.memory_settings import ExpirySettings, MemorySettings, Settings
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.hashed import hashed
from tests.contract.conftest import IN_MEMORY, Store

pytestmark = IN_MEMORY

ALICE = Namespace("alice", "desk")
PHONE = Namespace("alice", "phone")
BOB = Namespace("bob", "desk")
EVERYWHERE = Namespace("alice")
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


async def contents(memory: LongTermMemory, namespace: Namespace = ALICE, **filters: Any) -> list[str]:
    return [one.content for one in (await memory.list(namespace, **filters).or_raise()).memories]


async def recalled(memory: LongTermMemory, query: str, **asked: Any) -> list[str]:
    return [hit.memory.content for hit in (await memory.recall(ALICE, query, **asked).or_raise()).hits]


async def many_at_once(run: Callable[[], Effect[Any, Any]], count: int) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(run().or_raise)


# --- Saving ---


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
    assert (await memory.remember(ALICE, []).or_raise()).outcomes == ()
    assert await contents(memory) == []


async def test_a_vector_that_is_none_and_a_namespace_that_is_none_are_refused(memory: LongTermMemory) -> None:
    vectors: list[Any] = [[], [0.0, 0.0], [1.0, float("nan")], [1.0, 1e300], [[1.0]], ["a"]]
    for vector in vectors:
        new = NewMemory("x", embedding=Embedding("mine", vector))
        refused = (await memory.remember(ALICE, [new])).failure()
        assert isinstance(refused, DataValidationError)
        assert [problem.path for problem in refused.problems] == ["$.memories[0].embedding.vector"]
    problem = Problem("$.namespace.user", "an id needs at least one character")
    assert await memory.recall(Namespace(""), "x") == Failure(DataValidationError((problem,)))
    nobody: Any = "alice"
    assert isinstance((await memory.recall(nobody, "x")).failure(), DataValidationError)


async def test_what_is_said_again_is_a_duplicate_unless_it_is_wanted_and_an_id_is_of_one_content(
    memory: LongTermMemory,
) -> None:
    first = await remember_one(memory, "我喜欢喝茶")
    tea = NewMemory("我喜欢喝茶")
    assert (await memory.remember(ALICE, [tea]).or_raise()).outcomes == (Duplicate(first),)
    assert len((await memory.remember(ALICE, [tea], dedup="none").or_raise()).stored) == 1
    named = [NewMemory("tea", id="m1")]
    for outcome in (Stored("m1"), Duplicate("m1")):
        assert (await memory.remember(ALICE, named, dedup="none").or_raise()).outcomes == (outcome,)
    other = await memory.remember(ALICE, [NewMemory("coffee", id="m1")])
    assert other == Failure(MemoryConflictError(("m1",)))
    await memory.forget(ALICE, "m1").or_raise()
    assert (await memory.remember(ALICE, named).or_raise()).outcomes == (Skipped("forgotten"),)
    assert (await memory.remember(ALICE, named, dedup="none").or_raise()).outcomes == (Stored("m1"),)


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


async def test_a_turn_knows_its_messages_and_is_there_once_under_its_id(memory: LongTermMemory) -> None:
    ids = {"user_message_id": "m1", "assistant_message_id": "m2"}
    report = await memory.save_conversation_turn(ALICE, "Hi", "Hello!", session_id="s1", **ids).or_raise()
    origins = [(await memory.get(ALICE, one).or_raise()).provenance.message_ids for one in report.stored]
    assert origins == [("m1",), ("m2",)]
    report = await memory.save_conversation_turn(ALICE, "  ", "Welcome!", session_id="s1").or_raise()
    assert report.outcomes[0] == Skipped("empty")
    assert isinstance(report.outcomes[1], Stored)
    for _ in range(2):
        report = await memory.save_conversation_turn(
            ALICE, "你好", "早！", session_id="s1", dedup="none", write_id="turn 1"
        ).or_raise()
    assert [outcome.outcome for outcome in report.outcomes] == ["duplicate", "duplicate"]
    other = memory.save_conversation_turn(ALICE, "再见", "Bye!", session_id="s1", write_id="turn 1")
    assert isinstance((await other).failure(), MemoryConflictError)


async def test_what_memory_says_again_is_never_saved_as_new(memory: LongTermMemory) -> None:
    await memory.auto_save(ALICE, "I prefer dark mode. I live in Berlin.", session_id="s0").or_raise()
    assert len(await contents(memory)) == 2
    for turn in range(20):
        hits = await recalled(memory, "Which mode do I prefer, and where do I live?")
        answer = " ".join(f"{content}." for content in hits)
        for role in ("user", "assistant"):
            await memory.auto_save(ALICE, answer, role=role, session_id=f"s{turn}").or_raise()
    assert len(await contents(memory)) == 2


async def test_a_fact_in_other_words_is_saved_once_when_its_call_is_repeated(memory: LongTermMemory) -> None:
    """An extractor that is a model words the same fact in many ways."""
    for words in ("green tea", "绿茶，每天早上"):
        update = MemoryUpdate(should_store=True, memories=(StatedFact("drink", words),))
        report = await memory.auto_save(ALICE, "I drink tea", update=update, write_id="w").or_raise()
    (said,) = (await memory.list(ALICE).or_raise()).memories
    assert said.content == "drink: green tea"
    assert report.outcomes == (Duplicate(said.id),)


# --- Recalling ---


async def test_a_recall_can_ask_for_a_category_for_tags_for_many_and_for_any_text(
    memory: LongTermMemory,
) -> None:
    await remember_one(memory, "tea in the morning", category="preference", tags=("drinks", "daily"))
    await remember_one(memory, "tea is grown in China", category="fact", tags=("drinks",))
    assert await recalled(memory, "tea", category="preference") == ["tea in the morning"]
    assert await recalled(memory, "tea", tags=["drinks", "daily"]) == ["tea in the morning"]
    await memory.remember(ALICE, [NewMemory(f"我养了{number}只狗 dog") for number in range(120)]).or_raise()
    longest, short = [await recalled(memory, "狗 dog", limit=limit) for limit in (120, 5)]
    assert (len(longest), longest[:5]) == (120, short)
    for query in ("", "   ", "!?", "🙂", '"', "a-b OR (", "%", "*" * 10_000):
        assert isinstance(await memory.recall(ALICE, query), Success), query


# --- Values by key ---


async def test_a_value_is_replaced_or_deleted_now_and_readable_in_the_past(
    memory: LongTermMemory, clock: TestClock
) -> None:
    first = await memory.put_value(ALICE, "city", "北京").or_raise()
    then = clock.now()
    await clock.advance(A_DAY)
    second = await memory.put_value(ALICE, "city", {"name": "上海", "区": [1, None]}).or_raise()
    assert isinstance(first, Stored)
    assert isinstance(second, Stored)
    assert second.superseded == (first.id,)
    same = await memory.put_value(ALICE, "city", {"区": [1, None], "name": "上海"}).or_raise()
    assert same == Duplicate(second.id)
    for answer in (True, False):
        assert await memory.delete_value(ALICE, "city") == Success(answer)
    assert await memory.get_value(ALICE, "city") == Success(None)
    past = await memory.get_value(ALICE, "city", as_of=then).or_raise()
    assert past is not None
    assert (past.value, past.superseded_by, past.superseded_at) == ("北京", second.id, clock.now())


async def test_values_are_listed_by_the_beginning_of_their_key_in_exactly_one_namespace(
    memory: LongTermMemory,
) -> None:
    for namespace in (ALICE, EVERYWHERE, BOB):
        await memory.put_value(namespace, "ui.theme", f"{namespace.user}/{namespace.app}").or_raise()
    for key in ("ui.size", "uix", "%", "UI.x"):
        await memory.put_value(ALICE, key, 1).or_raise()
    listed = (await memory.list_values(ALICE, prefix="ui.").or_raise()).memories
    assert {one.key: one.value for one in listed} == {"ui.theme": "alice/desk", "ui.size": 1}
    (found,) = (await memory.list_values(EVERYWHERE).or_raise()).memories
    assert found.value == "alice/"


# --- Maintenance ---


async def test_pages_of_a_list_join_to_the_whole_and_what_is_no_cursor_is_refused(
    memory: LongTermMemory,
) -> None:
    said = [NewMemory(f"{'茶' if n % 3 else 'tea'} {n}") for n in range(9)]
    await memory.remember(ALICE, said, dedup="none").or_raise()
    for filters in ({}, {"containing": "TEA"}):
        whole = await contents(memory, **filters)
        assert len(whole) == (3 if filters else 9)
        seen, cursor = [], None
        for _ in range(9):  # a cursor that stands still must not hang the test
            page = await memory.list(ALICE, limit=2, after=cursor, **filters).or_raise()
            seen += [one.content for one in page.memories]
            cursor = page.next
            if cursor is None:
                break
        assert seen == whole
    for cursor in ("", "x", "2026-01-01 m1", "9999999 m1"):
        assert isinstance((await memory.list(ALICE, after=cursor)).failure(), DataValidationError)


async def test_nobody_reaches_the_memories_of_another_and_who_tends_them_finds_short_term_ones_by_a_text(
    memory: LongTermMemory,
) -> None:
    await memory.save_conversation_turn(ALICE, "我们下周三去上海", "好的", session_id="s1").or_raise()
    (found,) = (await memory.list(ALICE, containing="上海").or_raise()).memories
    assert (found.content, found.memory_type) == ("我们下周三去上海", "short_term")
    for name in ("get", "promote", "pin", "forget"):
        operation = getattr(memory, name)
        for stranger in (BOB, PHONE, Namespace("Alice", "desk")):
            assert await operation(stranger, found.id) == Failure(MemoryNotFoundError(found.id))
        assert isinstance(await operation(EVERYWHERE, found.id), Success)


async def test_a_correction_changes_what_it_names_and_is_found_by_its_new_words(
    memory: LongTermMemory,
) -> None:
    memory_id = await remember_one(memory, "I like jazz", tags=("music",), confidence=0.7)
    before = await memory.get(ALICE, memory_id).or_raise()
    changed = await memory.update(ALICE, memory_id, MemoryChanges(content="I like opera")).or_raise()
    assert (changed.content, changed.tags, changed.confidence) == ("I like opera", ("music",), 0.7)
    assert (changed.version, changed.created_at) == (before.version + 1, before.created_at)
    assert await recalled(memory, "jazz") == []
    (hit,) = (await memory.recall(ALICE, "opera").or_raise()).hits
    assert hit.signals.similarity is not None
    emptied = await memory.update(ALICE, memory_id, MemoryChanges(tags=(), key=None)).or_raise()
    assert (emptied.content, emptied.tags, emptied.key) == ("I like opera", (), None)


async def test_corrections_that_meet_all_hold_and_one_of_a_version_that_has_passed_is_refused(
    memory: LongTermMemory,
) -> None:
    memory_id = await remember_one(memory, "我爱喝咖啡")
    changes = MemoryChanges(value={"杯": True}, tags=("饮料",))
    await many_at_once(lambda: memory.update(ALICE, memory_id, changes, expected_version=1), 5)
    assert (await memory.get(ALICE, memory_id).or_raise()).version == 2  # it was the same for everybody
    other = MemoryChanges(value={"杯": 1}, tags=("饮料",))
    late = await memory.update(ALICE, memory_id, other, expected_version=1)
    assert late == Failure(MemoryChangedError(memory_id, 1, 2))
    keys = iter("abcde")
    await many_at_once(lambda: memory.update(ALICE, memory_id, MemoryChanges(key=next(keys))), 5)
    assert (await memory.get(ALICE, memory_id).or_raise()).version == 7


async def test_a_newer_fact_takes_the_place_of_an_older_one(memory: LongTermMemory, clock: TestClock) -> None:
    old = await remember_one(memory, "I live in Berlin")
    then = clock.now()
    await clock.advance(A_DAY)
    new = await memory.supersede(ALICE, old, NewMemory("I live in Lisbon")).or_raise()
    assert new.superseded == (old,)
    (past,) = (await memory.recall(ALICE, "live in", as_of=then).or_raise()).hits
    assert (past.memory.id, past.signals.age_days) == (old, 0)
    no_vector = await memory.supersede(ALICE, new.id, NewMemory("Rome", embedding=Embedding("m", [0.0])))
    assert "@ $.replacement.embedding.vector" in str(no_vector.failure())
    again = await memory.supersede(ALICE, old, NewMemory("I live in Rome"))
    assert again == Failure(MemoryNotFoundError(old))


# --- Removing ---


async def test_memories_are_forgotten_by_where_they_come_from_or_all_of_a_namespace(
    memory: LongTermMemory,
) -> None:
    await remember_one(memory, "a", session_id="s1", provenance=Provenance(("m1", "m2")))
    await remember_one(memory, "b", session_id="s1", provenance=Provenance(("m3",)))
    await remember_one(memory, "c", session_id="s2", provenance=Provenance(path="notes.md:7"))
    await remember_one(memory, "d", session_id="s3")
    for origin in ({"session_id": "s1", "message_id": "m2"}, {"path": "notes.md:7"}, {"session_id": "s1"}):
        assert (await memory.forget_where(ALICE, **origin).or_raise()).memories == 1
    assert await contents(memory) == ["d"]
    assert isinstance((await memory.forget_where(ALICE)).failure(), DataValidationError)
    for namespace in (PHONE, BOB):
        await remember_one(memory, "I like jazz", namespace)
    assert (await memory.forget_all(ALICE).or_raise()).memories == 1
    assert (await memory.forget_all(EVERYWHERE).or_raise()).memories == 1
    assert await contents(memory, Namespace("bob")) == ["I like jazz"]


# --- Expiry and promotion ---

EXPIRING = MemorySettings(expiry=ExpirySettings(at_session_end=True, short_term_days=7))


@pytest.mark.parametrize("settings", [EXPIRING])
async def test_short_term_memories_go_with_their_session_or_at_their_age_unless_promoted_or_pinned(
    memory: LongTermMemory, clock: TestClock
) -> None:
    for n in range(3):
        await memory.save_conversation_turn(ALICE, f"question {n}", "", session_id="s1").or_raise()
    await memory.save_conversation_turn(ALICE, "elsewhere", "", session_id="s2").or_raise()
    promoted, pinned, _ = (await memory.list(ALICE, session_id="s1").or_raise()).memories
    await memory.promote(ALICE, promoted.id).or_raise()
    await memory.pin(ALICE, pinned.id).or_raise()
    assert await memory.end_session(ALICE, "s1") == Success(1)
    kept = {promoted.content, pinned.content}
    assert set(await contents(memory)) == {*kept, "elsewhere"}
    await clock.advance(8 * A_DAY)
    await memory.save_conversation_turn(ALICE, "now", "", session_id="s3").or_raise()
    assert set(await contents(memory)) == {*kept, "now"}
    assert await memory.expire(ALICE) == Success(0)
    assert not (await memory.pin(ALICE, pinned.id, pinned=False).or_raise()).pinned
    assert await memory.expire(ALICE) == Success(1)


async def test_by_default_nothing_expires_nothing_is_promoted_by_use_and_no_message_uses_what_it_hits(
    memory: LongTermMemory, clock: TestClock
) -> None:
    turn = await memory.save_conversation_turn(ALICE, "I like jazz", "", session_id="s0").or_raise()
    report = await memory.record_use(ALICE, (), session_id="s1", query="Any jazz tonight?").or_raise()
    assert report == UseReport(0)
    for n in range(1, 21):
        await memory.record_use(ALICE, turn.stored, session_id=f"s{n}").or_raise()
    await clock.advance(1000 * A_DAY)
    assert await memory.end_session(ALICE, "s0") == Success(0)
    assert await memory.expire(ALICE) == Success(0)
    kept = await memory.get(ALICE, turn.stored[0]).or_raise()
    assert (kept.memory_type, kept.access_count) == ("short_term", 20)


# --- What the user says anew about himself: on every store see T4 to T6 of the laws ---


async def say(memory: LongTermMemory, content: str, *, namespace: Namespace = ALICE) -> Stored:
    (outcome,) = (await memory.auto_save(namespace, content).or_raise()).outcomes
    assert isinstance(outcome, Stored)
    return outcome


async def test_what_is_said_anew_or_is_over_ends_what_was_said_before_also_in_what_a_model_found(
    memory: LongTermMemory, clock: TestClock
) -> None:
    first = await say(memory, "I live in Hangzhou")
    then = clock.now()
    await clock.advance(A_DAY)
    second = await say(memory, "I live in Shanghai now")
    assert second.retired == (Retired(first.id, "residence"),)
    for as_of, expected in ((None, second.id), (then, first.id)):
        recall = await memory.recall(ALICE, "Which city do I live in?", as_of=as_of).or_raise()
        assert [hit.memory.id for hit in recall.hits] == [expected]
    work = await say(memory, "我在阿里上班")
    await clock.advance(A_DAY)
    assert (await say(memory, "我离职了，想休息一阵")).superseded == (work.id,)
    assert set(await contents(memory)) == {"I live in Shanghai now", "我离职了，想休息一阵"}
    update = MemoryUpdate(should_store=True, memories=(StatedFact("home", "I live in Oslo now"),))
    (stored,) = (await memory.auto_save(ALICE, "x", update=update).or_raise()).outcomes
    assert isinstance(stored, Stored)
    assert stored.retired == (Retired(second.id, "residence"),)


async def test_remember_ends_by_an_attribute_that_is_given_or_read_when_the_user_stated_it(
    memory: LongTermMemory, clock: TestClock
) -> None:
    await memory.remember(ALICE, [NewMemory("家在北京", id="1", attribute="residence")]).or_raise()
    await clock.advance(A_DAY)
    other = NewMemory("I live in Rome", role="assistant")
    await memory.remember(ALICE, [other], attributes="read").or_raise()
    asked: Any = (("3", "Lisbon", "given", ()), ("4", "Porto", "read", ("1",)))
    for memory_id, city, attributes, retired in asked:
        said = NewMemory(f"I live in {city}", id=memory_id)
        report = await memory.remember(ALICE, [said], attributes=attributes).or_raise()
        ends = tuple(Retired(one, "residence") for one in retired)
        assert report.outcomes == (Stored(memory_id, retired, ends),)


async def test_an_end_is_undone_by_one_call_of_who_sees_it(memory: LongTermMemory, clock: TestClock) -> None:
    first = await say(memory, "I drive a Golf")
    await clock.advance(A_DAY)
    second = await say(memory, "I bought a Tesla")
    assert await memory.restore(BOB, first.id) == Failure(MemoryNotFoundError(first.id))
    assert await memory.restore(ALICE, first.id, instead_of="x") == Failure(MemoryNotFoundError("x"))
    refused = await memory.restore(ALICE, first.id, instead_of=first.id)
    assert isinstance(refused.failure(), DataValidationError)
    restored = await memory.restore(ALICE, first.id, instead_of=second.id).or_raise()
    assert (restored.superseded_at, restored.superseded_by) == (None, None)
    assert await contents(memory) == ["I drive a Golf"]
    await memory.restore(ALICE, second.id).or_raise()
    assert await contents(memory) == ["I bought a Tesla", "I drive a Golf"]
