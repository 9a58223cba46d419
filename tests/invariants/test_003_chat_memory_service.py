"""Document 003: the service of conversations, its strategies, errors and configuration.  Each scenario is a test of its name."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    ConversationNotFoundError,
    DataValidationError,
    Failure,
    GenericMemoryError,
    HistoryReport,
    HistoryStrategyTag,
    ManagedRuntime,
    NewMessage,
    Settings,
    SkillExecutionError,
    SkillRequest,
    StrategySettings,
    Success,
)
from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.settings.memory_settings import ChatSettings, MemorySettings, StoreSettings
from chatmemory.testing import Stub
from chatmemory_layers import stacks
from chatmemory_layers.configuration import read_settings
from chatmemory_layers.skills.functions import skills

MONDAY = datetime(2026, 2, 16, 9, tzinfo=UTC)
SUMMARIZE = MemorySettings(
    chat=ChatSettings(strategy=StrategySettings(type="summarize", summarize_every_n=4, keep_last=1))
)
FORGET_WHAT_IS_SUMMARIZED = evolve(
    SUMMARIZE, chat=ChatSettings(strategy=evolve(SUMMARIZE.chat.strategy, delete_summarized_messages=True))
)

summarizing = pytest.mark.parametrize("settings", [SUMMARIZE])


def lines(count: int) -> list[NewMessage]:
    times = [MONDAY + timedelta(minutes=n) for n in range(count)]
    return [NewMessage("user", f"第 {n} 句: room {n}", f"m{n}", at) for n, at in enumerate(times)]


# --- Goals ---


async def test_memory_is_scoped_to_its_conversation(chat: ChatMemory) -> None:
    await chat.add_messages("午饭", [NewMessage("user", "去哪儿吃?")]).or_raise()
    await chat.add_messages("dinner", [NewMessage("user", "Where do we eat?")]).or_raise()
    await chat.clear_messages("dinner").or_raise()
    assert [message.content for message in await chat.get_messages("午饭").or_raise()] == ["去哪儿吃?"]


# --- 5.1 IChatMemoryService Interface & ChatMemoryService Tag ---


async def test_the_service_is_asked_for_by_its_tag(runtime: ManagedRuntime[stacks.MemoryTags]) -> None:
    asked = ChatMemoryService.use(lambda chat: chat.add_messages("c1", lines(1)))
    assert (await runtime.run(asked)).unwrap().stored == ("m0",)
    read = ChatMemoryService.use(lambda chat: chat.get_messages("c1"))
    assert [message.id for message in (await runtime.run(read)).unwrap()] == ["m0"]
    cleared = ChatMemoryService.use(lambda chat: chat.clear_messages("c1"))
    assert (await runtime.run(cleared)).unwrap().messages == 1


# --- 5.2 Core Data Structures ---


async def test_a_message_of_each_role_is_kept_as_it_was_given(chat: ChatMemory) -> None:
    metadata = {"model": "某模型", "tokens": [3, 4]}
    said = [
        NewMessage("user", "几点?", "m1", MONDAY),
        NewMessage("assistant", "Nine.", "m2", MONDAY, metadata),
        NewMessage("system", "Be brief.", "m3", MONDAY),
        NewMessage("tool", "{}", "m4", MONDAY),
    ]
    await chat.add_messages("c1", said).or_raise()
    kept = await chat.get_messages("c1").or_raise()
    assert [(one.role, one.content, one.timestamp) for one in kept] == [
        (one.role, one.content, one.timestamp) for one in said
    ]
    assert [one.metadata for one in kept] == [None, metadata, None, None]


@summarizing
async def test_a_summary_names_the_metadata_that_names_its_messages(chat: ChatMemory) -> None:
    await chat.add_messages("c1", lines(4)).or_raise()
    summary = (await chat.get_messages("c1").or_raise())[0]
    origin = await chat.get_summarization("c1", summary.id).or_raise()
    assert origin is not None
    assert summary.role == "summary"
    assert (summary.metadata or {})["summaryMetadataId"] == origin.id
    assert (origin.conversation_id, origin.summary_message_id) == ("c1", summary.id)
    assert origin.summarized_message_ids == ("m0", "m1", "m2")
    assert await chat.get_summarizations_of("c1", "m0") == Success((origin,))
    assert await chat.get_summarizations_of("c1", "m3") == Success(())
    assert (origin.timestamp_range.start, origin.timestamp_range.end) == (
        MONDAY,
        MONDAY + timedelta(minutes=2),
    )


# --- 5.3 History Management Strategy ---


@pytest.mark.parametrize(("settings", "seen"), [(MemorySettings(), 4), (SUMMARIZE, 2)])
async def test_the_active_strategy_is_determined_by_configuration(chat: ChatMemory, seen: int) -> None:
    await chat.add_messages("c1", lines(4)).or_raise()
    assert len(await chat.get_messages("c1").or_raise()) == seen
    assert len(await chat.get_messages("c1", view="full").or_raise()) >= 4


async def test_a_strategy_of_a_user_is_injected(store: StoreSettings) -> None:
    due = WorkThreshold(open_count=2)
    strategy = Stub(HistoryStrategyTag, threshold=due, after_add=[HistoryReport("done")])
    stack = stacks.configured(Settings(memory=MemorySettings(store=store)), strategy=strategy.service)
    async with ManagedRuntime(stack) as runtime:
        chat = await runtime.service(ChatMemoryService)
        reports = [await chat.add_messages("c1", [message]).or_raise() for message in lines(2)]
    assert [report.history.status for report in reports] == ["idle", "done"]
    assert [call.arguments for call in strategy.calls] == [{"conversation_id": "c1"}]


# --- 5.4 Core Memory Operations ---


async def test_messages_come_back_in_order_within_a_limit_and_a_time(chat: ChatMemory) -> None:
    await chat.add_messages("c1", lines(3)).or_raise()
    await chat.add_messages("c1", lines(5)[3:]).or_raise()
    before = {"limit": 2, "before": MONDAY + timedelta(minutes=3)}
    for asked, ids in (({}, "01234"), ({"limit": 2}, "34"), (before, "12")):
        found = await chat.get_messages("c1", **asked).or_raise()
        assert [one.id for one in found] == [f"m{number}" for number in ids]


@summarizing
async def test_an_add_triggers_the_strategy(chat: ChatMemory) -> None:
    statuses = [(await chat.add_messages("c1", [message]).or_raise()).history.status for message in lines(4)]
    assert statuses == ["idle", "idle", "idle", "done"]


@pytest.mark.parametrize(("settings", "kept"), [(SUMMARIZE, 5), (FORGET_WHAT_IS_SUMMARIZED, 2)])
async def test_summarized_messages_are_deleted_where_configured(chat: ChatMemory, kept: int) -> None:
    await chat.add_messages("c1", lines(4)).or_raise()
    assert await chat.count("c1", view="full") == Success(kept)


@summarizing
async def test_clearing_deletes_messages_and_summarization_metadata(chat: ChatMemory) -> None:
    await chat.add_messages("c1", lines(4)).or_raise()
    summary = (await chat.get_messages("c1").or_raise())[0]
    report = await chat.clear_messages("c1").or_raise()
    assert (report.messages, report.summaries) == (5, 1)
    unknown = Failure(ConversationNotFoundError("c1"))
    assert await chat.get_messages("c1", view="full") == unknown
    assert await chat.get_summarization("c1", summary.id) == Success(None)


# --- 5.6 Interaction with SkillService ---


async def test_a_skill_writes_the_summary_and_its_failure_fails_no_add(store: StoreSettings) -> None:
    answers = iter(["raise", "They spoke of rooms."])

    async def summarize(request: SkillRequest) -> str:
        answer = next(answers)
        if answer == "raise":
            raise OSError("the model is away")
        return f"{answer} 共 {len(request.messages)} 句。"

    settings = Settings(memory=evolve(SUMMARIZE, store=store))
    stack = stacks.configured(settings, skills=skills({"conversation-summary": summarize}))
    async with ManagedRuntime(stack) as runtime:
        chat = await runtime.service(ChatMemoryService)
        failed = (await chat.add_messages("c1", lines(4)).or_raise()).history
        assert failed.status == "failed"
        assert isinstance(failed.failure, GenericMemoryError)
        assert isinstance(failed.failure.reason, SkillExecutionError)
        assert [one.id for one in await chat.get_messages("c1").or_raise()] == ["m0", "m1", "m2", "m3"]
        await chat.add_messages("c2", lines(4)).or_raise()
        assert (await chat.get_messages("c2").or_raise())[0].content == "They spoke of rooms. 共 3 句。"


# --- 5.7 Error Handling ---


async def test_invalid_messages_are_a_data_validation_error(chat: ChatMemory) -> None:
    refused = (await chat.add_messages("c1", [NewMessage("robot", "x")])).failure()
    assert isinstance(refused, DataValidationError)
    assert [problem.path for problem in refused.problems] == ["$.messages[0].role"]
    assert await chat.exists("c1") == Success(False)


async def test_an_unknown_conversation_is_a_conversation_not_found_error(chat: ChatMemory) -> None:
    unknown = Failure(ConversationNotFoundError("谁"))
    assert await chat.get_messages("谁") == unknown
    assert await chat.clear_messages("谁") == unknown


async def test_a_failing_store_is_a_generic_memory_error(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    async with ManagedRuntime(stacks.embedded(file)) as runtime:
        chat = await runtime.service(ChatMemoryService)
        await chat.add_messages("c1", lines(1)).or_raise()
        file.rename(tmp_path / "elsewhere.db")
        failure = (await chat.add_messages("c1", lines(2)[1:])).failure()
    assert isinstance(failure, GenericMemoryError)
    assert failure.reason.tag == "RepositoryError"


# --- 5.8 Logging ---


async def test_operations_are_logged_without_what_was_said(
    store: StoreSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="chatmemory"):
        async with ManagedRuntime(stacks.configured(Settings(memory=MemorySettings(store=store)))) as runtime:
            chat = await runtime.service(ChatMemoryService)
            await chat.add_messages("c1", [NewMessage("user", "我的密码是 Kugelfisch")]).or_raise()
            assert isinstance(await chat.get_messages("nobody"), Failure)
    told = [str(record.__dict__) for record in caplog.records if record.name == "chatmemory"]
    assert any("add_messages" in record for record in told)
    assert any("ConversationNotFoundError" in record for record in told)
    assert not any("Kugelfisch" in record for record in told)


# --- 5.9 Configuration ---


def test_the_configuration_keys_of_the_document_are_read(tmp_path: Path) -> None:
    file = tmp_path / "chatmemory.toml"
    file.write_text(
        """
        [memory.chat.strategy]
        type = "summarize"
        summarizeEveryN = 12
        skillId = "my-summary"
        deleteSummarizedMessages = true
        """,
        encoding="utf-8",
    )
    expected = StrategySettings(
        type="summarize", summarize_every_n=12, skill_id="my-summary", delete_summarized_messages=True
    )
    assert read_settings(file, environment={}).unwrap().memory.chat.strategy == expected
