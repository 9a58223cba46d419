"""The ready-made stacks: whole, replaceable in their parts, and honest when they cannot be opened."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from chatmemory import (
    ChatContextService,
    ChatMemoryService,
    EffectFailed,
    ManagedRuntime,
    MessageRepositoryTag,
    Namespace,
    NewMessage,
    Settings,
    SkillRequest,
    SkillRunnerTag,
    StrategySettings,
    TestClock,
    wire,
)
from chatmemory.context.chat_context_live import chat_context
from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.strategies.history_strategy import history_strategy
from chatmemory.conversation.token_counter import token_counter
from chatmemory.errors import RepositoryError
from chatmemory.longterm.extraction.extractors import memory_extractor
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.hashed import hashed
from chatmemory_layers.in_memory.memory_repository import memory_repository as in_memory_memories
from chatmemory_layers.in_memory.message_repository import message_repository as in_memory_messages
from chatmemory_layers.postgres.throwaway_server import fresh_database
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.functions import skills

SOON = StrategySettings(type="summarize", summarize_every_n=3, keep_last=1)
SAID = [NewMessage("user", text, text) for text in ("一", "二", "三")]


def shout(request: SkillRequest) -> str:
    return "!".join(message.content for message in request.messages)


async def converse(stack: stacks.Stack) -> list[str]:
    """Open *stack*, say the three messages (again), and return what a model would see."""
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("数", SAID).or_raise()
        return [message.content for message in await memory.get_messages("数").or_raise()]


async def test_a_file_is_whole_with_a_skill_of_ones_own_and_remembers(tmp_path: Path) -> None:
    for _ in range(2):
        stack = stacks.embedded(
            tmp_path / "chat.db", strategy=SOON, skills=skills({"conversation-summary": shout})
        )
        assert await converse(stack) == ["一!二", "三"]


async def test_a_database_is_whole_with_a_skill_of_ones_own_and_remembers() -> None:
    async with fresh_database() as dsn:
        for _ in range(2):
            own = skills({"conversation-summary": shout})
            stack = stacks.postgres(dsn, reader_dsn=dsn, strategy=SOON, skills=own)
            assert await converse(stack) == ["一!二", "三"]


async def test_the_testing_stack_foresees_ids_and_holds_the_clock() -> None:
    clock = TestClock()
    started = clock.now()
    async with ManagedRuntime(stacks.testing(clock=clock)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("c", [NewMessage("user", "now")]).or_raise()
        await clock.advance(1800)
        await memory.add_messages("c", [NewMessage("user", "half an hour later")]).or_raise()
        first, second = await memory.get_messages("c").or_raise()
    assert (first.id, second.id) == ("message-0001", "message-0002")
    assert (first.timestamp, second.timestamp) == (started, started + timedelta(minutes=30))


async def test_two_testing_stacks_share_nothing() -> None:
    for _ in range(2):
        assert await converse(stacks.testing()) == ["一", "二", "三"]
    async with ManagedRuntime(stacks.testing()) as runtime:
        assert not await (await runtime.service(ChatMemoryService)).exists("数").or_raise()


async def test_the_parts_of_a_stack_can_be_had_too() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("c", SAID).or_raise()
        repository = await runtime.service(MessageRepositoryTag)
        conversation = await repository.conversation("c").or_raise()
        assert conversation is not None
        assert conversation.message_count == 3
        runner = await runtime.service(SkillRunnerTag)
        messages = tuple(await memory.get_messages("c").or_raise())
        assert await runner.run("conversation-summary", SkillRequest(messages, 100)).or_raise()


async def test_the_parts_say_what_they_need_so_that_wire_puts_them_together() -> None:
    repositories = in_memory_messages | in_memory_memories
    own = (repositories, extractive, hashed, token_counter, settings_given(Settings()))
    ours = (chat_memory, long_term_memory, chat_context, history_strategy, memory_extractor, recall_ranker)
    async with ManagedRuntime(wire(*ours, *own)) as runtime:
        contexts = await runtime.service(ChatContextService)
        context = await contexts.build(Namespace("小林"), "c", "你好").or_raise()
    assert [message.content for message in context.messages] == ["你好"]


@pytest.mark.parametrize(
    ("stack", "problem"),
    [
        (stacks.embedded("/no/such/folder/chat.db"), "unavailable"),
        (stacks.postgres("postgresql://nobody@127.0.0.1:1/nothing"), "unavailable"),
    ],
    ids=["embedded", "postgres"],
)
async def test_a_store_that_cannot_be_opened_is_the_typed_failure_of_the_stack(
    stack: stacks.Stack, problem: str
) -> None:
    with pytest.raises(EffectFailed) as failed:
        await ManagedRuntime(stack).__aenter__()
    error = failed.value.error
    assert isinstance(error, RepositoryError)
    assert error.problem == problem


async def test_without_asyncpg_the_stack_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(EffectFailed, match=r"needs asyncpg: pip install"):
        await ManagedRuntime(stacks.postgres("postgresql://nobody@localhost/nothing")).__aenter__()
