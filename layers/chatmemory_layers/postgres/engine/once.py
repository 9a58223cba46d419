"""``once``: does a write of a request only once, however often the request is sent; see ``FirstAnswers``.

A request has one row for its answer, with the number 0, and one for the outcome of each write.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import LIFETIME, RequestKey, memories_in, outcome_kind
from chatmemory.input.structure import read_json, write_json
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.spread_keys import user_key
from chatmemory_layers.sql.columns import to_us

A = TypeVar("A")
E = TypeVar("E")

FIRST_ANSWER: Final = """\
CREATE TABLE first_answer (
    user_key      UUID NOT NULL,
    name          UUID NOT NULL,
    number        SMALLINT NOT NULL,
    request       TEXT NOT NULL,
    value         TEXT NOT NULL,
    memory_ids    TEXT[],
    expires_at_us BIGINT NOT NULL,
    PRIMARY KEY (user_key, name, number)
);
CREATE INDEX first_answer_expiry ON first_answer (user_key, expires_at_us);
CREATE INDEX first_answer_words ON first_answer (user_key) WHERE memory_ids IS NOT NULL;
"""

SELECT_OUTCOME: Final = """
SELECT request, value FROM first_answer WHERE user_key = $1 AND name = $2 AND number = $3 AND expires_at_us > $4
"""
INSERT_ANSWER: Final = """
INSERT INTO first_answer AS old (user_key, name, number, request, value, memory_ids, expires_at_us)
VALUES ($1, $2, $3, $5, $6, $7, $8)
ON CONFLICT (user_key, name, number) DO UPDATE SET
    request = excluded.request, value = excluded.value, memory_ids = excluded.memory_ids, expires_at_us = excluded.expires_at_us
WHERE old.expires_at_us <= $4
"""


def place(key: RequestKey, number: int) -> tuple[Any, ...]:
    """Return the columns that name a row of *key*, and the present time."""
    return user_key(key.user), key.name, number, to_us(key.now)


def contents(key: RequestKey, value: str) -> tuple[Any, ...]:
    """Return the other columns of a row of *key*."""
    return key.request, value, memories_in(key, value) or None, to_us(key.now + LIFETIME)


def once(
    key: RequestKey,
    operation: str,
    work: Callable[..., Awaitable[Outcome[A, E]]],
) -> Callable[..., Awaitable[Outcome[A, E | RepositoryError]]]:
    """Return *work* as the next write of *key*: if it was committed before, it returns the outcome of that time.

    The annotations of *work* give the type of its outcome.
    """
    row = place(key, key.writes + 1)

    async def run(connection: Connection, /, *args: Any, **kwargs: Any) -> Outcome[A, E | RepositoryError]:
        for found in await connection.fetch(SELECT_OUTCOME, *row):
            if found["request"] != key.request:
                return Failure(RepositoryError(operation, "key_reused"))
            return Success(read_json(found["value"], outcome_kind(work)).unwrap())
        outcome = await work(connection, *args, **kwargs)
        if isinstance(outcome, Success) and outcome.unwrap() is not None:
            await connection.execute(INSERT_ANSWER, *row, *contents(key, write_json(outcome.unwrap())))
        return outcome

    return run
