"""Summaries come when they are due, and nothing that a skill does costs a message."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import anyio
import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import ANYBODY, Granted, Principal, acting_as
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.message_repository import Append, HistoryWork, MessageDraft, WorkThreshold
from chatmemory.conversation.messages import AddReport, ChatMessage, HistoryReport
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.strategies.history_work import LEASE_MARGIN_SECONDS, POLL_SECONDS, WORKERS
from chatmemory.effect import Effect, Outcome, Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.errors import GenericMemoryError, RepositoryError, SkillExecutionError
from chatmemory.settings.memory_settings import StrategySettings
from tests.patience import PATIENCE_SECONDS
from tests.unit.conftest import Answer, Desk

pytestmark = pytest.mark.anyio

EVERY_4 = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1)
IN_BACKGROUND = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1, execution="background")


def said(*words: str) -> list[NewMessage]:
    return [NewMessage("user" if index % 2 == 0 else "assistant", word) for index, word in enumerate(words)]


async def view(memory: ChatMemory, conversation_id: str = "c") -> list[str]:
    messages: Sequence[ChatMessage] = await memory.get_messages(conversation_id).or_raise()
    return [message.content for message in messages]


async def eventually(memory: ChatMemory, expected: list[str]) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        while await view(memory) != expected:  # noqa: ASYNC110  other processes ring no bell either
            await anyio.sleep(0.01)


async def test_the_message_that_makes_it_due_finds_the_summary_written(desk: Desk) -> None:
    async with desk.open(EVERY_4) as memory:
        assert (await memory.add_messages("c", said("a", "b", "c")).or_raise()).history.status == "idle"
        report = await memory.add_messages("c", said("d")).or_raise()
        assert report.history.status == "done"
        assert await view(memory) == ["summary of 3", "d"]


async def test_summaries_come_in_the_rhythm_that_the_settings_explain(desk: Desk) -> None:
    async with desk.open(StrategySettings(type="summarize", summarize_every_n=20, keep_last=4)) as memory:
        due: list[int] = []
        for number in range(1, 60):
            report = await memory.add_messages("c", [NewMessage("user", f"{number}")]).or_raise()
            if report.history.status == "done":
                due.append(number)
                assert (await view(memory))[1:] == [f"{n}" for n in range(number - 3, number + 1)]
        assert due == [20, 36, 52]


@pytest.mark.parametrize("settings", [EVERY_4, IN_BACKGROUND], ids=["inline", "background"])
async def test_a_client_who_may_only_write_makes_summaries_come(
    desk: Desk, settings: StrategySettings
) -> None:
    ada = Namespace("ada")
    importer = Principal(name="importer", namespace=ada, granted=(Granted(ada, rights=frozenset({"write"})),))
    async with desk.open(settings) as memory:
        with acting_as(importer):
            report = await memory.add_messages("c", said("a", "b", "c", "d")).or_raise()
            assert report.history.status == ("done" if settings is EVERY_4 else "queued")
        await eventually(memory, ["summary of 3", "d"])


async def test_a_runtime_that_is_opened_for_somebody_does_the_work_of_everybody(desk: Desk) -> None:
    with acting_as(Principal(name="bob", namespace=Namespace("bob"))):
        async with desk.open(IN_BACKGROUND) as memory:
            with acting_as(ANYBODY):
                await memory.add_messages("c", said("a", "b", "c", "d")).or_raise()
                await eventually(memory, ["summary of 3", "d"])


async def test_a_long_batch_is_summarized_in_stretches(desk: Desk) -> None:
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said(*"abcdefghijk")).or_raise()
        assert len(report.history.summary_ids) == 2
        assert await view(memory) == ["summary of 5", "i", "j", "k"]
        assert [len(request.messages) for request in desk.skills.requests] == [4, 5]


async def test_summaries_stand_side_by_side_when_they_do_not_roll(desk: Desk) -> None:
    settings = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1, rolling=False)
    async with desk.open(settings) as memory:
        await memory.add_messages("c", said(*"abcdefgh")).or_raise()
        assert await view(memory) == ["summary of 4", "summary of 3", "h"]


async def test_a_rolling_summary_leads_back_to_every_message(desk: Desk) -> None:
    async with desk.open(EVERY_4) as memory:
        await memory.add_messages("c", said(*"abcdefgh")).or_raise()
        full = await memory.get_messages("c", view="full").or_raise()
        first, second = (message for message in full if message.role == "summary")
        origin = await memory.get_summarization("c", second.id).or_raise()
        assert origin is not None
        assert origin.summarized_message_ids[0] == first.id
        assert origin.timestamp_range.start == full[0].timestamp
        chain = await memory.get_summarizations_of("c", full[0].id).or_raise()
        assert [link.summary_message_id for link in chain] == [first.id, second.id]
        assert second.metadata == {"summaryMetadataId": origin.id}


async def test_a_system_message_is_never_summarized(desk: Desk) -> None:
    async with desk.open(EVERY_4) as memory:
        await memory.add_messages("c", [NewMessage("system", "Be brief."), *said(*"abcd")]).or_raise()
        assert await view(memory) == ["Be brief.", "summary of 3", "d"]


async def test_covered_messages_go_when_they_shall(desk: Desk) -> None:
    settings = StrategySettings(
        type="summarize", summarize_every_n=4, keep_last=1, delete_summarized_messages=True
    )
    async with desk.open(settings) as memory:
        report = await memory.add_messages("c", said(*"abcd")).or_raise()
        full = await memory.get_messages("c", view="full").or_raise()
        assert [message.content for message in full] == ["d", "summary of 3"]
        origin = await memory.get_summarization("c", report.history.summary_ids[0]).or_raise()
        assert origin is not None
        assert origin.summarized_message_ids == report.stored[:3]
        assert origin.messages_deleted


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("x" * 4001, "oversized"),
        ("a\0", "malformed"),
        (SkillExecutionError("conversation-summary", "unavailable"), "unavailable"),
        (ValueError("a bug"), "raised"),
        (asyncio.CancelledError(), "raised"),
    ],
)
async def test_a_failing_skill_costs_no_message_and_is_tried_again(
    desk: Desk, answer: Answer, problem: str
) -> None:
    desk.skills.answers = [answer]
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said(*"abcd")).or_raise()
        assert report.history.status == "failed"
        assert report.history.failure is not None
        assert isinstance(report.history.failure.reason, SkillExecutionError)
        assert report.history.failure.reason.problem == problem
        assert await view(memory) == ["a", "b", "c", "d"]
        await desk.clock.advance(EVERY_4.retry_seconds + POLL_SECONDS)
        assert await view(memory) == ["summary of 3", "d"]


async def test_no_log_quotes_what_was_said(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.skills.answers = [ValueError("cannot summarize: my secret")]
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said("my secret", "b", "c", "d")).or_raise()
    assert report.history.status == "failed"
    assert "ValueError" in caplog.text
    assert "my secret" not in caplog.text + str([record.__dict__ for record in caplog.records])


async def test_pauses_between_attempts_grow(desk: Desk) -> None:
    desk.skills.answers = [SkillExecutionError("s", "unavailable") for _ in range(4)]
    async with desk.open(EVERY_4) as memory:
        await memory.add_messages("c", said(*"abcd")).or_raise()
        attempts: list[int] = []
        for _ in range(16):
            await desk.clock.advance(POLL_SECONDS)
            attempts.append(len(desk.skills.requests))
        # with retry_seconds=5: after 5, 15, 35 and 75 seconds
        assert attempts == [2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5]


async def test_an_endpoint_that_asks_for_patience_gets_it(desk: Desk) -> None:
    desk.skills.answers = [SkillExecutionError("s", "rate_limited", retry_after_seconds=600)]
    async with desk.open(EVERY_4) as memory:
        await memory.add_messages("c", said(*"abcd")).or_raise()
        await desk.clock.advance(595)
        assert len(desk.skills.requests) == 1
        await desk.clock.advance(2 * POLL_SECONDS)
        assert len(desk.skills.requests) == 2


@pytest.mark.parametrize("asked", [None, 86_400.0])
async def test_a_clock_that_was_ahead_puts_no_summary_off_for_a_month(
    desk: Desk, asked: float | None
) -> None:
    desk.skills.answers = [SkillExecutionError("s", "rate_limited", retry_after_seconds=asked)]
    right = desk.clock
    desk.clock = TestClock(right.now() + timedelta(days=30))
    async with desk.open(EVERY_4) as memory:
        assert (await memory.add_messages("c", said(*"abcd")).or_raise()).history.status == "failed"
    desk.clock = right
    async with desk.open(EVERY_4) as memory:
        await eventually(memory, ["summary of 3", "d"])


async def test_a_hanging_skill_holds_no_add_longer_than_its_time_and_no_other_conversation(
    desk: Desk,
) -> None:
    desk.skills.hangs = True
    reports: dict[str, AddReport] = {}

    async def add(conversation_id: str, messages: list[NewMessage]) -> None:
        reports[conversation_id] = await memory.add_messages(conversation_id, messages).or_raise()

    async with desk.open(EVERY_4) as memory, anyio.create_task_group() as tasks:
        tasks.start_soon(add, "slow", said(*"abcd"))
        await desk.clock.advance(EVERY_4.timeout_seconds / 2)
        await add("other", said("a"))
        assert list(reports) == ["other"]
        await desk.clock.advance(EVERY_4.timeout_seconds / 2)
        desk.skills.hangs = False
        expected = GenericMemoryError(SkillExecutionError("conversation-summary", "timeout"))
        assert reports["slow"].history == HistoryReport("failed", failure=expected)
        assert await view(memory, "slow") == ["a", "b", "c", "d"]


async def test_in_the_background_no_add_waits(desk: Desk) -> None:
    desk.skills.hangs = True
    async with desk.open(IN_BACKGROUND) as memory:
        report = await memory.add_messages("c", said(*"abcd")).or_raise()
        assert report.history.status == "queued"
        assert await view(memory) == ["a", "b", "c", "d"]
        desk.skills.hangs = False
        await eventually(memory, ["summary of 3", "d"])


async def test_skills_that_cancel_themselves_end_no_worker(desk: Desk) -> None:
    desk.skills.answers = [asyncio.CancelledError() for _ in range(2 * WORKERS)]
    async with desk.open(IN_BACKGROUND) as memory:
        for number in range(2 * WORKERS):
            await memory.add_messages(str(number), said(*"abcd")).or_raise()
        await memory.add_messages("c", said(*"abcd")).or_raise()
        await eventually(memory, ["summary of 3", "d"])


@pytest.mark.parametrize("defect", [LookupError("my secret"), asyncio.CancelledError()])
async def test_workers_that_end_are_started_again_told_and_counted(
    desk: Desk, defect: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    claim_work, defects = desk.repository.claim_work, [defect] * WORKERS

    def claim(**wanted: Any) -> Effect[HistoryWork | None, RepositoryError]:
        if defects:
            raise defects.pop()
        return claim_work(**wanted)

    monkeypatch.setattr(desk.repository, "claim_work", claim)
    async with desk.open(IN_BACKGROUND) as memory:
        await anyio.wait_all_tasks_blocked()
        await memory.add_messages("c", said(*"abcd")).or_raise()
        await eventually(memory, ["summary of 3", "d"])
    told = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [vars(record)["restarts"] for record in told] == list(range(1, WORKERS + 1))
    assert "my secret" not in caplog.text


async def test_work_that_comes_while_a_worker_looks_for_some_is_not_left_to_the_next_poll(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_work = desk.repository.claim_work

    def look_slowly(**wanted: Any) -> Effect[HistoryWork | None, RepositoryError]:
        async def look() -> Outcome[HistoryWork | None, RepositoryError]:
            found = await claim_work(**wanted)
            await anyio.sleep(
                0.02
            )  # the add comes now, and its bell rings for a worker that does not wait yet
            return found

        return Effect.from_outcome(look)

    monkeypatch.setattr(desk.repository, "claim_work", look_slowly)
    async with desk.open(IN_BACKGROUND) as memory:
        await anyio.sleep(0.01)
        await memory.add_messages("c", said(*"abcd")).or_raise()
        await eventually(memory, ["summary of 3", "d"])


async def test_closing_finishes_what_is_due(desk: Desk) -> None:
    async with desk.open(IN_BACKGROUND) as memory:
        for name in ("一", "二", "三"):
            await memory.add_messages(name, said(*"abcd")).or_raise()
    async with desk.open(EVERY_4) as memory:
        for name in ("一", "二", "三"):
            assert await view(memory, name) == ["summary of 3", "d"]


async def test_closing_gives_up_on_a_skill_that_hangs(desk: Desk) -> None:
    desk.skills.hangs = True
    settings = StrategySettings(
        type="summarize", summarize_every_n=4, keep_last=1, execution="background", timeout_seconds=0.05
    )
    with anyio.fail_after(PATIENCE_SECONDS):
        async with desk.open(settings) as memory:
            await memory.add_messages("c", said(*"abcd")).or_raise()


async def leave_work_behind(desk: Desk, conversation_id: str) -> None:
    """Append as a process does that dies before its strategy runs."""
    now = desk.clock.now()
    drafts = tuple(MessageDraft(desk.ids.message_id(), "user", word, now, None, 1) for word in "abcd")
    await desk.repository.append(Append(conversation_id, drafts, now, WorkThreshold())).or_raise()


async def test_work_of_a_process_that_died_is_resumed_at_the_start(desk: Desk) -> None:
    await leave_work_behind(desk, "c")
    async with desk.open(EVERY_4) as memory:
        await eventually(memory, ["summary of 3", "d"])


async def test_a_lease_that_expired_is_taken_over(desk: Desk) -> None:
    await leave_work_behind(desk, "c")
    now = desk.clock.now()
    until = now + timedelta(seconds=LEASE_MARGIN_SECONDS)
    assert await desk.repository.claim_work(now=now, lease_id="of the dead", lease_until=until).or_raise()
    async with desk.open(EVERY_4) as memory:
        await desk.clock.advance(LEASE_MARGIN_SECONDS - 1)
        assert await view(memory) == ["a", "b", "c", "d"]
        await desk.clock.advance(POLL_SECONDS + 1)
        assert await view(memory) == ["summary of 3", "d"]


async def test_a_cancelled_add_gives_its_lease_back(desk: Desk) -> None:
    desk.skills.hangs = True
    async with desk.open(EVERY_4) as memory:
        with anyio.move_on_after(0.05):
            await memory.add_messages("c", said(*"abcd")).or_raise()
        desk.skills.hangs = False
        assert await view(memory) == ["a", "b", "c", "d"]
        await desk.clock.advance(POLL_SECONDS)
        assert await view(memory) == ["summary of 3", "d"]


async def test_two_processes_write_one_summary(desk: Desk) -> None:
    async with desk.open(EVERY_4) as here, desk.open(EVERY_4) as there:
        await here.add_messages("c", said("a", "b", "c")).or_raise()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.add_messages("c", said("d")).or_raise)
            tasks.start_soon(there.add_messages("c", said("e")).or_raise)
        full = await here.get_messages("c", view="full").or_raise()
        covered = [message.id for message in full if message.covered_by]
        assert len(covered) == len(set(covered))
        assert sum(message.role == "summary" for message in full) == 1


async def test_a_strategy_with_nothing_to_do_is_not_asked_for_ever(desk: Desk) -> None:
    class Restless:
        threshold = WorkThreshold()
        asked = 0

        def after_add(self, conversation_id: str) -> Effect[HistoryReport]:
            self.asked += 1
            return Effect.succeed(HistoryReport("idle"))

    strategy = Restless()
    async with desk.open(StrategySettings(), strategy) as memory:
        await memory.add_messages("c", said("a")).or_raise()
        await desk.clock.advance(60)
        assert strategy.asked == 1


async def test_the_view_stays_within_its_token_budget(desk: Desk) -> None:
    settings = StrategySettings(type="token_budget", token_budget=400, keep_last=2)
    async with desk.open(settings) as memory:
        for turn in range(60):
            call = {"tool_calls": [{"name": "search", "arguments": "q" * 40}]} if turn % 7 == 0 else None
            words = "我想去北京旅行。" * 3 if turn % 2 else "I would like to travel to Beijing. " * 3
            await memory.add_messages("c", [NewMessage("user", words, metadata=call)]).or_raise()
            conversation = await memory.get_conversation("c").or_raise()
            assert conversation.view_tokens <= settings.token_budget
        assert len(desk.skills.requests) < 20
        full = await memory.get_messages("c", view="full").or_raise()
        assert sum(message.role == "user" for message in full) == 60


async def test_a_store_that_cannot_be_claimed_from_still_takes_messages(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = RepositoryError("claim work", "busy")
    monkeypatch.setattr(desk.repository, "claim_work", lambda **_: Effect.fail(broken))
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said(*"abcd")).or_raise()
        assert report.history == HistoryReport("failed", failure=GenericMemoryError(broken))
        assert await memory.count("c") == Success(4)
