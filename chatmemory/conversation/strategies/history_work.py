"""Sees to it that due history work is done: at once, in the background, after a failure, and after a crash.

An add writes the work into the store in its own transaction (an outbox).  Whoever does it holds a lease on it, and what
the strategy commits is guarded by version; so work that is done twice changes the history once, and work that nobody
finished is claimed again when its lease expires.
"""

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Final, Self, TypeAlias, final

import anyio
from attrs import define, evolve, field, frozen

from chatmemory.access.principal import ANYBODY, acting_as
from chatmemory.conversation.message_repository import LONGEST_WAIT, Appended, HistoryWork, MessageRepository
from chatmemory.conversation.messages import HistoryReport
from chatmemory.conversation.strategies.contract import HistoryStrategy
from chatmemory.effect import Cause, Context, Die, Effect, Exit, Fail, Failure, Outcome, Success
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.services.ids import Ids
from chatmemory.errors import GenericMemoryError, RepositoryError, SkillExecutionError, VersionConflictError
from chatmemory.settings.memory_settings import StrategySettings

LEASE_MARGIN_SECONDS: Final = (
    30.0  # beyond the time that the work may take: for its commit, on a slow machine
)
POLL_SECONDS: Final = 5.0  # how soon work of other processes is noticed, and leases that have expired
WORKERS: Final = 4  # conversations at once, so that a slow model delays no other conversation

IDLE: Final = HistoryReport("idle")
QUEUED: Final = HistoryReport("queued")
OVERTAKEN: Final = HistoryReport("queued")  # somebody else has rewritten the history meanwhile

StrategyExit: TypeAlias = Exit[HistoryReport, VersionConflictError | GenericMemoryError]

log = logging.getLogger(__name__)


@final
@define
class _Bell:
    """Wakes every waiting worker; once closed, nobody waits any more.

    Attributes:
        strokes: how often it was rung.  Who remembers the number misses no stroke while looking for work.
    """

    strokes: int = 0
    is_closed: bool = False
    _waiting: set[anyio.CancelScope] = field(factory=set[anyio.CancelScope])

    def ring(self) -> None:
        self.strokes += 1
        for sleep in self._waiting:
            sleep.cancel()

    def close(self) -> None:
        self.is_closed = True
        self.ring()

    async def wait(self, clock: Clock, seconds: float, *, heard: int) -> None:
        """Return when it rings, at once if it has since *heard* strokes, or after *seconds* of *clock*."""
        if self.strokes > heard:
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
    """Claims history work, runs the strategy on it within its time, and settles it.

    It works for the store, not for whoever has added something or has opened the runtime.
    """

    repository: MessageRepository
    strategy: HistoryStrategy
    clock: Clock
    ids: Ids
    settings: StrategySettings
    _bell: _Bell = field(factory=_Bell, init=False)
    _restarts: Iterator[int] = field(factory=lambda: count(1), init=False)

    async def after_append(self, appended: Appended) -> HistoryReport:
        """Do the work that an append has queued, or leave it to the background, as configured.

        Inline it takes at most the skill's timeout; what is due after that goes on in the background.
        """
        if not appended.work_is_due:
            return IDLE
        if self.settings.execution == "background":
            self._bell.ring()
            return QUEUED
        with acting_as(ANYBODY):
            report = await self._work_on(appended.conversation.conversation_id)
        self._bell.ring()
        return report

    async def _work_on(self, conversation_id: str) -> HistoryReport:
        """Do all the work of one conversation that fits into the skill's timeout."""
        summary_ids: tuple[str, ...] = ()
        deadline = self.clock.monotonic() + self.settings.timeout_seconds
        while (seconds := deadline - self.clock.monotonic()) > 0:
            match await self._claim(seconds, conversation_id=conversation_id):
                case Failure(error):
                    return HistoryReport("failed", summary_ids, GenericMemoryError(error))
                case Success(HistoryWork() as work):
                    step = await self._do(work, seconds).or_raise()
                    summary_ids += step.summary_ids
                    if step.status != "done" or not step.summary_ids:
                        return evolve(step, summary_ids=summary_ids)
                case _:  # nothing left, or in the hands of somebody else
                    return HistoryReport("done", summary_ids) if summary_ids else QUEUED
        return HistoryReport("queued", summary_ids)

    @asynccontextmanager
    async def in_background(self) -> AsyncGenerator[Self]:
        """Do queued work while the context is open, beginning with what an earlier process has left.

        Leaving does what is due by then, within the time that one piece of work may take.
        """
        async with anyio.create_task_group() as workers:
            for _ in range(WORKERS):
                workers.start_soon(self._keep_working)
            try:
                yield self
            finally:
                self._bell.close()
                workers.cancel_scope.deadline = anyio.current_time() + self.settings.timeout_seconds

    async def _keep_working(self) -> None:
        """Work until nobody rings any more; what ends in a defect is logged, counted, and begun again after a poll."""
        while True:
            heard = self._bell.strokes
            with acting_as(ANYBODY):
                ended = await Effect.promise(self._work).exit().or_raise()
            match ended:
                case Failure(Cause((Die(defect), *_))):
                    # Its text may quote a conversation: the log names its class.
                    facts = {"restarts": next(self._restarts), "defect": type(defect).__name__}
                    log.warning(
                        "a worker of history work ended and begins again: %(defect)s", facts, extra=facts
                    )
                case _:
                    return
            if self._bell.is_closed:
                return
            await self._bell.wait(self.clock, POLL_SECONDS, heard=heard)

    async def _work(self) -> None:
        """Do what is due; when nothing is, wait for the bell or the next poll."""
        seconds = self.settings.timeout_seconds
        while True:
            heard = self._bell.strokes
            match await self._claim(seconds):
                case Success(HistoryWork() as work):
                    await self._do(work, seconds)
                case Failure(RepositoryError(problem="read_only")):
                    return  # the work is for those who may write
                case _ if self._bell.is_closed:
                    return
                case _:
                    await self._bell.wait(self.clock, POLL_SECONDS, heard=heard)

    async def _claim(
        self, seconds: float, *, conversation_id: str | None = None
    ) -> Outcome[HistoryWork | None, RepositoryError]:
        now = self.clock.now()
        claim = await self.repository.claim_work(
            now=now,
            lease_id=self.ids.next_id(),
            lease_until=now + timedelta(seconds=seconds + LEASE_MARGIN_SECONDS),
            conversation_id=conversation_id,
        )
        if isinstance(claim, Failure) and claim.failure().problem != "read_only":
            log.warning("history work was not claimed: %s", claim.failure())
        return claim

    def _do(self, work: HistoryWork, seconds: float) -> Effect[HistoryReport]:
        """Run the strategy and settle the work, whatever happens; a defect of a user's strategy is a failure here."""
        return (
            self.strategy.after_add(work.conversation_id)
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
            case Success(report):
                return report
            case Failure(Cause((Fail(VersionConflictError()), *_))):
                return OVERTAKEN
            case Failure(Cause((Fail(GenericMemoryError() as error), *_))):
                return HistoryReport("failed", failure=error)
            case Failure(Cause((Die(defect), *_))):
                # Its text may quote the conversation, and this is logged: it stays in the cause.
                raised = SkillExecutionError(
                    self.settings.skill_id, "raised", type(defect).__name__, cause=defect
                )
                return HistoryReport("failed", failure=GenericMemoryError(raised))
            case _:
                return QUEUED  # interrupted

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
        elif report is OVERTAKEN:
            # At once, a replica that lags behind would show the same again.
            pause = min(self.settings.retry_seconds, LONGEST_WAIT.total_seconds())
        # A strategy that has changed nothing is not asked again before the next add, or it would be asked for ever.
        has_changed_nothing = report.status in {"idle", "done"} and not report.summary_ids
        threshold = None if has_changed_nothing else self.strategy.threshold
        retry_at = None if pause is None else self.clock.now() + timedelta(seconds=pause)
        return self.repository.settle_work(work, threshold=threshold, retry_at=retry_at).lash(_leave_to_lease)

    def _pause(self, attempts: int, failure: GenericMemoryError) -> float:
        """Return the seconds until the next attempt: doubling, or as long as the endpoint asks for; an hour at most."""
        doubled = self.settings.retry_seconds * 2.0 ** min(attempts - 1, 30)
        asked = getattr(failure.reason, "retry_after_seconds", None) or 0.0
        return min(max(doubled, asked), LONGEST_WAIT.total_seconds())


def _leave_to_lease(error: RepositoryError) -> Effect[None]:
    log.warning("history work was not settled, its lease will expire: %s", error)
    return Effect.succeed(None)
