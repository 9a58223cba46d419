"""Summaries come when they are due, and nothing that a skill does costs a message."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle
from types import SimpleNamespace
from typing import Any, Final, cast

import anyio
import pytest
from attrs import evolve

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    Effect,
    HistoryStrategyTag,
    ManagedRuntime,
    Namespace,
    NewMessage,
    Outcome,
    StrategySettings,
    Success,
)
from chatmemory.access.principal import EVERYBODY, Granted, Principal, acting_as
from chatmemory.conversation.message_repository import Append, HistoryWork, MessageDraft, WorkThreshold
from chatmemory.conversation.messages import AddReport, ChatMessage, HistoryReport
from chatmemory.conversation.strategies.history_work import (
    LEAD_SECONDS,
    LEASE_MARGIN_SECONDS,
    POLL_SECONDS,
    WORKERS,
)
from chatmemory.errors import (
    ConversationNotFoundError,
    GenericMemoryError,
    RepositoryError,
    SkillExecutionError,
)
from chatmemory.testing import Stub, forever
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.patience import PATIENCE_SECONDS
from tests.unit.conftest import Answer, Desk

pytestmark = pytest.mark.anyio

EVERY_4 = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1)
IN_BACKGROUND = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1, execution="background")

IN_TURN = cycle([HistoryReport("done", ("s",)), HistoryReport("idle")])


def said(*words: str) -> list[NewMessage]:
    return [NewMessage("user" if index % 2 == 0 else "assistant", word) for index, word in enumerate(words)]


async def view(memory: ChatMemory, conversation_id: str = "c") -> list[str]:
    messages: Sequence[ChatMessage] = await memory.get_messages(conversation_id).or_raise()
    return [message.content for message in messages]


async def eventually(memory: ChatMemory, expected: list[str]) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        while await view(memory) != expected:  # noqa: ASYNC110  other processes send no signal
            await anyio.sleep(0.01)


async def test_summaries_come_in_the_rhythm_that_the_settings_explain(desk: Desk) -> None:
    async with desk.open(StrategySettings(type="summarize", summarize_every_n=20, keep_last=4)) as memory:
        due: list[int] = []
        for number in range(1, 60):
            report = await memory.add_messages("c", [NewMessage("user", f"{number}")]).or_raise()
            if report.history.status == "done":
                due.append(number)
                assert (await view(memory))[1:] == [f"{n}" for n in range(number - 3, number + 1)]
        assert due == [20, 36, 52]


@for_each("settings", [EVERY_4, IN_BACKGROUND])
async def test_work_is_done_for_everybody_whatever_the_rights_of_who_adds_and_of_who_opened(
    settings: StrategySettings,
) -> None:
    ada = Namespace("ada")
    may_write = (Granted(ada, rights=frozenset({"write"})),)
    desk = Desk()
    with acting_as(Principal(name="bob", namespace=Namespace("bob"))):
        async with desk.open(settings) as memory:
            with acting_as(Principal(name="importer", namespace=ada, granted=may_write)):
                report = await memory.add_messages("c", said("a", "b", "c", "d")).or_raise()
                assert report.history.status == ("done" if settings is EVERY_4 else "queued")
            with acting_as(EVERYBODY):
                await eventually(memory, ["summary of 3", "d"])


async def test_a_long_batch_is_summarized_in_stretches_that_lead_back_to_every_message(desk: Desk) -> None:
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said(*"abcdefghijk")).or_raise()
        assert await view(memory) == ["summary of 5", "i", "j", "k"]
        assert [len(request.messages) for request in desk.skills.requests] == [4, 5]
        full = await memory.get_messages("c", view="full").or_raise()
        first, second = (message for message in full if message.role == "summary")
        assert report.history.summary_ids == (first.id, second.id)
        origin = await memory.get_summarization("c", second.id).or_raise()
        assert origin is not None
        assert origin.summarized_message_ids[0] == first.id
        assert origin.timestamp_range.start == full[0].timestamp
        chain = await memory.get_summarizations_of("c", full[0].id).or_raise()
        assert [link.summary_message_id for link in chain] == [first.id, second.id]
        assert second.metadata == {"summaryMetadataId": origin.id}
    async with desk.open(evolve(EVERY_4, rolling=False)) as memory:
        await memory.add_messages("side by side", said(*"abcdefgh")).or_raise()
        assert await view(memory, "side by side") == ["summary of 4", "summary of 3", "h"]


FAILURES: Final[list[tuple[Answer, str]]] = [
    ("", "empty"),
    (" \n", "empty"),
    ("x" * 4001, "oversized"),
    ("a\0", "malformed"),
    (SkillExecutionError("conversation-summary", "unavailable"), "unavailable"),
    (ValueError("cannot summarize: my secret"), "strategy_failed"),
    (asyncio.CancelledError(), "strategy_failed"),
]


@for_each(("answer", "problem"), FAILURES)
async def test_a_failing_skill_costs_no_message_is_tried_again_and_logged_without_what_was_said(
    answer: Answer, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk()
    desk.skills.answers = [answer]
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said("my secret", "b", "c", "d")).or_raise()
        assert report.history.status == "failed"
        assert report.history.failure is not None
        assert isinstance(report.history.failure.reason, SkillExecutionError)
        assert report.history.failure.reason.problem == problem
        assert await view(memory) == ["my secret", "b", "c", "d"]
        await desk.clock.advance(EVERY_4.retry_seconds + POLL_SECONDS)
        assert await view(memory) == ["summary of 3", "d"]
    assert not isinstance(answer, ValueError) or "ValueError" in caplog.text
    assert "my secret" not in caplog.text + str([record.__dict__ for record in caplog.records])


def raises(_: str) -> Effect[HistoryReport]:
    raise LookupError


async def is_no_effect(_: str) -> HistoryReport:
    return HistoryReport("idle")


@for_each(
    ("after_add", "expected"),
    [
        (raises, "LookupError"),
        (is_no_effect, "TypeError"),
        (lambda _: Effect.succeed(None), "TypeError"),
        (lambda id_: Effect.fail(ConversationNotFoundError(id_)), "ConversationNotFoundError"),
        (lambda _: Effect.succeed(HistoryReport("failed")), "it gave no failure"),
        (lambda _: Effect.succeed(HistoryReport(cast("Any", "soon"))), "ValueError"),
        (lambda _: Effect.succeed(next(IN_TURN)), HistoryReport("done", ("s",))),
    ],
)
async def test_a_strategy_of_ones_own_fails_no_add_and_no_report_hides_a_summary(
    after_add: Any, expected: object
) -> None:
    strategy = SimpleNamespace(threshold=WorkThreshold(), after_add=after_add)
    async with ManagedRuntime(stacks.testing(strategy=strategy)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        report = await memory.add_messages("c", said("a")).or_raise()
        assert await view(memory) == ["a"]
    failure = report.history.failure
    if isinstance(expected, HistoryReport):
        assert report.history == expected
    else:
        assert failure is not None
        assert isinstance(failure.reason, SkillExecutionError)
        assert (failure.reason.problem, failure.reason.detail) == ("strategy_failed", expected)


async def test_pauses_between_attempts_grow_and_are_as_long_as_an_endpoint_asks_for(desk: Desk) -> None:
    desk.skills.answers = [SkillExecutionError("s", "unavailable") for _ in range(4)]
    async with desk.open(EVERY_4) as memory:
        await memory.add_messages("c", said(*"abcd")).or_raise()
        attempts: list[int] = []
        for _ in range(16):
            await desk.clock.advance(POLL_SECONDS)
            attempts.append(len(desk.skills.requests))
        # with retry_seconds=5: due 5, 10, 20 and 40 seconds after the last attempt, and seen by the next look in 5
        assert attempts == [1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4]
    patient = Desk()
    patient.skills.answers = [SkillExecutionError("s", "rate_limited", retry_after_seconds=600)]
    async with patient.open(EVERY_4) as memory:
        await memory.add_messages("c", said(*"abcd")).or_raise()
        await patient.clock.advance(595)
        assert len(patient.skills.requests) == 1
        await patient.clock.advance(2 * POLL_SECONDS)
        assert len(patient.skills.requests) == 2


async def test_a_hanging_skill_holds_no_add_too_long_and_no_other_conversation(desk: Desk) -> None:
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


async def test_skills_that_cancel_themselves_end_no_worker(desk: Desk) -> None:
    desk.skills.answers = [asyncio.CancelledError() for _ in range(2 * WORKERS)]
    async with desk.open(IN_BACKGROUND) as memory:
        for number in range(2 * WORKERS):
            await memory.add_messages(str(number), said(*"abcd")).or_raise()
        await memory.add_messages("c", said(*"abcd")).or_raise()
        await eventually(memory, ["summary of 3", "d"])


@for_each("defect", [LookupError("my secret"), asyncio.CancelledError()])
async def test_workers_that_end_are_started_again_told_and_counted(
    defect: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    desk = Desk()
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


async def test_work_that_comes_while_the_workers_look_for_some_is_not_left_to_the_next_poll(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_work, added = desk.repository.claim_work, anyio.Event()

    def look_slowly(**wanted: Any) -> Effect[HistoryWork | None, RepositoryError]:
        async def look() -> Outcome[HistoryWork | None, RepositoryError]:
            found = await claim_work(**wanted)
            await added.wait()  # the add sends its signal to workers that do not wait yet
            return found

        return Effect.from_outcome(look)

    monkeypatch.setattr(desk.repository, "claim_work", look_slowly)
    async with desk.open(IN_BACKGROUND) as memory:
        await anyio.wait_all_tasks_blocked()
        await memory.add_messages("c", said(*"abcd")).or_raise()
        added.set()
        await eventually(memory, ["summary of 3", "d"])


async def test_closing_finishes_what_is_due_and_gives_up_on_a_skill_that_hangs(desk: Desk) -> None:
    async with desk.open(IN_BACKGROUND) as memory:
        for name in ("一", "二", "三"):
            await memory.add_messages(name, said(*"abcd")).or_raise()
    async with desk.open(EVERY_4) as memory:
        for name in ("一", "二", "三"):
            assert await view(memory, name) == ["summary of 3", "d"]
    desk.skills.hangs = True
    with anyio.fail_after(PATIENCE_SECONDS):
        async with desk.open(evolve(IN_BACKGROUND, timeout_seconds=0.05)) as memory:
            await memory.add_messages("c", said(*"abcd")).or_raise()


async def leave_work_behind(desk: Desk, conversation_id: str) -> None:
    """Append as a process does that dies before its strategy runs."""
    now = desk.clock.now()
    drafts = tuple(MessageDraft(desk.ids.message_id(), "user", word, now, None, 1) for word in "abcd")
    await desk.repository.append(Append(conversation_id, drafts, now, WorkThreshold())).or_raise()


async def test_work_of_a_process_that_died_is_resumed_soon_or_after_its_lease(desk: Desk) -> None:
    await leave_work_behind(desk, "c")
    await desk.clock.advance(LEAD_SECONDS)
    async with desk.open(EVERY_4) as memory:
        await eventually(memory, ["summary of 3", "d"])
    await leave_work_behind(desk, "leased")
    now = desk.clock.now()
    until = now + timedelta(seconds=LEASE_MARGIN_SECONDS)
    assert await desk.repository.claim_work(now=now, lease_id="of the dead", lease_until=until).or_raise()
    async with desk.open(EVERY_4) as memory:
        await desk.clock.advance(LEASE_MARGIN_SECONDS - 1)
        assert await view(memory, "leased") == ["a", "b", "c", "d"]
        await desk.clock.advance(POLL_SECONDS + LEAD_SECONDS)
        assert await view(memory, "leased") == ["summary of 3", "d"]


async def test_a_cancelled_add_gives_its_lease_back(desk: Desk) -> None:
    desk.skills.hangs = True
    async with desk.open(EVERY_4) as memory:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.add_messages("c", said(*"abcd")).or_raise)
            await anyio.wait_all_tasks_blocked()
            assert len(desk.skills.requests) == 1, "the skill has the lease"
            tasks.cancel_scope.cancel()
        desk.skills.hangs = False
        assert await view(memory) == ["a", "b", "c", "d"]
        await desk.clock.advance(POLL_SECONDS)
        assert await view(memory) == ["summary of 3", "d"]


async def test_workers_leave_new_work_to_the_add_that_has_queued_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, claim_work, stored = desk.repository.append, desk.repository.claim_work, anyio.Event()

    def look_when_stored(**wanted: Any) -> Effect[HistoryWork | None, RepositoryError]:
        return Effect.promise(stored.wait).bind(lambda _: claim_work(**wanted))

    monkeypatch.setattr(
        desk.repository, "append", lambda batch: append(batch).tap(lambda _: Effect.sync(stored.set))
    )
    monkeypatch.setattr(desk.repository, "claim_work", look_when_stored)
    async with desk.open(EVERY_4) as memory:
        await anyio.wait_all_tasks_blocked()
        report = await memory.add_messages("c", said(*"abcd")).or_raise()
        assert report.history.status == "done"


@pytest.mark.parametrize(
    ("reports", "asked"),
    [
        ([forever(HistoryReport("idle"))], range(1, 2)),
        ([forever(HistoryReport("queued"))], range(3, 15)),
        # Each step has changed something: the next one follows at once.
        (
            [*[HistoryReport("queued", (f"s{step}",)) for step in range(30)], forever(HistoryReport("idle"))],
            range(31, 32),
        ),
    ],
)
async def test_a_strategy_that_changes_nothing_is_not_asked_without_a_pause(
    desk: Desk, reports: Sequence[Any], asked: range
) -> None:
    restless = Stub(HistoryStrategyTag, threshold=WorkThreshold(), after_add=list(reports))
    async with desk.open(StrategySettings(), restless.service) as memory:
        await memory.add_messages("c", said("a")).or_raise()
        await desk.clock.advance(60)
        assert len(restless.calls) in asked


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


async def test_a_store_without_claims_still_takes_messages(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = RepositoryError("claim work", "busy")
    monkeypatch.setattr(desk.repository, "claim_work", lambda **_: Effect.fail(broken))
    async with desk.open(EVERY_4) as memory:
        report = await memory.add_messages("c", said(*"abcd")).or_raise()
        assert report.history == HistoryReport("failed", failure=GenericMemoryError(broken))
        assert await memory.count("c") == Success(4)
