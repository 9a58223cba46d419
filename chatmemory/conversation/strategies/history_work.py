"""``HistoryKeeper``: does queued history work at once or in the background, and retries it after a failure or a crash.

An append queues the work in its own transaction (an outbox).  A worker takes a lease on the work, and the strategy commits
only if the version is still the expected one.  So work that is done twice changes the history once, and work that was not
finished is claimed again after its lease has expired.
"""

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import count
from typing import Final, Self, TypeAlias, final, get_args

import anyio
from attrs import define, evolve, field, frozen

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.conversation.message_repository import LONGEST_WAIT, Appended, HistoryWork, MessageRepository
from chatmemory.conversation.messages import HistoryReport, HistoryStatus
from chatmemory.conversation.strategies.contract import HistoryStrategy
from chatmemory.effect import Context, Die, Effect, Exit, Fail, Failure, Interrupt, Outcome, Success
from chatmemory.effect.services.clock import Clock, ClockTag, real_seconds
from chatmemory.effect.services.ids import Ids
from chatmemory.errors import GenericMemoryError, RepositoryError, SkillExecutionError, VersionConflictError
from chatmemory.input.first_answers import under
from chatmemory.settings.memory_settings import StrategySettings

LEASE_MARGIN_SECONDS: Final = (
    30.0  # added to the time that the work may take, for its commit on a slow machine
)
POLL_SECONDS: Final = 5.0  # the longest time until work of other processes and expired leases are noticed
LEAD_SECONDS: Final = 1.0  # for so long, a worker leaves new work to the add that queued it and will do it
WORKERS: Final = 4  # conversations at the same time, so that a slow model does not delay other conversations

IDLE: Final = HistoryReport("idle")
QUEUED: Final = HistoryReport("queued")
STATUSES: Final = get_args(HistoryStatus)

StrategyExit: TypeAlias = Exit[HistoryReport, VersionConflictError | GenericMemoryError]

log = logging.getLogger(__name__)


@final
@define
class _WorkSignal:
    """Wakes every waiting worker; after it is closed, no worker waits any more.

    Attributes:
        count: how often it was sent.  A worker compares this number, so that it misses no signal while it looks for work.
    """

    count: int = 0
    is_closed: bool = False
    _waiting: set[anyio.CancelScope] = field(factory=set[anyio.CancelScope])

    def send(self) -> None:
        self.count += 1
        for sleep in self._waiting:
            sleep.cancel()

    def close(self) -> None:
        self.is_closed = True
        self.send()

    async def wait(self, clock: Clock, seconds: float, *, seen: int) -> None:
        """Wait until it is sent, or for *seconds* of *clock*; return at once when it was sent more than *seen* times."""
        if self.count > seen:
            return
        with anyio.CancelScope() as sleep:
            self._waiting.add(sleep)
            try:
                await clock.sleep(seconds)
            finally:
                self._waiting.discard(sleep)


@final
@frozen
class HistoryKeeper:
    """Claims history work, runs the strategy on it with a time limit, and settles it.

    It acts with every right, for every caller of the append and every opener of the runtime.
    """

    repository: MessageRepository
    strategy: HistoryStrategy
    clock: Clock
    ids: Ids
    settings: StrategySettings
    _signal: _WorkSignal = field(factory=_WorkSignal, init=False)
    _restarts: Iterator[int] = field(factory=lambda: count(1), init=False)

    async def after_append(self, appended: Appended) -> HistoryReport:
        """Do the work that an append has queued, now or in the background, as configured.

        Work that is done now takes at most the timeout of the skill; the rest continues in the background.
        """
        if self.settings.execution == "background":
            self._signal.send()
            return QUEUED
        with acting_as(EVERYBODY), under(None):  # the work does not belong to the request that queued it
            return await self._work_on(appended.conversation.conversation_id)

    async def _work_on(self, conversation_id: str) -> HistoryReport:
        """Do the work of one conversation, for at most the timeout of the skill."""
        summary_ids: tuple[str, ...] = ()
        deadline = self.clock.monotonic() + self.settings.timeout_seconds
        while (seconds := deadline - self.clock.monotonic()) > 0:
            match await self._claim(seconds, self.clock.now(), conversation_id=conversation_id):
                case Failure(error):
                    return HistoryReport("failed", summary_ids, GenericMemoryError(error))
                case Success(HistoryWork() as work):
                    step = await self._do(work, seconds).or_raise()
                    summary_ids += step.summary_ids
                    if step.status == "idle" and summary_ids:
                        return HistoryReport("done", summary_ids)
                    if step.status != "done" or not step.summary_ids:
                        return evolve(step, summary_ids=summary_ids)
                case _:  # no work is left, or another process has leased it
                    return HistoryReport("done", summary_ids) if summary_ids else QUEUED
        return HistoryReport("queued", summary_ids)

    @asynccontextmanager
    async def in_background(self) -> AsyncGenerator[Self]:
        """Do queued work while the context is open, beginning with the work that an earlier process did not finish.

        When the context closes, it finishes the work that is due, for at most the timeout of the skill.
        """
        async with anyio.create_task_group() as workers:
            for _ in range(WORKERS):
                workers.start_soon(self._keep_working)
            try:
                yield self
            finally:
                self._signal.close()
                seconds = await real_seconds(self.clock, self.settings.timeout_seconds)
                workers.cancel_scope.deadline = anyio.current_time() + seconds

    async def _keep_working(self) -> None:
        """Work until the signal is closed; a defect is logged and counted, and the work starts again after a poll."""
        while True:
            seen = self._signal.count
            with acting_as(EVERYBODY):
                ended = await Effect.promise(self._work).exit().or_raise()
            match ended:
                case Failure(Die(defect)):
                    # Its text may quote a conversation, so the log has only the name of its class.
                    facts = {"restarts": next(self._restarts), "defect": type(defect).__name__}
                    log.warning(
                        "a worker of history work ended and begins again: %(defect)s", facts, extra=facts
                    )
                case _:
                    return
            if self._signal.is_closed:
                return
            await self._signal.wait(self.clock, POLL_SECONDS, seen=seen)

    async def _work(self) -> None:
        """Do the work that is due; when there is none, wait for the signal or the next poll."""
        seconds = self.settings.timeout_seconds
        while True:
            seen = self._signal.count
            match await self._claim(seconds, self._due_before()):
                case Success(HistoryWork() as work):
                    await self._do(work, seconds)
                case Failure(RepositoryError(problem="read_only")):
                    return  # only a process that may write can do the work
                case _ if self._signal.is_closed:
                    return
                case _:
                    await self._signal.wait(self.clock, POLL_SECONDS, seen=seen)

    def _due_before(self) -> datetime:
        """Return the latest time at which work may have become due that a worker claims now."""
        is_left_to_adds = self.settings.execution == "inline" and not self._signal.is_closed
        return self.clock.now() - timedelta(seconds=LEAD_SECONDS if is_left_to_adds else 0)

    async def _claim(
        self, seconds: float, due_before: datetime, *, conversation_id: str | None = None
    ) -> Outcome[HistoryWork | None, RepositoryError]:
        claim = await self.repository.claim_work(
            now=due_before,
            lease_id=self.ids.next_id(),
            lease_until=self.clock.now() + timedelta(seconds=seconds + LEASE_MARGIN_SECONDS),
            conversation_id=conversation_id,
        )
        if isinstance(claim, Failure) and claim.failure().problem != "read_only":
            log.warning("history work was not claimed: %s", claim.failure())
        return claim

    def _do(self, work: HistoryWork, seconds: float) -> Effect[HistoryReport]:
        """Run the strategy and settle the work in any case; a defect of a user's strategy becomes a failure."""
        # In a bind, so that what the strategy raises, or returns instead of an effect, is a defect of the effect.
        return (
            Effect.succeed(work.conversation_id)
            .bind(self.strategy.after_add)
            .map(_checked)
            .timeout(seconds, self._too_slow)
            .provide(Context.of(ClockTag, self.clock))
            .on_exit(lambda ended: self._settle(work, ended))
            .exit()
            .map(self._report)
        )

    def _too_slow(self) -> GenericMemoryError:
        return GenericMemoryError(SkillExecutionError(self.settings.skill_id, "timeout"))

    def _report(self, ended: StrategyExit) -> HistoryReport:
        match ended:
            case Success(HistoryReport("failed", failure=None) as report):
                return evolve(report, failure=self._strategy_failed("it gave no failure"))
            case Success(report):
                return report
            case Failure(Fail(VersionConflictError()) | Interrupt()):
                # Another process has rewritten the history in the meantime, or the time is over.
                return QUEUED
            case Failure(Fail(GenericMemoryError() as error)):
                return HistoryReport("failed", failure=error)
            case Failure(Die(defect)):
                # Its text may quote the conversation, and the error is logged: the text is only in the cause.
                failure = self._strategy_failed(type(defect).__name__, defect)
                return HistoryReport("failed", failure=failure)
            case Failure(cause):  # an error that the contract does not name
                name = type(getattr(cause, "error", cause)).__name__
                return HistoryReport("failed", failure=self._strategy_failed(name))

    def _strategy_failed(self, detail: str, cause: BaseException | None = None) -> GenericMemoryError:
        raised = SkillExecutionError(self.settings.skill_id, "strategy_failed", detail, cause=cause)
        return GenericMemoryError(raised)

    def _settle(self, work: HistoryWork, ended: StrategyExit) -> Effect[None]:
        report = self._report(ended)
        pause: float | None = None
        if report.failure is not None:
            pause = self._pause(work.attempts, report.failure)
            facts = {
                "conversation_id": work.conversation_id,
                "attempts": work.attempts,
                "pause_seconds": pause,
            }
            log.warning("history work failed: %s", report.failure, extra=facts)
        elif report.status == "queued" and not report.summary_ids and not _is_interrupted(ended):
            # With an immediate retry, a replica that lags behind would return the same conversation again, and a strategy that
            # waits for something would be asked without a pause.
            pause = min(self.settings.retry_seconds, LONGEST_WAIT.total_seconds())
        # A strategy that has changed nothing does not run again before the next add; otherwise it would run forever.
        has_changed_nothing = report.status in {"idle", "done"} and not report.summary_ids
        threshold = None if has_changed_nothing else self.strategy.threshold
        retry_at = None if pause is None else self.clock.now() + timedelta(seconds=pause)
        return self.repository.settle_work(work, threshold=threshold, retry_at=retry_at).lash(_leave_to_lease)

    def _pause(self, attempts: int, failure: GenericMemoryError) -> float:
        """Return the seconds until the next attempt: twice the last pause, or what the endpoint asks for; at most 3,600."""
        doubled = self.settings.retry_seconds * 2.0 ** min(attempts - 1, 30)
        asked = getattr(failure.reason, "retry_after_seconds", None) or 0.0
        return min(max(doubled, asked), LONGEST_WAIT.total_seconds())


def _is_interrupted(ended: StrategyExit) -> bool:
    return isinstance(ended, Failure) and isinstance(ended.failure(), Interrupt)


def _checked(report: object) -> HistoryReport:
    if not isinstance(report, HistoryReport):
        msg = f"after_add gives a HistoryReport, not {type(report).__name__}"
        raise TypeError(msg)
    if report.status not in STATUSES:
        msg = f"the status of a HistoryReport is one of {', '.join(STATUSES)}, not {report.status!r}"
        raise ValueError(msg)
    return report


def _leave_to_lease(error: RepositoryError) -> Effect[None]:
    log.warning("history work was not settled, its lease will expire: %s", error)
    return Effect.succeed(None)
