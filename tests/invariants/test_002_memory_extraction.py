"""Document 002: extraction, the save dialog, long-term memories.  Each scenario is a test of its name."""

from datetime import timedelta

import pytest

from chatmemory import (
    ChatContextBuilder,
    DataValidationError,
    LongTermMemory,
    MemoryUpdate,
    NewMemory,
    StatedFact,
    TestClock,
)
from chatmemory.longterm.saving.memory_drafts import NOTHING_FOUND, fill_form, opened_form
from chatmemory.settings.memory_settings import MemorySettings, RetrievalSettings
from tests.for_each import for_each
from tests.invariants.conftest import USER

PREFERENCE = "我喜欢用 Python 写代码，因为它简洁易读"
FACT = "我是一名软件工程师，在北京工作"
ADVICE = "根据您的偏好，我为您推荐使用 VS Code 作为 Python 开发环境"

# --- Smart Memory Extraction API ---


async def test_extract_memory_from_user_preference_message(memory: LongTermMemory) -> None:
    (best,) = (await memory.extract(PREFERENCE).or_raise()).proposals
    assert (best.key, best.category, best.value) == ("编程语言偏好", "preference", "Python")
    assert best.confidence >= 0.8
    assert PREFERENCE[best.evidence.start : best.evidence.end] in PREFERENCE


async def test_extract_memory_from_fact_message(memory: LongTermMemory) -> None:
    extraction = await memory.extract(FACT, role="user").or_raise()
    assert [(proposal.key, proposal.value, proposal.category) for proposal in extraction.proposals] == [
        ("用户职业", "软件工程师", "fact"),
        ("工作地点", "北京", "fact"),
    ]


async def test_extract_from_ai_response(memory: LongTermMemory) -> None:
    best = (await memory.extract(ADVICE, role="assistant").or_raise()).best
    assert best is not None
    assert best.key == "开发工具推荐"
    assert "VS Code" in str(best.value)


@for_each("content", ["好的", "嗯", "ok", "thanks!", "   "])
async def test_handle_empty_or_meaningless_content(memory: LongTermMemory, content: str) -> None:
    best = (await memory.extract(content).or_raise()).best
    assert best is None or best.confidence < 0.5


async def test_content_is_required_and_role_is_user_or_assistant(memory: LongTermMemory) -> None:
    for content, role in ((None, "user"), (FACT, "boss")):
        refused = await memory.extract(content, role=role)
        assert isinstance(refused.failure(), DataValidationError)


# --- Automatic Memory Extraction in Save Dialog ---


async def test_auto_extract_on_dialog_open(memory: LongTermMemory) -> None:
    opened = opened_form(PREFERENCE, role="user")
    assert opened.status == "loading"
    filled = await fill_form(memory, PREFERENCE, role="user").or_raise()
    assert filled.status == "extracted"


async def test_pre_fill_form_with_extracted_data(memory: LongTermMemory) -> None:
    best = (await memory.extract(PREFERENCE).or_raise()).best
    form = await fill_form(memory, PREFERENCE, role="user").or_raise()
    assert best is not None
    assert (form.key, form.value, form.category, form.confidence) == (
        best.key,
        best.value,
        best.category,
        best.confidence,
    )


async def test_fallback_on_extraction_failure(memory: LongTermMemory) -> None:
    unsure = await fill_form(memory, "好的", role="user").or_raise()
    assert (unsure.status, unsure.key, unsure.value) == ("default", "用户输入", "好的")
    assert unsure.hint == NOTHING_FOUND
    reply = await fill_form(memory, "嗯", role="assistant").or_raise()
    assert reply.key == "AI回复"
    failed = await fill_form(memory, "\0", role="user").or_raise()
    assert (failed.status, failed.value) == ("default", "\0")
    assert "NUL" in str(failed.hint)


# --- Long-term Memory Storage ---


async def test_long_term_memory_fields(memory: LongTermMemory) -> None:
    given = NewMemory(
        PREFERENCE,
        key="编程语言偏好",
        value={"语言": "Python", "原因": ["简洁", "易读"]},
        category="preference",
        confidence=0.95,
        session_id="s1",
    )
    (memory_id,) = (await memory.remember(USER, [given]).or_raise()).stored
    stored = await memory.get(USER, memory_id).or_raise()
    assert (stored.session_id, stored.category, stored.key, stored.confidence, stored.source) == (
        "s1",
        "preference",
        "编程语言偏好",
        0.95,
        "user_stated",
    )
    assert stored.value == {"语言": "Python", "原因": ["简洁", "易读"]}
    assert (stored.created_at.tzname(), stored.last_accessed, stored.access_count) == ("UTC", None, 0)


async def test_create_long_term_memory_from_user_statement(memory: LongTermMemory) -> None:
    fact = StatedFact("编程语言偏好", "Python", "preference", confidence=0.7)
    report = await memory.auto_save(
        USER, PREFERENCE, session_id="s1", message_id="m1", update=MemoryUpdate(True, (fact,))
    ).or_raise()
    stored = await memory.get(USER, report.stored[0]).or_raise()
    assert (stored.memory_type, stored.source) == ("long_term", "user_stated")
    assert stored.confidence >= 0.9
    assert stored.provenance.message_ids == ("m1",)
    ignored = await memory.auto_save(USER, PREFERENCE, update=MemoryUpdate(False, (fact,))).or_raise()
    assert ignored.outcomes == ()


async def test_auto_save_all_identified_facts_and_preferences(memory: LongTermMemory) -> None:
    report = await memory.auto_save(USER, f"{FACT}。{PREFERENCE}。", session_id="s1").or_raise()
    saved = [await memory.get(USER, memory_id).or_raise() for memory_id in report.stored]
    assert {one.key: one.category for one in saved} == {
        "用户职业": "fact",
        "工作地点": "fact",
        "编程语言偏好": "preference",
    }
    assert all(one.confidence >= 0.9 for one in saved)


TWO = MemorySettings(retrieval=RetrievalSettings(limit=2))


@pytest.mark.parametrize(("settings", "most"), [(MemorySettings(), 5), (TWO, 2)])
async def test_retrieve_relevant_long_term_memories(memory: LongTermMemory, most: int) -> None:
    said = [NewMemory(f"我喜欢第 {n} 种编程语言" + "和茶" * n) for n in range(8)]
    await memory.remember(USER, said).or_raise()
    hits = (await memory.recall(USER, "喜欢的编程语言").or_raise()).hits
    assert len(hits) == most
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_memory_access_tracking(
    memory: LongTermMemory, contexts: ChatContextBuilder, clock: TestClock
) -> None:
    (memory_id,) = (await memory.remember(USER, [NewMemory(PREFERENCE)]).or_raise()).stored
    await clock.advance(timedelta(hours=1).total_seconds())
    context = await contexts.build(USER, "s1", "我喜欢用什么写代码?").or_raise()
    assert context.memory_ids == (memory_id,)
    used = await memory.get(USER, memory_id).or_raise()
    assert (used.access_count, used.last_accessed) == (1, clock.now())
    await memory.recall(USER, "我喜欢用什么写代码?").or_raise()
    assert await memory.get(USER, memory_id).or_raise() == used
