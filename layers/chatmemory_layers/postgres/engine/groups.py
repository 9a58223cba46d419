"""``Groups``: commits the waiting writes of one kind together; each of them can fail without the others.

A group is all the writes that wait when a committer becomes free.  It forms while the group before it is written, so no
write is delayed to wait for others.  If no group is being written, half of the owners form the first one, and the other
half is prepared while the server stores it.

``GroupedWork`` defines how writes of one kind are written, ``Job`` is a write that waits, ``OwnerFacts`` are facts about owners
that spare a read, and ``OwnerQueues`` queues the writes by their owner.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import Context, copy_context
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, final

from attrs import define, field, frozen

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS, is_refusal, repository_error
from chatmemory_layers.postgres.engine.row_locks import Owner
from chatmemory_layers.postgres.pool_metrics import PoolMetrics

A = TypeVar("A")
E = TypeVar("E")
Q = TypeVar("Q")

GROUPS_AT_ONCE: Final = 2
"""The number of groups of one kind that are written at once: while the server stores one, the next is prepared."""

LEAST_TO_DIVIDE: Final = 16
"""Fewer waiting owners form one group: to write two statements would cost more than it saves."""

MOST_IN_A_GROUP: Final = 64
"""The most writes of one owner in a transaction; a group that has as many takes no further owner."""

MOST_KEPT: Final = 4096
"""The number of owners whose facts are kept after their last write, about 4 MB."""

_ATTEMPTS: Final = 2  # the second, when another program has written since the facts were kept

Turn: TypeAlias = Callable[[], bool]
"""``OwnerQueues`` calls it when a turn is free.  It returns whether the turn is taken; then ``leave`` must follow."""


Alone: TypeAlias = Callable[
    [str, Owner, Callable[[Connection], Awaitable[Outcome[Any, Any]]]], Awaitable[Outcome[Any, Any]]
]
"""Runs a transaction, see ``Database``.  Its arguments are the operation, the owner and the work."""


@final
@define(eq=False)
class Job:
    """A write that waits.

    Attributes:
        asked: the request that is written.
        context: the context of the caller, which holds the principal.
        answer: the future that the caller awaits; it is cancelled when the caller is.
        since: when the wait began, by the clock of the event loop.
    """

    asked: Any
    answer: "asyncio.Future[Any]"
    since: float
    context: Context = field(factory=copy_context)


Jobs: TypeAlias = Mapping[Owner, Sequence[Job]]
"""The writes of a group by their owner, in order; each owner has one at least."""

Answers: TypeAlias = Mapping[Owner, Sequence[Outcome[Any, Any] | None]]
"""The outcomes of the writes of each owner; None: this one has to be written alone.  For an owner that is missing nothing was
written, because the kept facts were out of date."""

Together: TypeAlias = Callable[[Callable[[Connection], Awaitable[Answers]]], Awaitable[Answers]]
"""Calls a function with a connection on which each statement is a transaction of its own, and returns its value."""


@final
class OwnerFacts:
    """Facts about owners, as they were after the last write; each statement that uses them checks that they still hold."""

    def __init__(self) -> None:
        self._facts: dict[str, Any] = {}

    def get(self, owner: str) -> Any:
        """Return the facts about *owner*; None when none are kept."""
        return self._facts.get(owner)

    def keep(self, owner: str, facts: object) -> None:
        """Keep *facts* about *owner*; when there are too many, drop the ones that were not used for longest."""
        self._facts.pop(owner, None)
        self._facts[owner] = facts
        if len(self._facts) > MOST_KEPT:
            del self._facts[next(iter(self._facts))]

    def drop(self, owner: str) -> None:
        """Forget the facts about *owner*, because another write may change them."""
        self._facts.pop(owner, None)


class InGroup(NamedTuple):
    """How the writes of several owners are written by one statement.

    Attributes:
        read: reads and keeps the facts that are missing; at most one statement.
        store: writes with one statement what can be written together, and returns the outcomes.
    """

    read: Callable[[Connection, OwnerFacts, Jobs], Awaitable[None]]
    store: Callable[[Connection, OwnerFacts, Jobs], Awaitable[Answers]]


@final
@frozen(eq=False)
class GroupedWork(Generic[Q, A, E]):
    """Defines how writes of one kind are written together.

    Attributes:
        operation: the name of the operation in errors.
        alone: writes one request, in a transaction that holds the lock of its owner.
        in_group: writes those of several owners; None: all have the same owner.
    """

    operation: str
    alone: Callable[[Connection, Q], Coroutine[Any, Any, Outcome[A, E]]]
    in_group: InGroup | None = None


@final
class OwnerQueues:
    """The queues of one event loop, one for each owner, so that each owner uses one connection at a time.

    A turn goes to a write that waits for it, or to the next group of writes.
    """

    def __init__(self) -> None:
        self._behind: dict[str, deque[Turn]] = {}  # by owner; the writer whose turn it is has left the queue

    def enter(self, owner: str, turn: Turn) -> None:
        """Join the queue of *owner*: call *turn* when its turn comes, at once if the queue is empty."""
        behind = self._behind.get(owner)
        if behind is not None:
            behind.append(turn)
        elif turn():
            self._behind[owner] = deque()

    def leave(self, owner: str) -> None:
        """End a turn, and offer it to the next in the queue until one takes it."""
        behind = self._behind[owner]
        while behind:
            if behind.popleft()():
                return
        del self._behind[owner]

    async def wait(self, owner: str) -> None:
        """Wait for the caller's turn with *owner*; a caller that is cancelled before leaves the queue."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def take() -> bool:
            if turn.done():
                return False
            turn.set_result(None)
            return True

        self.enter(owner, take)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # cancelled in the moment in which the turn was given
                self.leave(owner)
            raise


@final
class Groups:
    """The writes of one kind, for one event loop.

    A group is one statement, which is its own transaction, and one statement before it if facts have to be read.  It never
    waits for a lock.  Three kinds of writes leave their group: a write that is refused, one that repeats stored data, and
    one whose row another writer has locked.  Such a write is written alone, in a transaction under the lock of its owner.

    What one owner writes alone shares one transaction under the lock of that owner; if one of these writes is refused, each
    gets a separate transaction.  Where the tables are spread over servers every write is written alone, because no statement
    has several owners.
    """

    def __init__(
        self,
        work: GroupedWork[Any, Any, Any],
        *,
        kept: OwnerFacts,
        queues: OwnerQueues,
        together: Together | None,
        alone: Alone,
        seconds: float,
        metrics: PoolMetrics | None = None,
    ) -> None:
        """Create the queue for the running event loop; *kept* and *queues* are shared with other kinds of writes.

        *together* runs a group; None: only writes of one owner are written together.  A write waits for its turn for at most
        *seconds*.
        """
        self._work = work
        self._kept = kept
        self._queues = queues
        self._group = None if together is None or work.in_group is None else (together, work.in_group)
        self._alone = alone
        self._seconds = seconds
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Owner, list[Job]] = {}
        self._turns: list[Owner] = []  # owners in _waiting whose turn it is
        self._committing = 0
        self._in_flight = 0  # groups that are written
        self._timer: asyncio.TimerHandle | None = None  # for the oldest of those that wait
        self._is_closed = False
        self.tasks: set[asyncio.Task[None]] = set()

    def submit(self, owner: Owner, asked: object) -> "asyncio.Future[Any]":
        """Queue a write of *owner* and return the future of its outcome.

        Cancelling the future before a committer takes the write withdraws it; a write that was taken happens completely.
        """
        answer: asyncio.Future[Any] = self._loop.create_future()
        job = Job(asked, answer, self._loop.time())
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._expire_late)
        if (waiting := self._waiting.get(owner)) is not None:
            waiting.append(job)
        else:
            self._waiting[owner] = [job]
            self._queues.enter(owner, lambda: self._take_turn(owner))
        return answer

    def close(self) -> None:
        """Fail the writes that no committer has taken, with the problem ``closed``."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for jobs in self._waiting.values():
            for job in jobs:
                _settle(job, Failure(RepositoryError(self._work.operation, "closed")))

    def _expire_late(self) -> None:
        """End the wait of the writes that no committer has taken in time."""
        self._timer = None
        now = self._loop.time()
        waiting = [job for jobs in self._waiting.values() for job in jobs if not job.answer.done()]
        for job in waiting:
            if job.since + self._seconds <= now:
                self._expire(job)
        if (since := min((job.since for job in waiting if not job.answer.done()), default=None)) is not None:
            self._timer = self._loop.call_at(since + self._seconds, self._expire_late)

    def _expire(self, job: Job) -> None:
        _settle(job, Failure(RepositoryError(self._work.operation, "busy", "many write to the same place")))

    def _take_turn(self, owner: Owner) -> bool:
        self._turns.append(owner)
        if self._committing < GROUPS_AT_ONCE:
            self._committing += 1
            self._start(self._commit_all())
        return True

    def _start(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _commit_all(self) -> None:
        """Commit one group after the other until no owner has a turn."""
        try:
            while self._turns:
                if jobs := self._taken():
                    if self._metrics is not None:
                        now = self._loop.time()
                        waits = [now - job.since for each in jobs.values() for job in each]
                        self._metrics.waited_in_queue(self._work.operation, waits)
                    self._in_flight += 1
                    try:
                        await self._commit(jobs)
                    finally:
                        self._in_flight -= 1
        finally:
            self._committing -= 1

    def _taken(self) -> dict[Owner, list[Job]]:
        """Take the writes of the next group, without those whose callers were cancelled."""
        group: dict[Owner, list[Job]] = {}
        count, owners = 0, len(self._turns)
        left = owners // 2 if owners >= LEAST_TO_DIVIDE and not self._in_flight else 0
        while len(self._turns) > left and count < MOST_IN_A_GROUP:
            owner = self._turns.pop(0)
            jobs = [job for job in self._waiting.pop(owner) if not job.answer.done()]
            if jobs and not self._is_closed:
                group[owner] = jobs
                count += len(jobs)
            else:
                self._queues.leave(owner)
        return group

    async def _commit(self, jobs: dict[Owner, list[Job]]) -> None:
        """Write a group.  Owners whose facts were out of date are tried once more, and then written alone."""
        left = dict(jobs)  # owners whose writes are not settled
        try:
            for together, work in [] if self._group is None else [self._group] * _ATTEMPTS:
                for owner, answers in (await self._written(left, together, work)).items():
                    self._answer(owner, left.pop(owner), answers)
                if not left:
                    return
        except BaseException as error:
            for owner, lost in left.items():
                self._kept.drop(owner)
                for job in lost:
                    if not job.answer.done():
                        job.answer.set_exception(error)
                self._queues.leave(owner)
            if not isinstance(error, Exception):
                raise
            return
        for owner, again in left.items():
            self._answer(owner, again, [None] * len(again))

    async def _written(self, jobs: Jobs, together: Together, work: InGroup) -> Answers:
        is_writing = False

        async def write(connection: Connection) -> Answers:
            nonlocal is_writing
            await work.read(connection, self._kept, jobs)
            is_writing = True
            return await work.store(connection, self._kept, jobs)

        try:
            answers = await together(write)
            self._count(sum(isinstance(answer, Success) for each in answers.values() for answer in each))
        except DRIVER_ERRORS as error:
            for owner in jobs:
                self._kept.drop(owner)
            # What the server has refused is written alone, so that only the write at fault fails.
            failure = (
                None
                if is_refusal(error)
                else Failure(repository_error(self._work.operation, error, at_commit=is_writing))
            )
            return {owner: [failure] * len(each) for owner, each in jobs.items()}
        return answers

    def _answer(self, owner: Owner, jobs: Sequence[Job], answers: Sequence[Outcome[Any, Any] | None]) -> None:
        """Settle the writes of *owner*; the owner keeps the turn while some of them are written alone."""
        alone: list[Job] = []
        for job, answer in zip(jobs, answers, strict=True):
            if answer is None:
                alone.append(job)
            else:
                _settle(job, answer)
        if alone:
            self._kept.drop(owner)
            self._start(self._write_alone(owner, alone))
        else:
            self._queues.leave(owner)

    async def _write_alone(self, owner: Owner, jobs: Sequence[Job]) -> None:
        """Write *jobs* one transaction after the other, and begin none when the time that a write may wait is over.

        A lock that is not given, or a server that is slow, would otherwise cost the last of many writes as many timeouts.
        """
        until = self._loop.time() + self._seconds
        try:
            for first in range(0, len(jobs), MOST_IN_A_GROUP):
                some = jobs[first : first + MOST_IN_A_GROUP]
                if len(some) > 1 and self._loop.time() < until:
                    some = await self._write_as_one(owner, some)
                for job in some:
                    if len(jobs) > 1 and self._loop.time() >= until:
                        self._expire(job)
                    else:
                        await self._write_one(owner, job)
        finally:
            self._queues.leave(owner)

    async def _write_one(self, owner: Owner, job: Job) -> None:
        async def write(connection: Connection) -> Outcome[Any, Any]:
            return await self._work.alone(connection, job.asked)

        async def transaction() -> Outcome[Any, Any]:
            return await self._alone(self._work.operation, owner, write)

        try:
            outcome = await self._loop.create_task(transaction(), context=job.context)
        except Exception as error:  # noqa: BLE001  a defect goes to the caller of this write
            if not job.answer.done():
                job.answer.set_exception(error)
        else:
            self._count(isinstance(outcome, Success))
            _settle(job, outcome)

    async def _write_as_one(self, owner: Owner, jobs: Sequence[Job]) -> Sequence[Job]:
        """Write *jobs* in one transaction; return those that are still to be written, all of them when one is refused."""

        async def write(connection: Connection) -> Outcome[list[Outcome[Any, Any]], None]:
            answers: list[Outcome[Any, Any]] = []
            for job in jobs:
                work = self._work.alone(connection, job.asked)
                answers.append(await self._loop.create_task(work, context=job.context))
                if not isinstance(answers[-1], Success):
                    return Failure(None)
            return Success(answers)

        try:
            outcome = await self._alone(self._work.operation, owner, write)
        except Exception:  # noqa: BLE001  a defect: each write is tried alone, and its caller gets it
            return jobs
        if isinstance(outcome, Success):
            self._count(len(jobs))
            for job, answer in zip(jobs, outcome.unwrap(), strict=True):
                _settle(job, answer)
            return ()
        error = outcome.failure()
        cause = error.cause if isinstance(error, RepositoryError) else None
        if not isinstance(cause, Exception) or is_refusal(cause):
            return jobs
        for job in jobs:
            _settle(job, outcome)
        return ()

    def _count(self, writes: int) -> None:
        """Count a commit of so many writes, when there is anything in it."""
        if self._metrics is not None and writes:
            self._metrics.committed(self._work.operation, writes)


def _settle(job: Job, outcome: Outcome[Any, Any]) -> None:
    if not job.answer.done():
        job.answer.set_result(outcome)
