"""The ready-made stacks: whole, replaceable in their parts, and honest when they cannot be opened."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatmemory import (
    ChatContextService,
    ChatMemoryService,
    EffectFailed,
    EmbedderTag,
    Extraction,
    HistoryReport,
    HistoryStrategyTag,
    Layer,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryExtractorTag,
    MemoryRepositoryTag,
    MessageRepositoryTag,
    Namespace,
    NewMessage,
    RecallRankerTag,
    Settings,
    SkillRequest,
    SkillRunnerTag,
    StrategySettings,
    TestClock,
    TokenCounterTag,
    wire,
)
from chatmemory.context.chat_context_live import chat_context
from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.conversation.strategies.history_strategy import history_strategy
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import ClockTag, Effect, ShadowedServiceError
from chatmemory.effect.layer import UnimplementedError
from chatmemory.errors import RepositoryError
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.longterm.extraction.extractors import memory_extractor
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PromptRankerTag
from chatmemory.pastchats.prompt_repository import PromptRepositoryTag
from chatmemory.settings.memory_settings import MemorySettings, SqliteSettings, StoreSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.testing import Spy, Stub, TableEmbedder, passes, raises
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.embedding.hashed import hashed
from chatmemory_layers.in_memory.item_repository import item_repository
from chatmemory_layers.in_memory.memory_repository import (
    memory_repository,
    memory_repository as in_memory_memories,
)
from chatmemory_layers.in_memory.message_repository import (
    message_repository,
    message_repository as in_memory_messages,
)
from chatmemory_layers.server.stack import server_stack
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.functions import skills
from chatmemory_layers.stacks import past_chats as past_chats_stacks
from tests.empty_store import empty_store

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
    async with empty_store() as dsn:
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


async def test_the_parts_say_what_they_need_so_that_wire_puts_them_together() -> None:
    repositories = in_memory_messages | in_memory_memories
    own = (repositories, extractive, hashed, token_counter, settings_given(Settings()))
    ours = (chat_memory, long_term_memory, chat_context, history_strategy, memory_extractor, recall_ranker)
    async with ManagedRuntime(wire(*ours, *own)) as runtime:
        contexts = await runtime.service(ChatContextService)
        context = await contexts.build(Namespace("小林"), "c", "你好").or_raise()
    assert [message.content for message in context.messages] == ["你好"]


async def test_a_store_that_cannot_be_opened_is_the_typed_failure_of_the_stack() -> None:
    for stack in (
        stacks.embedded("/no/such/folder/chat.db"),
        stacks.postgres("postgresql://nobody@127.0.0.1:1/nothing"),
    ):
        with pytest.raises(EffectFailed) as failed:
            await ManagedRuntime(stack).__aenter__()
        error = failed.value.error
        assert isinstance(error, RepositoryError)
        assert error.problem == "unavailable"


async def test_without_asyncpg_the_stack_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(EffectFailed, match=r"needs asyncpg: pip install"):
        await ManagedRuntime(stacks.postgres("postgresql://nobody@localhost/nothing")).__aenter__()


# --- parts of one's own ---


MEI = Namespace("梅")

STACKS: dict[str, Callable[..., Layer[Any, Any]]] = {
    "embedded": stacks.embedded,
    "testing": lambda _, **parts: stacks.testing(**parts),
    "configured": lambda _, **parts: stacks.configured(Settings(), **parts),
    "from_configuration": lambda path, **parts: stacks.from_configuration(
        environment={"CHATMEMORY_MEMORY_STORE_SQLITE_PATH": str(path)}, **parts
    ),
}

SERVICES: dict[str, tuple[Any, Any]] = {
    "strategy": (HistoryStrategyTag, Stub(HistoryStrategyTag, threshold=None).service),
    "skills": (SkillRunnerTag, Stub(SkillRunnerTag).service),
    "extractor": (MemoryExtractorTag, Stub(MemoryExtractorTag).service),
    "ranker": (RecallRankerTag, Stub(RecallRankerTag).service),
    "clock": (ClockTag, TestClock()),
}


async def test_a_part_is_taken_plain_and_as_a_layer(tmp_path: Path) -> None:
    plain = {name: service for name, (_, service) in SERVICES.items()}
    layers = {name: Layer.succeed(tag, service) for name, (tag, service) in SERVICES.items()}
    repositories = message_repository | memory_repository | item_repository
    for stack, make in STACKS.items():
        for parts in (plain, layers):
            built = make(tmp_path / "a.db", repositories=repositories, **parts)
            async with ManagedRuntime(built) as runtime:
                for tag, service in SERVICES.values():
                    assert (await runtime.run(Effect.service(tag))).unwrap() is service, (stack, tag)


async def test_an_embedder_is_timed_and_guarded() -> None:
    for as_layer in (False, True):
        table = TableEmbedder()  # knows no text, and fails
        part: Any = Layer.succeed(EmbedderTag, table) if as_layer else table
        async with ManagedRuntime(stacks.testing(embedder=part)) as runtime:
            memory = await runtime.service(LongTermMemoryService)
            for words in ("喜欢喝茶", "养了一只猫"):
                await memory.put_value(MEI, words, words).or_raise()
        assert len(table.asked) == 1


async def test_a_part_of_the_repositories_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for _ in range(2):
        async with ManagedRuntime(stacks.embedded(path, repositories=message_repository)) as runtime:
            chat = await runtime.service(ChatMemoryService)
            memory = await runtime.service(LongTermMemoryService)
            assert not await chat.exists("茶").or_raise()
            await chat.add_messages("茶", [NewMessage("user", "你好")]).or_raise()
            await memory.put_value(MEI, "drink", "茶").or_raise()
    async with ManagedRuntime(stacks.embedded(path)) as runtime:
        kept = await (await runtime.service(LongTermMemoryService)).get_value(MEI, "drink").or_raise()
        assert kept is not None


async def test_settings_of_a_strategy_and_extractors_reach_their_users() -> None:
    extractor = Stub(MemoryExtractorTag, extract=[Extraction((), "nobody")])
    soon = StrategySettings(type="summarize", summarize_every_n=2, keep_last=1)
    stack = stacks.testing(strategy=soon, extractor=extractor.service)
    async with ManagedRuntime(stack) as runtime:
        chat = await runtime.service(ChatMemoryService)
        report = await chat.add_messages(
            "茶", [NewMessage("user", text) for text in ("一", "二", "三")]
        ).or_raise()
        assert report.history.status != "idle"
        await (await runtime.service(LongTermMemoryService)).auto_save(MEI, "I love tea.").or_raise()
    assert len(extractor.calls) == 1


def mcp_stack_of(*arguments: Any, **parts: Any) -> Any:
    pytest.importorskip("mcp", reason="the extra [mcp] is not installed; make test-integrations has it")
    from chatmemory_layers.server.mcp_stack import mcp_stack

    return mcp_stack(*arguments, **parts)


@pytest.mark.parametrize("make", [server_stack, mcp_stack_of])
async def test_a_server_takes_the_parts_of_the_memory(
    make: Callable[..., Layer[Any, Any]], tmp_path: Path
) -> None:
    settings = Settings(
        memory=MemorySettings(
            store=StoreSettings(sqlite=SqliteSettings(path=str(tmp_path / "a.db"))),
            past_chats=PastChatsSettings(path=str(tmp_path / "past.db")),
        )
    )
    repositories = message_repository | memory_repository | item_repository
    async with ManagedRuntime(make(settings, repositories=repositories)) as runtime:
        chat: Any = await runtime.service(ChatMemoryService)
        await chat.add_messages("茶", [NewMessage("user", "你好")]).or_raise()
    assert not (tmp_path / "a.db").exists()


def test_a_part_that_no_stack_has_is_named_with_those_that_there_are() -> None:
    misspelt: dict[str, Any] = {"embeder": None}
    for make in (stacks.testing, stacks.from_configuration, lambda **parts: stacks.embedded("a.db", **parts)):
        with pytest.raises(TypeError) as caught:
            make(**misspelt)
        assert str(caught.value) == (
            "a stack has no part 'embeder': its parts are "
            "repositories, strategy, skills, embedder, extractor, ranker, clock"
        )


def test_past_chats_are_found_by_an_index_and_a_ranking_of_ones_own(tmp_path: Path) -> None:
    index = Stub(PromptRepositoryTag)
    ranker = Stub(PromptRankerTag)
    settings = PastChatsSettings(path=str(tmp_path / "past.db"))
    stack = past_chats_stacks.finding(settings, repositories=index.service, ranker=ranker.layer)
    with ManagedRuntime(stack) as runtime, pytest.raises(NotImplementedError, match="PromptRepository"):
        runtime.run_sync(PastChatsService.use(lambda past: past.search("茶")))
    assert not (tmp_path / "past.db").exists()
    with pytest.raises(
        TypeError, match="no part 'rankr': its parts are repositories, files, embedder, ranker, clock"
    ):
        past_chats_stacks.finding(settings, rankr=ranker)  # as a typo would have it


# --- any part is swapped in one line by its tag: its users get the fake, and it writes nothing itself ---


REPOSITORIES = message_repository | memory_repository | item_repository


def stub(tag: Any, **scripts: Any) -> tuple[Any, list[Any]]:
    made: Any = Stub(tag, **scripts)
    return made.service, made.calls


def embedder() -> tuple[Any, list[Any]]:
    table = TableEmbedder(unknown="hashed")
    return table, table.asked


MESSAGES = "SELECT content FROM chat_message"

# What stands in for a part, and what has been asked of it.
SWAPS: dict[Any, Callable[[], tuple[Any, list[Any]]]] = {
    ChatMemoryService: lambda: stub(ChatMemoryService),
    LongTermMemoryService: lambda: stub(LongTermMemoryService),
    ChatContextService: lambda: stub(ChatContextService),
    MessageRepositoryTag: lambda: stub(MessageRepositoryTag, claim_work=lambda *_, **__: None),
    MemoryRepositoryTag: lambda: stub(MemoryRepositoryTag),
    ItemRepositoryTag: lambda: stub(ItemRepositoryTag),
    HistoryStrategyTag: lambda: stub(
        HistoryStrategyTag, threshold=WorkThreshold(), after_add=lambda _: HistoryReport("idle")
    ),
    SkillRunnerTag: lambda: stub(SkillRunnerTag, run=lambda *_: "said"),
    EmbedderTag: embedder,
    MemoryExtractorTag: lambda: stub(MemoryExtractorTag, extract=lambda *_, **__: Extraction((), "nobody")),
    RecallRankerTag: lambda: stub(RecallRankerTag),
    TokenCounterTag: lambda: stub(TokenCounterTag, count=lambda _: 7),
}
# What only the real part could have written into the file.
WRITTEN: dict[Any, str] = {
    MessageRepositoryTag: MESSAGES,
    MemoryRepositoryTag: "SELECT content FROM atomic_memory",
    SkillRunnerTag: "SELECT content FROM chat_message WHERE role = 'summary' AND content <> 'said'",
    EmbedderTag: "SELECT model FROM memory_space WHERE model <> 'table'",
    TokenCounterTag: "SELECT tokens FROM chat_message WHERE tokens <> 7",
}


async def use_every_part(runtime: ManagedRuntime[stacks.MemoryTags]) -> list[UnimplementedError]:
    """Do a bit of everything, and return how a stub without a script was asked in vain."""
    in_vain: list[UnimplementedError] = []
    chat = await runtime.service(ChatMemoryService)
    memory = await runtime.service(LongTermMemoryService)
    contexts = await runtime.service(ChatContextService)
    items = await runtime.service(ItemRepositoryTag)
    now = TestClock().now()
    steps: list[Callable[[], Awaitable[object]]] = [
        lambda: chat.add_messages("茶", [NewMessage("user", text, text) for text in ("一", "二", "三")]),
        lambda: chat.get_messages("茶"),
        lambda: memory.auto_save(MEI, "I love green tea. My name is Mei."),
        lambda: memory.put_value(MEI, "drink", "茶"),
        lambda: memory.recall(MEI, "茶"),
        lambda: contexts.build(MEI, "茶", "green tea?"),
        lambda: items.namespaces((), now=now),
    ]
    for step in steps:
        try:
            await step()
        except UnimplementedError as error:
            in_vain.append(error)
    return in_vain


def found(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(statement).fetchall()


async def test_each_part_is_swapped_in_one_line(tmp_path: Path) -> None:
    real = tmp_path / "real.db"
    async with ManagedRuntime(stacks.embedded(real, strategy=SOON)) as runtime:
        await use_every_part(runtime)
    for number, (tag, make) in enumerate(SWAPS.items()):
        path = tmp_path / f"{number}.db"
        for stack in (stacks.embedded(path, strategy=SOON), stacks.testing(strategy=SOON)):
            fake, calls = make()
            async with ManagedRuntime(stack.replace(Layer.succeed(tag, fake))) as runtime:
                assert await runtime.service(tag) is fake
                in_vain = await use_every_part(runtime)
            assert calls or in_vain, tag
        if tag in WRITTEN:
            assert (found(path, WRITTEN[tag]), bool(found(real, WRITTEN[tag]))) == ([], True), tag


async def said(stack: stacks.Stack) -> None:
    async with ManagedRuntime(stack) as runtime:
        chat = await runtime.service(ChatMemoryService)
        await chat.add_messages("茶", [NewMessage("user", "secret of a test")]).or_raise()


async def test_a_repository_beside_a_stack_or_fed_to_it_is_refused_and_nothing_is_opened(
    tmp_path: Path,
) -> None:
    path = tmp_path / "prod.db"
    with pytest.raises(ShadowedServiceError, match=r"stack\.replace\(fake\), not stack \| fake"):
        await said(stacks.embedded(path) | message_repository)
    with pytest.raises(ShadowedServiceError, match=r"stack\.replace\(fake\), not fake >> stack"):
        await said(message_repository.feed_keep(stacks.embedded(path)))
    assert not path.exists()


async def test_a_store_that_feeds_no_repository_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "prod.db"
    environment = {"CHATMEMORY_MEMORY_STORE_SQLITE_PATH": str(path)}
    for number, swapped in enumerate(
        (
            stacks.embedded(path).replace(REPOSITORIES),
            stacks.embedded(path, repositories=REPOSITORIES),
            stacks.embedded(path, repositories=message_repository).replace(
                memory_repository, item_repository
            ),
            wire(stacks.embedded(path), override=[message_repository, memory_repository, item_repository]),
            stacks.from_configuration(environment=environment, repositories=REPOSITORIES),
            stacks.from_configuration(environment=environment).replace(REPOSITORIES),
            # One that is not there hinders nobody.
            stacks.postgres("postgresql://nobody@127.0.0.1:1/nothing", repositories=REPOSITORIES),
        )
    ):
        await said(swapped)
        assert not path.exists(), number


async def test_a_clock_is_swapped_where_a_stack_has_one_and_where_it_has_none(tmp_path: Path) -> None:
    clock = TestClock()
    for stack in (stacks.testing(), stacks.embedded(tmp_path / "a.db")):
        async with ManagedRuntime(stack.replace(Layer.succeed(ClockTag, clock))) as runtime:
            chat = await runtime.service(ChatMemoryService)
            await chat.add_messages("茶", [NewMessage("user", "now")]).or_raise()
            (message,) = await chat.get_messages("茶").or_raise()
            assert message.timestamp == clock.now()


async def test_a_spy_goes_around_the_real_part_which_writes_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    messages = Spy(MessageRepositoryTag)
    await said(stacks.embedded(path).replace(messages.layer))
    await said(stacks.embedded(path, repositories=messages.layer))
    assert [call.method for call in messages.calls].count("append") == 2
    assert found(path, MESSAGES) == [("secret of a test",)] * 2


async def test_an_embedder_behind_a_spy_keeps_its_guard(tmp_path: Path) -> None:
    spy = Spy(EmbedderTag, embed=[raises(OSError("no")), passes])
    async with ManagedRuntime(stacks.embedded(tmp_path / "a.db").replace(spy.layer)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for words in ("Mei loves tea.", "Mei has a cat."):
            await memory.put_value(MEI, words, words).or_raise()
    assert [call.method for call in spy.calls].count("embed") == 1  # after that the guard lets it rest
