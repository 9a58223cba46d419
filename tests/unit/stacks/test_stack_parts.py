"""What a ready-made stack has in the place of its own: each part as a layer and as the plain thing, by one name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatmemory import (
    ChatMemoryService,
    EmbedderTag,
    Extraction,
    HistoryStrategyTag,
    Layer,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryExtractorTag,
    Namespace,
    NewMessage,
    RecallRankerTag,
    Settings,
    SkillRunnerTag,
    StrategySettings,
)
from chatmemory.effect import ClockTag, Effect
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PromptRankerTag
from chatmemory.pastchats.prompt_repository import PromptRepositoryTag
from chatmemory.settings.memory_settings import MemorySettings, SqliteSettings, StoreSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.testing import Stub, TableEmbedder, TestClock
from chatmemory_layers import stacks
from chatmemory_layers.in_memory.item_repository import item_repository
from chatmemory_layers.in_memory.memory_repository import memory_repository
from chatmemory_layers.in_memory.message_repository import message_repository
from chatmemory_layers.server.stack import server_stack
from chatmemory_layers.stacks import past_chats as past_chats_stacks

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


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("form", ["plain", "layer"])
@pytest.mark.parametrize("stack", STACKS)
async def test_a_part_is_taken_plain_and_as_a_layer(stack: str, form: str, name: str, tmp_path: Path) -> None:
    tag, service = SERVICES[name]
    part = service if form == "plain" else Layer.succeed(tag, service)
    repositories = message_repository | memory_repository | item_repository
    built = STACKS[stack](tmp_path / "a.db", repositories=repositories, **{name: part})
    async with ManagedRuntime(built) as runtime:
        assert (await runtime.run(Effect.service(tag))).unwrap() is service


@pytest.mark.parametrize("form", ["plain", "layer"])
async def test_an_embedder_is_timed_and_guarded(form: str) -> None:
    table = TableEmbedder()  # knows no text, and fails
    part: Any = table if form == "plain" else Layer.succeed(EmbedderTag, table)
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


@pytest.mark.parametrize(
    "make",
    [stacks.testing, stacks.from_configuration, lambda **parts: stacks.embedded("a.db", **parts)],
    ids=["testing", "from_configuration", "embedded"],
)
def test_a_part_that_no_stack_has_is_named_with_those_that_there_are(make: Callable[..., object]) -> None:
    with pytest.raises(TypeError) as caught:
        make(embeder=None)
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
