"""``SqliteFirstAnswers``: ``FirstAnswers`` in the file of the store."""

import sqlite3
from typing import Final, Never, final

from attrs import frozen

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import FirstAnswers, Recorded, RequestKey
from chatmemory_layers.sqlite.engine.jobs import Database
from chatmemory_layers.sqlite.engine.once import INSERT_ANSWER, columns, contents
from chatmemory_layers.sqlite.engine.transaction import Transaction

SELECT_FIRST: Final = """
SELECT request, value, number = 0 FROM first_answer WHERE user = :user AND name = :name AND expires_at_us > :now_us
ORDER BY number LIMIT 1
"""
DELETE_EXPIRED: Final = "DELETE FROM first_answer WHERE expires_at_us <= :now_us"


def _read(connection: sqlite3.Connection, key: RequestKey, /) -> Recorded | None:
    row = connection.execute(SELECT_FIRST, columns(key, 0)).fetchone()
    return None if row is None else Recorded(row[0], row[1], is_answer=bool(row[2]))


def _keep(transaction: Transaction, key: RequestKey, answer: str, /) -> Outcome[Recorded, Never]:
    row = columns(key, 0)
    request, value, is_answer = transaction.cursor.execute(SELECT_FIRST, row).fetchone() or ("", "", False)
    if is_answer:
        return Success(Recorded(request, value))
    transaction.cursor.execute(DELETE_EXPIRED, row)
    transaction.cursor.execute(INSERT_ANSWER, {**row, **contents(key, answer)})
    return Success(Recorded(key.request, answer))


@final
@frozen
class SqliteFirstAnswers(FirstAnswers):
    """Stores answers in the file of *database*."""

    database: Database

    def read(self, key: RequestKey, /) -> Effect[Recorded | None, RepositoryError]:
        return self.database.read("read the first answer", _read, key)

    def keep(self, key: RequestKey, answer: str, /) -> Effect[Recorded, RepositoryError]:
        return self.database.write("store the first answer", _keep, key, answer)
