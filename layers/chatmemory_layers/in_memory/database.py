"""``Database``: the data of the repositories in memory, which all repositories of one runtime share.

``Conversations``, ``KeptMemories`` and ``KeptItems`` define what it holds and how that changes.  Like a file it is open
until its runtime ends, and like a file it belongs to one event loop: a test that passes here passes on SQLite.
``InMemoryEventLog`` and ``InMemoryFirstAnswers`` are its log and its answers, which end with the process.
"""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, TypeVar, final

from attrs import define, field

from chatmemory.conversation.conversations import Conversations
from chatmemory.effect import Effect, Failure, Layer, Outcome, Success, Tag
from chatmemory.effect.lazy import asyncio
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.errors import DataValidationError, RepositoryError
from chatmemory.events.event import Event
from chatmemory.events.event_log import AuditQuery, ChangesPage, EventLog
from chatmemory.events.kept_log import KeptLog
from chatmemory.input.first_answers import FirstAnswers, KeptAnswers, Recorded, RequestKey
from chatmemory.items.kept_items import KeptItems
from chatmemory.longterm.kept_memories import KeptMemories

A = TypeVar("A")
E = TypeVar("E")


def running_loop() -> object:
    """Return the event loop that runs this code, asyncio's or trio's; None without one."""
    # A loop runs only where its library was imported.
    if "asyncio" in sys.modules:
        try:
            return asyncio.get_running_loop()
        except RuntimeError:
            pass
    if "trio" in sys.modules:
        import trio.lowlevel

        try:
            return trio.lowlevel.current_trio_token()
        except RuntimeError:
            pass
    return None


@final
@define(eq=False)
class Database:
    """Conversations and memories that are lost when the process ends.

    No call waits for anything, so each is a transaction by itself.  The database belongs to the event loop that it is
    made in; one that is made without a loop serves any caller.
    """

    log: KeptLog = field(factory=KeptLog)
    conversations: Conversations = field(init=False)
    memories: KeptMemories = field(init=False)
    items: KeptItems = field(init=False)
    answers: KeptAnswers = field(init=False, factory=KeptAnswers)
    _loop: Final = field(factory=running_loop, init=False)
    _is_closed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.conversations = Conversations(log=self.log)
        self.memories = KeptMemories(log=self.log)
        self.items = KeptItems(log=self.log)

    def run(self, operation: str, work: Callable[[], A]) -> Effect[A, RepositoryError]:
        """Return the result of *work*; fail when the store is closed or belongs to another event loop."""
        return self.run_outcome(operation, lambda: Success(work()))

    def run_outcome(
        self, operation: str, work: Callable[[], Outcome[A, E]]
    ) -> Effect[A, E | RepositoryError]:
        """Return the outcome of *work*; fail as ``run`` does."""

        async def run() -> Outcome[A, E | RepositoryError]:
            if self._is_closed:
                return Failure(RepositoryError(operation, "closed"))
            if self._loop is not None and running_loop() is not self._loop:
                return Failure(RepositoryError(operation, "wrong_loop"))
            return work()

        return Effect.from_outcome(run)

    def write(self, operation: str, work: Callable[[], Outcome[A, E]]) -> Effect[A, E | RepositoryError]:
        """Return the outcome of *work*, or its first outcome if it is a write of a repeated request."""
        return self.run_outcome(operation, lambda: self.answers.once(operation, work))

    def close(self) -> None:
        """Refuse further calls."""
        self._is_closed = True


class DatabaseTag(Tag[Database]):
    """The tag under which layers provide ``Database``."""


@asynccontextmanager
async def _open(clock: Clock) -> AsyncGenerator[Database]:
    opened = Database(KeptLog(clock=clock))
    try:
        yield opened
    finally:
        opened.close()


database: Layer[DatabaseTag] = Layer.scoped(DatabaseTag, _open, ClockTag)


@final
class InMemoryEventLog(EventLog):
    """The events that the repositories of a database have noted."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.log

    def acted(self, query: AuditQuery, /) -> Effect[tuple[Event, ...], RepositoryError]:
        return self.database.run("read the log", lambda: self.kept.acted(query))

    def changes_page(
        self, since: str | None = None, *, limit: int
    ) -> Effect[ChangesPage, DataValidationError | RepositoryError]:
        return self.database.run_outcome("read the log", lambda: self.kept.changes_page(since, limit=limit))

    def end(self) -> Effect[str, RepositoryError]:
        return self.database.run("read the log", self.kept.end)

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:

        def prune() -> int:
            self.database.items.prune(before)
            return self.kept.prune(before)

        return self.database.run("prune the log", prune)


@final
class InMemoryFirstAnswers(FirstAnswers):
    """The answers that were given from a database.

    A process that is killed between a write and its answer loses the whole store, so a repeated write starts afresh.
    Therefore only the outcomes of stored memories are kept: for a caller that gives a ``write_id`` they are the only answer.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.answers

    def read(self, key: RequestKey, /) -> Effect[Recorded | None, RepositoryError]:
        return self.database.run("read the first answer", lambda: self.kept.read(key))

    def keep(self, key: RequestKey, answer: str, /) -> Effect[Recorded, RepositoryError]:
        return self.database.run("store the first answer", lambda: self.kept.keep(key, answer))
