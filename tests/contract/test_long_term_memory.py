"""What ``LongTermMemory`` promises beside its laws, whatever keeps its data."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.errors import (
    DataValidationError,
    MemoryChangedError,
    MemoryConflictError,
)
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.extraction.memory_extractor import MemoryUpdate, StatedFact
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memories import (
    Duplicate,
    MemoryChanges,
    NewMemory,
    Retired,
    Skipped,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.settings.memory_settings import ExpirySettings, MemorySettings, Settings
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.local import hashed
from chatmemory_layers.in_memory.memory_repository import memory_repository

ALICE = Namespace("alice", "desk")
A_DAY = timedelta(days=1).total_seconds()


@pytest.fixture
def settings() -> MemorySettings:
    """The defaults, unless a test says otherwise by a parameter of this name."""
    return MemorySettings()


@pytest.fixture
async def memory(settings: MemorySettings, clock: TestClock) -> AsyncGenerator[LongTermMemory]:
    given = memory_repository | settings_given(Settings(memory=settings)) | Layer.succeed(ClockTag, clock)
    parts = given.feed_keep(hashed >> guarded).feed_keep(rule_extractor | recall_ranker)
    async with ManagedRuntime(parts >> long_term_memory) as runtime:
        yield await runtime.service(LongTermMemoryService)


async def remember_one(memory: LongTermMemory, content: str, **fields: object) -> str:
    (memory_id,) = (await memory.remember(ALICE, [NewMemory(content, **fields)]).or_raise()).stored
    return memory_id


async def contents(memory: LongTermMemory) -> list[str]:
    return [one.content for one in (await memory.list(ALICE).or_raise()).memories]


async def recalled(memory: LongTermMemory, query: str, **asked: Any) -> list[str]:
    return [hit.memory.content for hit in (await memory.recall(ALICE, query, **asked).or_raise()).hits]


async def test_what_is_said_again_is_a_duplicate_unless_it_is_wanted_and_an_id_is_of_one_content(
    memory: LongTermMemory,
) -> None:
    assert (await memory.remember(ALICE, []).or_raise()).outcomes == ()
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


async def test_a_turn_knows_its_messages_and_leaves_out_what_is_empty(memory: LongTermMemory) -> None:
    ids = {"user_message_id": "m1", "assistant_message_id": "m2"}
    report = await memory.save_conversation_turn(ALICE, "Hi", "Hello!", session_id="s1", **ids).or_raise()
    origins = [(await memory.get(ALICE, one).or_raise()).provenance.message_ids for one in report.stored]
    assert origins == [("m1",), ("m2",)]
    report = await memory.save_conversation_turn(ALICE, "  ", "Welcome!", session_id="s1").or_raise()
    assert report.outcomes[0] == Skipped("empty")
    assert isinstance(report.outcomes[1], Stored)


async def test_what_memory_says_again_is_never_saved_as_new(memory: LongTermMemory) -> None:
    await memory.auto_save(ALICE, "I prefer dark mode. I live in Berlin.", session_id="s0").or_raise()
    assert len(await contents(memory)) == 2
    for turn in range(20):
        hits = await recalled(memory, "Which mode do I prefer, and where do I live?")
        answer = " ".join(f"{content}." for content in hits)
        for role in ("user", "assistant"):
            await memory.auto_save(ALICE, answer, role=role, session_id=f"s{turn}").or_raise()
    assert len(await contents(memory)) == 2


async def test_a_corrected_memory_is_about_what_it_says_now(memory: LongTermMemory) -> None:
    async def said(content: str, *, attribute: str | None = None) -> str:
        new = NewMemory(content, attribute=attribute, memory_type="long_term")
        (stored,) = (await memory.remember(ALICE, [new], attributes="read").or_raise()).outcomes
        assert isinstance(stored, Stored)
        return stored.id

    cat, book = await said("I live in Shanghai."), await said("Mi libro: Dune", attribute="favourite:book")
    await memory.update(ALICE, cat, MemoryChanges(content="I have a cat named Otto")).or_raise()
    await memory.update(ALICE, book, MemoryChanges(content="Mi libro: Emma")).or_raise()
    for newer in ("I live in Paris now.", "My favourite book is Ulysses now."):
        await said(newer)
    assert (await contents(memory))[::-1] == ["I have a cat named Otto", "I live in Paris now.", newer]
    undone = await memory.undo(ALICE, cat).or_raise()
    assert (undone.content, undone.attribute) == ("I live in Shanghai.", "residence")


async def test_a_call_that_is_repeated_with_its_write_id_reports_what_it_stored(
    memory: LongTermMemory,
) -> None:
    """An extractor that is a model words the same fact in many ways, and finds more or fewer."""
    first, again = [
        await memory.auto_save(
            ALICE, "I drink tea", update=MemoryUpdate(should_store=True, memories=facts), write_id="w"
        ).or_raise()
        for facts in (
            (StatedFact("drink", "green tea"),),
            (StatedFact("drink", "绿茶，每天早上"), StatedFact("time", "mornings")),
        )
    ]
    (said,) = (await memory.list(ALICE).or_raise()).memories
    assert said.content == "drink: green tea"
    assert first == again
    assert first.outcomes == (Stored(said.id),)
    echo, echoed = [
        await memory.auto_save(ALICE, "I am allergic to peanuts.", write_id="x").or_raise() for _ in range(2)
    ]
    assert (len(echo.outcomes), echoed) == (1, echo), "which would be an echo without the id"
    for text, write_id in (("I drink coffee", "w"), ("I am allergic to peanuts", "x")):
        assert "key reused" in f"{await memory.auto_save(ALICE, text, write_id=write_id)}"


async def test_a_recall_can_ask_for_a_category_for_tags_and_for_any_text(memory: LongTermMemory) -> None:
    await remember_one(memory, "tea in the morning", category="preference", tags=("drinks", "daily"))
    await remember_one(memory, "tea is grown in China", category="fact", tags=("drinks",))
    assert await recalled(memory, "tea", category="preference") == ["tea in the morning"]
    assert await recalled(memory, "tea", tags=["drinks", "daily"]) == ["tea in the morning"]
    for query in ("", "   ", "!?", "🙂", '"', "a-b OR (", "%", "*" * 10_000):
        assert isinstance(await memory.recall(ALICE, query), Success), query
    assert await recalled(memory, " \n") == []
    for query in ("in the", "in", "."):
        assert (await memory.recall(ALICE, query).or_raise()).telling == (), query


async def test_a_correction_is_found_by_its_new_words_and_vector_alone(memory: LongTermMemory) -> None:
    memory_id = await remember_one(memory, "I like jazz")
    await memory.update(ALICE, memory_id, MemoryChanges(content="I like opera")).or_raise()
    assert await recalled(memory, "jazz") == []
    (hit,) = (await memory.recall(ALICE, "opera").or_raise()).hits
    assert hit.signals.similarity is not None


async def test_corrections_that_meet_all_hold_and_one_of_a_version_that_has_passed_is_refused(
    memory: LongTermMemory,
) -> None:
    memory_id = await remember_one(memory, "我爱喝咖啡")
    changes = MemoryChanges(value={"杯": True}, tags=("饮料",))
    same = memory.update(ALICE, memory_id, changes, expected_version=1)
    await Effect.all([same] * 5, concurrency=None).or_raise()
    assert (await memory.get(ALICE, memory_id).or_raise()).version == 2  # it was the same for everybody
    other = MemoryChanges(value={"杯": 1}, tags=("饮料",))
    late = await memory.update(ALICE, memory_id, other, expected_version=1)
    assert late == Failure(MemoryChangedError(memory_id, 1, 2))
    keyed = [memory.update(ALICE, memory_id, MemoryChanges(key=key)) for key in "abcde"]
    await Effect.all(keyed, concurrency=None).or_raise()
    assert (await memory.get(ALICE, memory_id).or_raise()).version == 7


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


async def say(memory: LongTermMemory, content: str) -> Stored:
    (outcome,) = (await memory.auto_save(ALICE, content).or_raise()).outcomes
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
    work = await say(memory, "我在阿里做工程师")  # an occupation and a place of work, in one memory
    await clock.advance(A_DAY)
    assert (await say(memory, "我离职了，想休息一阵")).superseded == (work.id,)
    assert set(await contents(memory)) == {"I live in Shanghai now", "我离职了，想休息一阵"}
    update = MemoryUpdate(should_store=True, memories=(StatedFact("home", "I live in Oslo now"),))
    (stored,) = (await memory.auto_save(ALICE, "x", update=update).or_raise()).outcomes
    assert isinstance(stored, Stored)
    assert stored.retired == (Retired(second.id, "residence"),)


async def test_a_key_has_one_value_and_the_label_of_an_extracted_fact_is_none(memory: LongTermMemory) -> None:
    async def values() -> list[object]:
        return [one.value for one in (await memory.list_values(ALICE).or_raise()).memories]

    for text in ("I am allergic to peanuts.", "I am allergic to shellfish."):
        await memory.auto_save(ALICE, text).or_raise()
    pollen = await memory.put_value(ALICE, "allergy", "pollen").or_raise()
    assert isinstance(pollen, Stored)
    assert await values() == ["pollen"]
    refused = (await memory.update(ALICE, pollen.id, MemoryChanges(key="allergies"))).failure()
    assert isinstance(refused, DataValidationError)
    assert [problem.path for problem in refused.problems] == ["$.changes.key"]
    await memory.supersede(ALICE, pollen.id, NewMemory("dust", key="allergy", value="dust")).or_raise()
    assert await values() == ["dust"]
    await memory.restore(ALICE, pollen.id).or_raise()
    assert await values() == ["pollen"]
    assert await memory.delete_value(ALICE, "allergy").or_raise()
    assert not await memory.delete_value(ALICE, "allergy").or_raise()
    assert len(await contents(memory)) == 2


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
