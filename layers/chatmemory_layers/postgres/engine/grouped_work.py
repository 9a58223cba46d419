"""``GroupedWork``: how writes of one kind are written together, and what ``groups.py`` hands to it.

``Job`` is a write that waits, ``Kept`` are facts about owners that spare a read, ``OneOwner`` is the work whose writes all
have the same owner.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context, copy_context
from typing import Any, Final, Protocol, TypeAlias, TypeVar, final

from attrs import define, field

from chatmemory.effect import Outcome
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.row_locks import Place

Q_contra = TypeVar("Q_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

MOST_KEPT: Final = 4096
"""The number of owners whose facts are kept after their last write, about 4 MB."""


@final
@define(eq=False)
class Job:
    """A write that waits.

    Attributes:
        asked: the request that is written.
        context: the context of the caller, which holds the principal.
        answer: the future that the caller awaits; it is cancelled when the caller is.
        since: when the wait began, by the clock of the event loop.
    """

    asked: Any
    answer: "asyncio.Future[Any]"
    since: float
    context: Context = field(factory=copy_context)


Jobs: TypeAlias = Mapping[Place, Sequence[Job]]
"""The writes of a group by their owner, in order; each owner has one at least."""

Answers: TypeAlias = Mapping[Place, Sequence[Outcome[Any, Any] | None]]
"""The outcomes of the writes of each owner; None: this one has to be written alone.  For an owner that is missing nothing was
written, because the kept facts were out of date."""


@final
class Kept:
    """Facts about owners, as they were after the last write; each statement that uses them checks that they still hold."""

    def __init__(self) -> None:
        """Begin without facts."""
        self._facts: dict[str, Any] = {}

    def get(self, owner: str) -> Any:
        """Return the facts about *owner*; None when none are kept."""
        return self._facts.get(owner)

    def keep(self, owner: str, facts: object) -> None:
        """Keep *facts* about *owner*; when there are too many, drop the ones that were not used for longest."""
        self._facts.pop(owner, None)
        self._facts[owner] = facts
        if len(self._facts) > MOST_KEPT:
            del self._facts[next(iter(self._facts))]

    def drop(self, owner: str) -> None:
        """Forget the facts about *owner*, because another write may change them."""
        self._facts.pop(owner, None)


class GroupedWork(Protocol[Q_contra, A_co, E_co]):
    """Defines how writes of one kind are written together.

    Attributes:
        operation: the name of the operation in errors.
        is_of_one_owner: whether no statement may write for several owners; then ``read`` and ``store`` are not called.
    """

    operation: str
    is_of_one_owner: bool

    async def read(self, connection: Connection, kept: Kept, jobs: Jobs, /) -> None:
        """Read and keep the facts that are missing; at most one statement."""
        ...

    async def store(self, connection: Connection, kept: Kept, jobs: Jobs, /) -> Answers:
        """Write with one statement what can be written together, and return the outcomes."""
        ...

    async def alone(self, connection: Connection, asked: Q_contra, /) -> Outcome[A_co, E_co]:
        """Write one request, in a transaction that holds the lock of its owner."""
        ...


Owned: TypeAlias = Callable[[Connection], Awaitable[Outcome[Any, Any]]]
"""A write in a transaction that holds the lock of its owner; it may be called again after a failure."""


@final
@define(eq=False)
class OneOwner:
    """Writes of one kind that all have the same owner, see ``GroupedWork``.

    Attributes:
        operation: the name of the operation in errors.
        is_of_one_owner: always true.
    """

    operation: str
    is_of_one_owner: bool = True

    async def read(self, connection: Connection, kept: Kept, jobs: Jobs, /) -> None:
        """Read nothing."""

    async def store(self, _: Connection, _kept: Kept, jobs: Jobs, /) -> Answers:
        """Leave every write to ``alone``."""
        return {owner: [None] * len(waiting) for owner, waiting in jobs.items()}

    async def alone(self, connection: Connection, asked: Owned, /) -> Outcome[Any, Any]:
        """Call the function that was submitted."""
        return await asked(connection)
