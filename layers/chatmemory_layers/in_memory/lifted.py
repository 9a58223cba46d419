"""``lifted``: what plain values in memory answer, as effects of the repository that keeps them."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from chatmemory.effect import Effect, Outcome
from chatmemory.errors import RepositoryError
from chatmemory_layers.in_memory.database import Database

A = TypeVar("A")
E = TypeVar("E")
K = TypeVar("K")
P = ParamSpec("P")


class Keeper(Protocol[K]):
    """A repository that keeps its data in *kept*, a part of *database*."""

    database: Database
    kept: K


def lifted(
    operation: str, method: Callable[Concatenate[K, P], A]
) -> Callable[Concatenate[Keeper[K], P], Effect[A, RepositoryError]]:
    """Make an effect that succeeds with what *method* of the data returns, while the store is open."""

    @wraps(method)
    def make(self: Keeper[K], /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, RepositoryError]:
        return self.database.run(operation, lambda: method(self.kept, *args, **kwargs))

    return make


def lifted_outcome(
    operation: str, method: Callable[Concatenate[K, P], Outcome[A, E]]
) -> Callable[Concatenate[Keeper[K], P], Effect[A, E | RepositoryError]]:
    """Make an effect that ends with the outcome that *method* of the data returns, while the store is open."""

    @wraps(method)
    def make(self: Keeper[K], /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, E | RepositoryError]:
        def answer(_: None) -> Effect[A, E]:
            return Effect.from_result(method(self.kept, *args, **kwargs))

        return self.database.admit(operation).bind(answer)

    return make
