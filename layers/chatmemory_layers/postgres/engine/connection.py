"""``Connection`` and ``Pool``: the little of asyncpg that is used here, typed; asyncpg itself brings no types."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""Values by column name."""


class Connection(Protocol):
    """A session, which belongs to one task at a time."""

    async def execute(
        self,
        statement: str,
        /,
        *arguments: object,
        timeout: float | None = None,  # noqa: ASYNC109  asyncpg's own
    ) -> str:
        """Run one statement, or several when there are no *arguments*; return the last command's status."""
        ...

    async def fetch(self, statement: str, /, *arguments: object) -> Sequence[Row]:
        """Run one statement and return its rows."""
        ...

    def terminate(self) -> None:
        """Drop the connection without a word to the server."""
        ...


class Pool(Protocol):
    """Connections for many tasks."""

    async def acquire(self, *, timeout: float) -> Connection:  # noqa: ASYNC109  asyncpg's own
        """Wait for a connection, at most *timeout* seconds; releasing it may take as long."""
        ...

    async def release(self, connection: Connection, /) -> None:
        """Give a connection back; an unusable one is dropped."""
        ...

    def get_size(self) -> int:
        """Return how many connections there are."""
        ...

    def get_max_size(self) -> int:
        """Return how many there may be."""
        ...

    async def close(self) -> None:
        """Wait until every connection is back, and close it."""
        ...

    def terminate(self) -> None:
        """Drop every connection."""
        ...
