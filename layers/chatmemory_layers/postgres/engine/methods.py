"""``reads``, ``writes`` and ``writes_together``: make methods of a repository from the functions that do the work.

``database.py`` describes how each of them runs.  A call returns an effect: nothing runs before it is awaited.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from chatmemory.effect import Effect, Outcome
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.database import Database, Read, Work
from chatmemory_layers.postgres.engine.grouped_work import GroupedWork
from chatmemory_layers.postgres.engine.row_locks import Place

A = TypeVar("A")
Q = TypeVar("Q")
E = TypeVar("E")
P = ParamSpec("P")


class Repository(Protocol):
    """Defines what a repository needs, so that its methods can be made here."""

    @property
    def database(self) -> Database:
        """The database that has its rows."""
        ...


def reads(
    operation: str, work: Read[P, A], *, on_snapshot: bool = False
) -> Callable[Concatenate[Repository, P], Effect[A, RepositoryError]]:
    """Return a method that runs *work* by ``Database.read``.

    Args:
        operation: the name of the operation in errors.
        work: the read.
        on_snapshot: run it by ``Database.read_snapshot``, for a read of several statements.
    """

    @wraps(work)
    def make(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, RepositoryError]:
        read = self.database.read_snapshot if on_snapshot else self.database.read
        return Effect.from_outcome(lambda: read(operation, work, *args, **kwargs))

    return make


def writes(
    operation: str,
    work: Work[P, A, E],
    *,
    owner: Callable[..., str],
    row: Callable[[str], str],
    first: Callable[..., str] | None = None,
) -> Callable[Concatenate[Repository, P], Effect[A, E | RepositoryError]]:
    """Return a method that runs *work* by ``Database.write``.

    Args:
        operation: the name of the operation in errors.
        work: the write.
        owner: returns the name of the owner; it is called with the arguments of the method.
        row: returns the statement that locks a row of the owner, see ``Place``.
        first: returns the statement that is executed before, in the round trip that begins the transaction; it is called like
            *owner*.  None: there is none.
    """

    @wraps(work)
    def make(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, E | RepositoryError]:
        async def write() -> Outcome[A, E | RepositoryError]:
            beginning = "" if first is None else first(*args, **kwargs)
            at = Place(owner(*args, **kwargs), row=row, first=beginning)
            return await self.database.write(operation, at, work, *args, **kwargs)

        return Effect.from_outcome(write)

    return make


def writes_together(
    work: GroupedWork[Q, A, E], *, owner: Callable[[Q], Place]
) -> Callable[[Repository, Q], Effect[A, E | RepositoryError]]:
    """Return a method that writes by ``Database.write_together``.

    Args:
        work: how writes of this kind are written together, and alone.
        owner: returns the owner of a request.
    """

    def make(self: Repository, asked: Q, /) -> Effect[A, E | RepositoryError]:
        return Effect.from_outcome(lambda: self.database.write_together(owner(asked), work, asked))

    return make
