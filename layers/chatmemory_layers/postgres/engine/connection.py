"""``Connection`` and ``Pool``: types for the parts of asyncpg that the backend uses; asyncpg itself is untyped."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""Values by column name."""


class Connection(Protocol):
    """Defines a session with the server.  One task uses it at a time."""

    async def execute(
        self,
        statement: str,
        /,
        *arguments: object,
        timeout: float | None = None,  # noqa: ASYNC109  asyncpg's own
    ) -> str:
        """Run one statement, or several if there are no *arguments*, and return the status of the last one.

        Args:
            statement: SQL with parameters ``$1``, ``$2``, ...
            arguments: the values of the parameters.
            timeout: seconds until the statement is cancelled; None: the default of the connection.
        """
        ...

    async def fetch(self, statement: str, /, *arguments: object) -> Sequence[Row]:
        """Run one statement and return its rows."""
        ...

    def terminate(self) -> None:
        """Close the socket without telling the server."""
        ...


class Pool(Protocol):
    """Defines a pool of connections, which many tasks share."""

    async def acquire(self, *, timeout: float) -> Connection:  # noqa: ASYNC109  asyncpg's own
        """Wait up to *timeout* seconds for a connection; its release later waits as long at most."""
        ...

    async def release(self, connection: Connection, /) -> None:
        """Return a connection to the pool, which drops it if it is unusable."""
        ...

    def get_size(self) -> int:
        """Return the number of open connections."""
        ...

    def get_idle_size(self) -> int:
        """Return the number of open connections that no task uses."""
        ...

    def get_max_size(self) -> int:
        """Return the largest number of connections that the pool opens."""
        ...

    async def close(self) -> None:
        """Wait until every connection is returned, and close them all."""
        ...

    def terminate(self) -> None:
        """Close every connection without telling the server."""
        ...
