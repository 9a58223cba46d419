"""Reads of many tasks share a snapshot, and still fail one by one.

How a group forms is said in ``job_groups.py``.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from chatmemory.effect.outcome import Failure, Success
from chatmemory_layers.sqlite.job_groups import Job
from chatmemory_layers.sqlite.sqlite_problem import repository_error

Q = TypeVar("Q")
A = TypeVar("A")

Read: TypeAlias = Callable[[sqlite3.Connection, Q], A]
"""A read: it fetches all that it needs, for a cursor that stays open keeps the log from being emptied."""


def read_group(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    """Run the works of *group* on one snapshot and return their outcomes; a defect is an exception in the list.

    When one raises, each runs on a snapshot of its own, so that it fails alone.
    """
    try:
        connection.execute("BEGIN")
        try:
            return [Success(work(connection, request)) for _, work, request, _ in group]
        finally:
            connection.execute("COMMIT")
    except BaseException as error:  # noqa: BLE001  a defect belongs to the one who caused it, not to the thread
        if len(group) > 1:
            return [answer for job in group for answer in read_group(connection, [job])]
        ((operation, *_),) = group
        return [Failure(repository_error(operation, error)) if isinstance(error, sqlite3.Error) else error]
