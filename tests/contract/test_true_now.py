"""What ``LongTermMemory`` does with what the user says anew about himself: on every store see T4 to T6 of the laws."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Layer, ManagedRuntime
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.errors import DataValidationError, MemoryNotFoundError
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.extraction.proposals import MemoryUpdate, StatedFact
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memories import NewMemory, Provenance, Retired, Skipped, Stored
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.settings.memory_settings import Settings
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.hashed import hashed
from tests.contract.conftest import IN_MEMORY, Store

pytestmark = IN_MEMORY

ALICE = Namespace("alice", "desk")
A_DAY = timedelta(days=1).total_seconds()


@pytest.fixture
async def memory(store: Store, clock: TestClock) -> AsyncGenerator[LongTermMemory]:
    given = store | settings_given(Settings()) | Layer.succeed(ClockTag, clock)
    parts = given.feed_keep(hashed >> guarded).feed_keep(rule_extractor | recall_ranker)
    async with ManagedRuntime(parts >> long_term_memory) as runtime:
        yield await runtime.service(LongTermMemoryService)


async def true_now(memory: LongTermMemory, namespace: Namespace = ALICE) -> list[str]:
    return [one.content for one in (await memory.list(namespace).or_raise()).memories]


async def say(memory: LongTermMemory, content: str, *, namespace: Namespace = ALICE) -> Stored:
    (outcome,) = (await memory.auto_save(namespace, content).or_raise()).outcomes
    assert isinstance(outcome, Stored)
    return outcome


async def test_what_is_said_anew_or_is_over_ends_what_was_said_before(
    memory: LongTermMemory, clock: TestClock
) -> None:
    first = await say(memory, "I live in Hangzhou")
    then = clock.now()
    await clock.advance(A_DAY)
    second = await say(memory, "I live in Shanghai now")
    assert second.retired == (Retired(first.id, "residence"),)
    assert await true_now(memory) == ["I live in Shanghai now"]
    hits = (await memory.recall(ALICE, "Which city do I live in?").or_raise()).hits
    assert [hit.memory.id for hit in hits] == [second.id]
    past = (await memory.recall(ALICE, "Which city do I live in?", as_of=then).or_raise()).hits
    assert [hit.memory.id for hit in past] == [first.id]
    work = await say(memory, "我在阿里上班")
    await clock.advance(A_DAY)
    assert (await say(memory, "我离职了，想休息一阵")).superseded == (work.id,)
    assert set(await true_now(memory)) == {"I live in Shanghai now", "我离职了，想休息一阵"}


NO_STATEMENTS_ABOUT_NOW = (
    "If I lived in Rome, I'd eat better",
    "I used to live in Rome",
    "My brother lives in Rome",
    "I don't live in Rome",
    "Do I live in Rome?",
    'Translate: "I live in Rome"',
    "I was born in Rome",
)


async def test_no_statement_about_now_another_app_and_an_assistant_end_nothing(
    memory: LongTermMemory,
) -> None:
    await say(memory, "I live in Oslo")
    for content in NO_STATEMENTS_ABOUT_NOW:
        await memory.auto_save(ALICE, content).or_raise()
        assert "I live in Oslo" in await true_now(memory), content
    await say(memory, "I live in Rome", namespace=Namespace("alice", "phone"))
    await memory.auto_save(ALICE, "You live in Rome. I live in Rome.", role="assistant").or_raise()
    assert "I live in Oslo" in await true_now(memory)


async def test_what_is_pinned_or_was_put_by_its_key_stays(memory: LongTermMemory, clock: TestClock) -> None:
    pinned = await say(memory, "I live in Oslo")
    await memory.pin(ALICE, pinned.id).or_raise()
    await memory.put_value(ALICE, "residence", "Oslo").or_raise()
    await clock.advance(A_DAY)
    assert (await say(memory, "I live in Rome now")).retired == ()
    assert set(await true_now(memory)) == {"I live in Oslo", "residence: Oslo", "I live in Rome now"}


async def test_pets_are_added_and_each_can_go_by_its_name(memory: LongTermMemory, clock: TestClock) -> None:
    await say(memory, "I have a dog called Otto")
    await say(memory, "we got a second dog called Juno")
    assert len(await true_now(memory)) == 2
    await clock.advance(A_DAY)
    await say(memory, "Otto died last night")
    assert set(await true_now(memory)) == {"we got a second dog called Juno", "Otto died last night"}


async def test_remember_ends_by_an_attribute_that_is_given_or_read_when_the_user_stated_it(
    memory: LongTermMemory, clock: TestClock
) -> None:
    first = NewMemory("家在北京", id="1", attribute="residence")
    await memory.remember(ALICE, [first]).or_raise()
    await clock.advance(A_DAY)
    others = [
        NewMemory("I live in Rome", provenance=Provenance(path="a.md"), attribute="residence"),
        NewMemory("I live in Rome", role="tool", attribute="residence"),
        NewMemory("I live in Rome", role="assistant", attribute="residence"),
    ]
    await memory.remember(ALICE, others, dedup="none", attributes="read").or_raise()
    assert (await memory.get(ALICE, "1").or_raise()).superseded_at is None
    said = NewMemory("I live in Lisbon", id="3")
    assert (await memory.remember(ALICE, [said]).or_raise()).outcomes == (Stored("3"),)
    newest = NewMemory("I live in Porto", id="4")
    report = await memory.remember(ALICE, [newest], attributes="read").or_raise()
    assert report.outcomes == (Stored("4", ("1",), (Retired("1", "residence"),)),)


async def test_an_end_is_undone_by_one_call_of_who_sees_it(memory: LongTermMemory, clock: TestClock) -> None:
    first = await say(memory, "I drive a Golf")
    await clock.advance(A_DAY)
    second = await say(memory, "I bought a Tesla")
    assert second.superseded == (first.id,)
    stranger = Namespace("bob", "desk")
    assert await memory.restore(stranger, first.id) == Failure(MemoryNotFoundError(first.id))
    assert await memory.restore(ALICE, first.id, instead_of="x") == Failure(MemoryNotFoundError("x"))
    refused = await memory.restore(ALICE, first.id, instead_of=first.id)
    assert isinstance(refused.failure(), DataValidationError)
    for _ in range(2):
        restored = await memory.restore(ALICE, first.id, instead_of=second.id).or_raise()
        assert (restored.superseded_at, restored.superseded_by) == (None, None)
        assert await true_now(memory) == ["I drive a Golf"]
    await memory.restore(ALICE, second.id).or_raise()
    assert await true_now(memory) == ["I bought a Tesla", "I drive a Golf"]


async def test_what_a_model_found_ends_what_the_rules_read_in_it(
    memory: LongTermMemory, clock: TestClock
) -> None:
    first = await say(memory, "I live in Hangzhou")
    await clock.advance(A_DAY)
    update = MemoryUpdate(should_store=True, memories=(StatedFact("home", "I live in Shanghai now"),))
    (stored,) = (await memory.auto_save(ALICE, "x", update=update).or_raise()).outcomes
    assert isinstance(stored, Stored)
    assert stored.retired == (Retired(first.id, "residence"),)


async def test_what_was_forgotten_comes_back_for_whoever_asks_for_no_comparison_alone(
    memory: LongTermMemory,
) -> None:
    tea = NewMemory("I drink green tea", "tea", session_id="s", provenance=Provenance(("m1",)))
    for _ in range(2):
        report = await memory.remember(ALICE, [tea], dedup="none").or_raise()
        assert report.stored == ("tea",)
        await memory.forget(ALICE, "tea").or_raise()
        assert (await memory.remember(ALICE, [tea]).or_raise()).outcomes == (Skipped("forgotten"),)
        assert await true_now(memory) == []
