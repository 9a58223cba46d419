"""``once``: does a write of a request only once, however often the request is sent; see ``FirstAnswers``.

A request has one row for its answer, with the number 0, and one for the outcome of each write.
"""

import json
from collections.abc import Callable
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import LIFETIME, RequestKey, memories_in, outcome_kind
from chatmemory.input.structure import read_json, write_json
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sqlite.engine.transaction import Transaction

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")

CREATE_FIRST_ANSWER: Final = """
CREATE TABLE first_answer (
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    request TEXT NOT NULL,
    value TEXT NOT NULL,
    memory_ids TEXT,
    expires_at_us INTEGER NOT NULL,
    PRIMARY KEY (user, name, number)
)
"""
FIRST_ANSWERS: Final = (
    CREATE_FIRST_ANSWER,
    "CREATE INDEX first_answer_expiry ON first_answer (expires_at_us)",
    "CREATE INDEX first_answer_words ON first_answer (user) WHERE memory_ids IS NOT NULL",
)

SELECT_OUTCOME: Final = """
SELECT request, value FROM first_answer
WHERE user = :user AND name = :name AND number = :number AND expires_at_us > :now_us
"""
INSERT_ANSWER: Final = """
INSERT OR REPLACE INTO first_answer (user, name, number, request, value, memory_ids, expires_at_us)
VALUES (:user, :name, :number, :request, :value, :memory_ids, :expires_at_us)
"""


def columns(key: RequestKey, number: int) -> dict[str, Any]:
    """Return the columns of a row of *key*, without its contents, and the present time as ``now_us``."""
    return {
        "user": key.user,
        "name": key.name,
        "number": number,
        "request": key.request,
        "expires_at_us": to_us(key.now + LIFETIME),
        "now_us": to_us(key.now),
    }


def contents(key: RequestKey, value: str) -> dict[str, str | None]:
    """Return the other columns: *value*, and the memories whose words it may have."""
    memory_ids = memories_in(key, value)
    return {"value": value, "memory_ids": json.dumps(memory_ids) if memory_ids else None}


def once(
    key: RequestKey, operation: str, work: Callable[Concatenate[Transaction, P], Outcome[A, E]]
) -> Callable[Concatenate[Transaction, P], Outcome[A, E | RepositoryError]]:
    """Return *work* as the next write of *key*: if it was committed before, it returns the outcome of that time.

    The annotations of *work* give the type of its outcome.
    """
    row = columns(key, key.writes + 1)

    def run(
        transaction: Transaction, /, *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, E | RepositoryError]:
        found = transaction.cursor.execute(SELECT_OUTCOME, row).fetchone()
        if found is not None:
            request, value = found
            if request != key.request:
                return Failure(RepositoryError(operation, "key_reused"))
            return Success(read_json(value, outcome_kind(work)).unwrap())
        outcome = work(transaction, *args, **kwargs)
        if isinstance(outcome, Success) and outcome.unwrap() is not None:
            transaction.cursor.execute(INSERT_ANSWER, {**row, **contents(key, write_json(outcome.unwrap()))})
        return outcome

    return run
