"""``InMemoryEventLog``: the log of a store in memory, gone with the process."""

from typing import final

from chatmemory.events.kept_log import KeptLog
from chatmemory_layers.in_memory.database import Database, lifted, lifted_outcome


@final
class InMemoryEventLog:
    """What its repositories have noted."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.log

    acted = lifted("read the log", KeptLog.acted)
    changes_page = lifted_outcome("read the log", KeptLog.changes_page)
    end = lifted("read the log", KeptLog.end)
    prune = lifted("prune the log", KeptLog.prune)
