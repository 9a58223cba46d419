"""``InMemoryAuditTrail``: the trail of a store in memory, gone with the process."""

from typing import final

from chatmemory.access.kept_trail import KeptTrail
from chatmemory_layers.in_memory.database import Database, lifted


@final
class InMemoryAuditTrail:
    """What its repositories have noted."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.trail

    entries = lifted("read the audit trail", KeptTrail.entries)
    prune = lifted("prune the audit trail", KeptTrail.prune)
