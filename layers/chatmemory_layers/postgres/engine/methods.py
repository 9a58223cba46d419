"""``reads`` and ``writes``: methods of a repository, made of the functions that do the work.

Each way of running is said in ``database.py``.  A call is an effect: nothing runs before it is awaited.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from chatmemory.effect import Effect
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.database import Database, Read, Work

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")


class Repository(Protocol):
    """What keeps its rows in a database."""

    @property
    def database(self) -> Database:
        """Where they are."""
        ...


def reads(
    operation: str, work: Read[P, A], *, on_snapshot: bool = False
) -> Callable[Concatenate[Repository, P], Effect[A, RepositoryError]]:
    """Make a method of *work*, which runs as ``Database.read`` says, or *on_snapshot* as ``Database.read_snapshot`` says."""

    @wraps(work)
    def make(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, RepositoryError]:
        read = self.database.read_snapshot if on_snapshot else self.database.read
        return Effect.from_outcome(lambda: read(operation, work, *args, **kwargs))

    return make


def writes(
    operation: str, work: Work[P, A, E], *, owner: Callable[..., str]
) -> Callable[Concatenate[Repository, P], Effect[A, E | RepositoryError]]:
    """Make a method of *work*, which runs as ``Database.write`` says.

    Args:
        operation: the name of what is done, for errors.
        work: the transaction.
        owner: says who owns it, from the arguments of the method, which it takes by the same names.
    """

    @wraps(work)
    def make(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, E | RepositoryError]:
        return Effect.from_outcome(
            lambda: self.database.write(operation, owner(*args, **kwargs), work, *args, **kwargs)
        )

    return make
