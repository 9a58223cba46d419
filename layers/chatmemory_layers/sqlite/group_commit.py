"""Writes of many tasks share a transaction and its fsync, and still fail one by one.

How a group forms is said in ``job_groups.py``; what the writes do is none of its business.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast, final

from chatmemory.effect.outcome import Failure, Outcome
from chatmemory.errors import RepositoryError
from chatmemory_layers.sqlite.job_groups import Job
from chatmemory_layers.sqlite.sqlite_problem import repository_error

GONE: Final = "the file was moved, replaced or deleted while it was open: close the store and open it again"
"""What was committed then goes with the last who has the file open."""

Q = TypeVar("Q")
A = TypeVar("A")
E = TypeVar("E")


class Held(Protocol):
    """What a transaction reads once and writes back once, however many writes of the group touch it."""

    def save(self, transaction: "Transaction", /) -> None:
        """Write it back if it changed."""
        ...


H = TypeVar("H", bound=Held)


@final
class Transaction:
    """What a write works with; ``execute`` is that of one cursor, so fetch before executing again."""

    __slots__ = ("_held", "execute", "executemany")

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Expect that *connection* has begun a transaction."""
        cursor = connection.cursor()
        self.execute = cursor.execute
        self.executemany = cursor.executemany
        self._held: dict[tuple[object, str], Held] = {}

    def hold(self, load: "Callable[[Transaction, str], H]", key: str) -> H:
        """Return what *load* makes of *key*, the same object throughout the transaction, saved before the commit."""
        held = self._held.get((load, key))
        if held is None:
            held = self._held[load, key] = load(self, key)
        return cast("H", held)

    def save(self) -> None:
        """Write back everything that is held."""
        for held in self._held.values():
            held.save(self)


Work: TypeAlias = Callable[[Transaction, Q], Outcome[A, E]]
"""A write: it answers with an outcome, and has changed nothing when that is a failure."""


def commit_group_if(
    is_there: Callable[[], bool], connection: sqlite3.Connection, group: Sequence[Job]
) -> list[Any]:
    """Commit *group*, and call it failed when the file can no longer be found where it was opened."""
    answers = commit_group(connection, group)
    if is_there():
        return answers
    return [Failure(RepositoryError(operation, "unavailable", GONE)) for operation, *_ in group]


def commit_group(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    """Run the works of *group* in one transaction and return their outcomes; a defect is an exception in the list.

    When one raises, all are rolled back and each runs in a transaction of its own, so that it fails alone.
    """
    try:
        # A deferred one meets SQLITE_BUSY at its first write, without waiting.
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        return _all_failed(group, error)
    try:
        transaction = Transaction(connection)
        answers: list[Any] = [work(transaction, request) for _, work, request, _ in group]
        transaction.save()
    except BaseException as error:  # noqa: BLE001  a defect belongs to the one who caused it, not to the thread
        _roll_back(connection)
        if len(group) > 1:
            return [answer for job in group for answer in commit_group(connection, [job])]
        return _all_failed(group, error) if isinstance(error, sqlite3.Error) else [error]
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        _roll_back(connection)
        return _all_failed(group, error, at_commit=True)
    return answers


def _all_failed(
    group: Sequence[Job], error: sqlite3.Error, *, at_commit: bool = False
) -> list[Failure[RepositoryError]]:
    return [Failure(repository_error(operation, error, at_commit=at_commit)) for operation, *_ in group]


def _roll_back(connection: sqlite3.Connection) -> None:
    # A full disk and the like end the transaction by themselves.
    if connection.in_transaction:
        connection.execute("ROLLBACK")
