"""Document 000: memory types and what a model receives.  Each scenario is a test of its name."""

from pathlib import Path

import pytest

from chatmemory import (
    ChatContextBuilder,
    ChatMemory,
    Duplicate,
    Instructions,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    Memory,
    Namespace,
    NewMemory,
    NewMessage,
    Stored,
)
from chatmemory.context.agent_prompt import agent_prompt
from chatmemory.settings.memory_settings import ContextSettings, MemorySettings
from chatmemory_layers import stacks
from tests.invariants.conftest import LEGACY_USER, USER
from tests.unit.sqlite.desktop_files import desktop_file, fetched, rows_of, version_of

LONG = "把 B 列按季度汇总" * 40  # shares its first 50 characters with whatever begins so


async def all_memories(memory: LongTermMemory, namespace: Namespace = USER) -> tuple[Memory, ...]:
    return (await memory.list(namespace).or_raise()).memories


# --- Memory type field in database ---


async def test_database_upgrade_from_version_5(tmp_path: Path) -> None:
    file = desktop_file(tmp_path / "desktop.db")
    assert version_of(file) == 5
    async with ManagedRuntime(stacks.embedded(file)):
        pass
    assert version_of(file) == 6
    columns = {row[1]: (row[2], row[4]) for row in fetched(file, "PRAGMA table_info(atomic_memory)")}
    assert columns["memory_type"] == ("TEXT", "'short_term'")


async def test_existing_records_retain_default(tmp_path: Path) -> None:
    file = desktop_file(tmp_path / "desktop.db")
    written = [content for (content,) in rows_of(file, "content")]
    async with ManagedRuntime(stacks.embedded(file)) as runtime:
        found = await all_memories(await runtime.service(LongTermMemoryService), Namespace(LEGACY_USER))
    assert {memory.memory_type for memory in found} == {"short_term"}
    assert sorted(memory.content for memory in found) == sorted(written)


async def test_valid_values_are_short_term_and_long_term(memory: LongTermMemory) -> None:
    for memory_type in ("short_term", "long_term"):
        given = NewMemory(f"B 列是季度 {memory_type}", memory_type=memory_type)
        report = await memory.remember(USER, [given]).or_raise()
        assert (await memory.get(USER, report.stored[0]).or_raise()).memory_type == memory_type
    refused = await memory.remember(USER, [NewMemory("x", memory_type="forever")])
    assert "memory_type" in str(refused.failure())


# --- Conversation turn storage with role separation ---


async def test_normal_conversation_turn_saved(memory: LongTermMemory) -> None:
    report = await memory.save_conversation_turn(
        USER, "B 列怎么汇总?", "用 SUMIF 按季度汇总。", session_id="s1"
    ).or_raise()
    saved = [await memory.get(USER, memory_id).or_raise() for memory_id in report.stored]
    assert [(one.role, one.content) for one in saved] == [
        ("user", "B 列怎么汇总?"),
        ("assistant", "用 SUMIF 按季度汇总。"),
    ]
    assert {(one.memory_type, one.session_id, one.app_type) for one in saved} == {
        ("short_term", "s1", "Excel")
    }


async def test_user_content_is_the_processed_message(memory: LongTermMemory) -> None:
    processed = "  B 列怎么汇总?\n"  # what was sent, white space and all; nothing is taken off a second time
    report = await memory.save_conversation_turn(USER, processed, "好。", session_id="s1").or_raise()
    assert (await memory.get(USER, report.stored[0]).or_raise()).content == processed


async def test_assistant_content_is_the_full_reply(memory: LongTermMemory) -> None:
    reply = "# 汇总\n\n" + "| 季度 | 合计 |\n" * 5000
    report = await memory.save_conversation_turn(USER, "B 列怎么汇总?", reply, session_id="s1").or_raise()
    assert (await memory.get(USER, report.stored[1]).or_raise()).content == reply


# --- Deduplication by session and role ---


async def test_same_turn_not_saved_twice(memory: LongTermMemory) -> None:
    first = await memory.save_conversation_turn(USER, LONG + "一", LONG + "二", session_id="s1").or_raise()
    again = await memory.save_conversation_turn(USER, LONG + "三", LONG + "四", session_id="s1").or_raise()
    assert again.outcomes == tuple(Duplicate(memory_id) for memory_id in first.stored)
    half = await memory.save_conversation_turn(USER, LONG + "五", "另一个答案", session_id="s1").or_raise()
    assert [type(outcome) for outcome in half.outcomes] == [Duplicate, Stored]
    assert len(await all_memories(memory)) == 3


async def test_different_turns_in_same_session(memory: LongTermMemory) -> None:
    await memory.save_conversation_turn(USER, "B 列怎么汇总?", "用 SUMIF。", session_id="s1").or_raise()
    await memory.save_conversation_turn(USER, "C 列呢?", "也用 SUMIF。", session_id="s1").or_raise()
    await memory.save_conversation_turn(USER, "B 列怎么汇总?", "用 SUMIF。", session_id="s2").or_raise()
    assert len(await all_memories(memory)) == 6


# --- Short-term memory via session window ---


async def test_assistant_replies_in_sliding_window(chat: ChatMemory, contexts: ChatContextBuilder) -> None:
    said = [NewMessage("user", "B 列怎么汇总?"), NewMessage("assistant", "用 SUMIF。")]
    await chat.add_messages("s1", said).or_raise()
    context = await contexts.build(USER, "s1", "C 列呢?").or_raise()
    assert [(message.role, message.content) for message in context.messages] == [
        ("user", "B 列怎么汇总?"),
        ("assistant", "用 SUMIF。"),
        ("user", "C 列呢?"),
    ]


async def test_short_term_memories_excluded_from_rag(
    memory: LongTermMemory, contexts: ChatContextBuilder
) -> None:
    await memory.save_conversation_turn(USER, "我喜欢蓝色的图表", "记住了。", session_id="s1").or_raise()
    assert (await memory.recall(USER, "我喜欢蓝色的图表").or_raise()).hits == ()
    context = await contexts.build(USER, "s2", "我喜欢蓝色的图表").or_raise()
    assert [message.role for message in context.messages] == ["user"]


# --- Long-term memory via RAG recall ---


async def test_only_long_term_memories_in_rag_results(
    memory: LongTermMemory, contexts: ChatContextBuilder
) -> None:
    await memory.save_conversation_turn(USER, "我喜欢蓝色的图表", "记住了。", session_id="s1").or_raise()
    kept = await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    recalled = await memory.recall(USER, "图表用什么颜色? 蓝色?").or_raise()
    assert [hit.memory.id for hit in recalled.hits] == list(kept.stored)
    context = await contexts.build(
        USER, "s2", "图表用什么颜色? 蓝色?", instructions=Instructions(system="你是助手")
    ).or_raise()
    assert context.memory_ids == kept.stored
    assert "图表要用公司的蓝色" in context.messages[0].content


async def test_user_promoted_long_term_memory(memory: LongTermMemory) -> None:
    saved = await memory.save_conversation_turn(
        USER, "图表要用公司的蓝色", "好。", session_id="s1"
    ).or_raise()
    promoted = await memory.promote(USER, saved.stored[0]).or_raise()
    assert promoted.memory_type == "long_term"
    (hit,) = (await memory.recall(USER, "图表的蓝色").or_raise()).hits
    assert hit.memory == promoted


# --- AtomicMemoryRecord includes memory type ---


async def test_record_loaded_with_memory_type(memory: LongTermMemory) -> None:
    await memory.save_conversation_turn(USER, "你好", "你好!", session_id="s1").or_raise()
    await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    assert [one.memory_type for one in await all_memories(memory)].count("short_term") == 2
    assert [one.memory_type for one in await all_memories(memory)].count("long_term") == 1


# --- Agent system prompt sent as role=system ---

PLANNING = "You plan steps.  Answer in JSON.  Commands: SetCell, AddChart."
EXECUTION = "You write the code of one step."


async def test_planning_request_message_structure(memory: LongTermMemory) -> None:
    report = await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    known = [await memory.get(USER, report.stored[0]).or_raise()]
    prompt = await agent_prompt(
        PLANNING, "加一张图", intent="chart", current_content="A1:B9", memories=known
    ).or_raise()
    assert prompt.system == PLANNING
    assert PLANNING not in prompt.user
    assert all(part in prompt.user for part in ("加一张图", "chart", "A1:B9", "图表要用公司的蓝色"))


async def test_step_execution_prompt_structure() -> None:
    prompt = await agent_prompt(EXECUTION, "第 2 步: 加图表").or_raise()
    assert prompt.system == EXECUTION
    assert prompt.user == "第 2 步: 加图表"


# --- System prompt deduplication in ChatContextBuilder ---


async def test_single_system_message_in_output(
    memory: LongTermMemory, chat: ChatMemory, contexts: ChatContextBuilder
) -> None:
    await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    said = [
        NewMessage("system", "旧的系统消息"),
        NewMessage("user", "你好"),
        NewMessage("assistant", "你好!"),
    ]
    await chat.add_messages("s1", said).or_raise()
    instructions = Instructions(
        system="你是助手", scenario="在 Excel 里", skills=("画图", "汇总"), profile="小王"
    )
    context = await contexts.build(USER, "s1", "图表用什么蓝色?", instructions=instructions).or_raise()
    assert [message.role for message in context.messages].count("system") == 1
    system = context.messages[0]
    assert system.role == "system"
    merged = ("你是助手", "在 Excel 里", "画图", "汇总", "小王", "图表要用公司的蓝色")
    assert all(part in system.content for part in merged)


@pytest.mark.parametrize("settings", [MemorySettings(context=ContextSettings(recall=False))])
async def test_no_system_content(memory: LongTermMemory, contexts: ChatContextBuilder) -> None:
    await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    context = await contexts.build(USER, "s1", "图表用什么蓝色?").or_raise()
    assert [(message.role, message.content) for message in context.messages] == [("user", "图表用什么蓝色?")]
