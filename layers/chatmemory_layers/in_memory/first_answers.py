"""``InMemoryFirstAnswers``: the first answers of a store in memory, which end with the process.

No process continues after it was killed between a write and its answer, so of the outcomes of writes only those of stored
memories are kept: a caller that gives a ``write_id`` has no other answer.
"""

from typing import final

from chatmemory.input.kept_answers import KeptAnswers
from chatmemory_layers.in_memory.database import Database, lifted


@final
class InMemoryFirstAnswers:
    """The answers that were given from a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.answers

    read = lifted("read the first answer", KeptAnswers.read)
    keep = lifted("store the first answer", KeptAnswers.keep)
