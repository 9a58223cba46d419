"""``InMemoryEventLog``: the log of a store in memory, which ends with the process."""

from datetime import datetime
from typing import final

from chatmemory.effect import Effect
from chatmemory.errors import DataValidationError, RepositoryError
from chatmemory.events.event import Event
from chatmemory.events.event_log import AuditQuery, ChangesPage, EventLog
from chatmemory_layers.in_memory.database import Database


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
