"""The ready-made stacks: whole, replaceable in their parts, and honest when they cannot be opened."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
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
)
from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.effect import ClockTag, Effect, ShadowedServiceError
from chatmemory.effect.layers.layer import UnimplementedError
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.pastchats.contract import PastChatsIndexService, PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PromptRankerTag
from chatmemory.pastchats.past_chats import IndexReport, IndexRequest
from chatmemory.pastchats.prompt_repository import PromptRepositoryTag
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.memory_settings import MemorySettings, SqliteSettings, StoreSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.testing import Spy, Stub, TableEmbedder, passes, raises
from chatmemory_layers import stacks
from chatmemory_layers.in_memory.item_repository import item_repository
from chatmemory_layers.in_memory.memory_repository import memory_repository
from chatmemory_layers.in_memory.message_repository import message_repository
from chatmemory_layers.server.serve_command import server_stack
from chatmemory_layers.skills.functions import skills
from chatmemory_layers.stacks import past_chats as past_chats_stacks
from tests.empty_store import empty_store
from tests.unit.sqlite.desktop_files import fetched

SOON = StrategySettings(type="summarize", summarize_every_n=3, keep_last=1)
SAID = [NewMessage("user", text, text) for text in ("一", "二", "三")]
REPOSITORIES = message_repository | memory_repository | item_repository


def shout(request: SkillRequest) -> str:
    return "!".join(message.content for message in request.messages)


async def converse(stack: stacks.Stack) -> list[str]:
    """Open *stack*, say the three messages (again), and return what a model would see."""
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("数", SAID).or_raise()
        return [message.content for message in await memory.get_messages("数").or_raise()]


async def test_a_file_and_a_database_are_whole_with_a_skill_of_ones_own_and_remember(tmp_path: Path) -> None:
    own: dict[str, Any] = {"strategy": SOON, "skills": skills({"conversation-summary": shout})}
    async with empty_store() as dsn:
        for _ in range(2):
            assert await converse(stacks.embedded(tmp_path / "chat.db", **own)) == ["一!二", "三"]
            assert await converse(stacks.postgres(dsn, reader_dsn=dsn, **own)) == ["一!二", "三"]


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


async def test_without_asyncpg_the_stack_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(EffectFailed, match=r"needs asyncpg: pip install"):
        await ManagedRuntime(stacks.postgres("postgresql://nobody@localhost/nothing")).__aenter__()


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
    for stack, make in STACKS.items():
        for parts in (plain, layers):
            built = make(tmp_path / "a.db", repositories=REPOSITORIES, **parts)
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


def mcp_stack_of(*arguments: Any, **parts: Any) -> Any:
    pytest.importorskip("mcp", reason="the extra [mcp] is not installed; make test-integrations has it")
    from chatmemory_layers.server.mcp_main import mcp_stack

    return mcp_stack(*arguments, **parts)


@pytest.mark.parametrize("make", [server_stack, mcp_stack_of])
async def test_a_server_takes_the_same_parts(make: Callable[..., Layer[Any, Any]], tmp_path: Path) -> None:
    settings = Settings(
        memory=MemorySettings(
            store=StoreSettings(sqlite=SqliteSettings(path=str(tmp_path / "a.db"))),
            past_chats=PastChatsSettings(path=str(tmp_path / "past.db")),
        )
    )
    async with ManagedRuntime(make(settings, repositories=REPOSITORIES)) as runtime:
        chat: Any = await runtime.service(ChatMemoryService)
        await chat.add_messages("茶", [NewMessage("user", "你好")]).or_raise()
    assert not (tmp_path / "a.db").exists()


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
    number: Any = 5
    with pytest.raises(TypeError, match=r"^path: expected .* not int$"):
        stacks.embedded(number)


# --- any part is swapped in one line by its tag: its users get the fake, and it writes nothing itself ---


def stub(tag: Any, **scripts: Any) -> tuple[Any, list[Any]]:
    made: Any = Stub(tag, **scripts)
    return made.service, made.calls


def embedder() -> tuple[Any, list[Any]]:
    table = TableEmbedder(unknown="hashed")
    return table, table.asked


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
    MessageRepositoryTag: "SELECT content FROM chat_message",
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
        lambda: chat.add_messages("茶", SAID),
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
            assert (fetched(path, WRITTEN[tag]), bool(fetched(real, WRITTEN[tag]))) == ([], True), tag


async def test_a_repository_beside_a_stack_or_fed_to_it_is_refused_unopened(tmp_path: Path) -> None:
    path = tmp_path / "prod.db"
    with pytest.raises(ShadowedServiceError, match=r"stack\.replace\(fake\), not stack \| fake"):
        await converse(stacks.embedded(path) | message_repository)
    with pytest.raises(ShadowedServiceError, match=r"stack\.replace\(fake\), not fake >> stack"):
        await converse(message_repository.feed_keep(stacks.embedded(path)))
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
            stacks.from_configuration(environment=environment, repositories=REPOSITORIES),
            stacks.from_configuration(environment=environment).replace(REPOSITORIES),
            # One that is not there hinders nobody.
            stacks.postgres("postgresql://nobody@127.0.0.1:1/nothing", repositories=REPOSITORIES),
        )
    ):
        await converse(swapped)
        assert not path.exists(), number


HISTORY = [
    {"role": "user", "content": "数据库被锁住了怎么办？ The database is locked."},
    {"role": "assistant", "content": "Set busy_timeout，并开启 WAL。"},
]


def indexed(runtime: ManagedRuntime[PastChatsIndexService | PastChatsService], folder: Path) -> IndexReport:
    (folder / "chat.json").write_text(json.dumps(HISTORY), encoding="utf-8")
    request = IndexRequest(inputs=(str(folder),))
    return runtime.run_sync(PastChatsIndexService.use(lambda past: past.index(request))).unwrap()


def test_what_was_indexed_in_memory_is_found_in_the_same_runtime_and_in_no_other(tmp_path: Path) -> None:
    for provider in ("static", "hashed", "none"):
        with ManagedRuntime(past_chats_stacks.testing(EmbeddingSettings(provider=provider))) as runtime:
            assert indexed(runtime, tmp_path).turns.new == 2
            past = runtime.run_sync(PastChatsService.get()).unwrap()
            (first, *_) = runtime.run_sync(past.search("busy_timeout")).unwrap().hits
            assert first.prompt.content == HISTORY[1]["content"]
            recalled = runtime.run_sync(past.recall("数据库被锁住")).unwrap().text
            assert "busy_timeout，并开启 WAL" in recalled


async def test_an_embedder_behind_a_spy_keeps_its_guard(tmp_path: Path) -> None:
    spy = Spy(EmbedderTag, embed=[raises(OSError("no")), passes])
    async with ManagedRuntime(stacks.embedded(tmp_path / "a.db").replace(spy.layer)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for words in ("Mei loves tea.", "Mei has a cat."):
            await memory.put_value(MEI, words, words).or_raise()
    assert [call.method for call in spy.calls].count("embed") == 1  # after that the guard lets it rest
