"""``PostgresFirstAnswers``: ``FirstAnswers`` in one PostgreSQL store."""

from typing import Final, Never, final

from attrs import frozen

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import FirstAnswers, Recorded, RequestKey
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.database import Database
from chatmemory_layers.postgres.engine.once import INSERT_ANSWER, contents, place
from chatmemory_layers.postgres.engine.row_locks import Owner

SELECT_FIRST: Final = """
SELECT request, value, number = 0 AS is_answer FROM first_answer WHERE user_key = $1 AND name = $2 AND expires_at_us > $3
ORDER BY number LIMIT 1
"""
KEEP_ANSWER: Final = f"{INSERT_ANSWER}RETURNING request, value"
DELETE_EXPIRED: Final = "DELETE FROM first_answer WHERE user_key = $1 AND expires_at_us <= $2"


async def _read(connection: Connection, key: RequestKey, /) -> Recorded | None:
    user, name, _, now_us = place(key, 0)
    rows = await connection.fetch(SELECT_FIRST, user, name, now_us)
    return Recorded(**rows[0]) if rows else None


async def _keep(connection: Connection, key: RequestKey, answer: str, /) -> Outcome[Recorded, Never]:
    user, name, number, now_us = place(key, 0)
    await connection.execute(DELETE_EXPIRED, user, now_us)
    rows = await connection.fetch(KEEP_ANSWER, user, name, number, now_us, *contents(key, answer))
    if not rows:  # the key has an answer
        rows = await connection.fetch(SELECT_FIRST, user, name, now_us)
    return Success(Recorded(rows[0]["request"], rows[0]["value"]))


@final
@frozen
class PostgresFirstAnswers(FirstAnswers):
    """Stores answers in *database*."""

    database: Database

    def keep(self, key: RequestKey, answer: str, /) -> Effect[Recorded, RepositoryError]:
        owner = Owner(f"answer {key.name}", row=lambda _: "")  # the primary key keeps the first answer
        return self.database.write("store the first answer", owner, _keep, key, answer)

    def read(self, key: RequestKey, /) -> Effect[Recorded | None, RepositoryError]:
        # The primary server, which has the answers of a moment ago.
        return self.database.read_primary("read the first answer", _read, key)
