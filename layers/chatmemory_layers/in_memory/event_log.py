"""``InMemoryEventLog``: the log of a store in memory, which ends with the process."""

from datetime import datetime
from typing import final

from chatmemory.effect import Effect
from chatmemory.errors import RepositoryError
from chatmemory.events.kept_log import KeptLog
from chatmemory_layers.in_memory.database import Database, lifted, lifted_outcome


@final
class InMemoryEventLog:
    """The events that the repositories of a database have noted."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.log

    acted = lifted("read the log", KeptLog.acted)
    changes_page = lifted_outcome("read the log", KeptLog.changes_page)
    end = lifted("read the log", KeptLog.end)

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:
        """See ``EventLog.prune``."""

        def prune() -> int:
            self.database.items.prune(before)
            return self.kept.prune(before)

        return self.database.run("prune the log", prune)
