"""``InMemoryFirstAnswers``: the first answers of a store in memory, which end with the process.

A process that is killed between a write and its answer loses the whole store, so a repeated write starts afresh.  Therefore
only the outcomes of stored memories are kept: for a caller that gives a ``write_id`` they are the only answer.
"""

from typing import final

from chatmemory.effect import Effect
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import FirstAnswers, Recorded, RequestKey
from chatmemory_layers.in_memory.database import Database


@final
class InMemoryFirstAnswers(FirstAnswers):
    """The answers that were given from a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.kept = database.answers

    def read(self, key: RequestKey, /) -> Effect[Recorded | None, RepositoryError]:
        return self.database.run("read the first answer", lambda: self.kept.read(key))

    def keep(self, key: RequestKey, answer: str, /) -> Effect[None, RepositoryError]:
        return self.database.run("store the first answer", lambda: self.kept.keep(key, answer))
