"""The command that spreads a store over the servers of a distributed PostgreSQL.

    python -m chatmemory_layers.postgres.distribute DSN [--check]

With ``--check`` it writes nothing, and prints for each table what is or would be spread, and what would be refused; for that,
a PostgreSQL without Citus is enough.  Stop the programs that write to the store before you spread it, because they use other
locks until they open the store again.  Its exit code is 0 when it is done, 1 when something is or would be refused, 2 for
wrong arguments, and 3 when the server cannot be reached or refuses.
"""

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.connection import connect
from chatmemory_layers.postgres.engine.distribution import (
    Distribution,
    DistributionRefusedError,
    distribute,
    distribution_of,
)
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS, repository_error

EXIT_REFUSED: Final = 1
EXIT_UNREACHABLE: Final = 3

_OPERATION: Final = "distribute the store"
_CONNECT_SECONDS: Final = 30.0


async def asked(
    dsn: str, *, is_check: bool
) -> Outcome[Distribution, DistributionRefusedError | RepositoryError]:
    """Connect to the coordinator at *dsn*, spread its store unless *is_check*, and return the plan for each table."""
    try:
        connection = await connect(dsn, seconds=_CONNECT_SECONDS)
        try:
            return Success(await distribution_of(connection)) if is_check else await distribute(connection)
        finally:
            connection.terminate()
    except DRIVER_ERRORS as error:
        return Failure(repository_error(_OPERATION, error))
    except ValueError as error:  # asyncpg does not understand the address
        return Failure(RepositoryError(_OPERATION, "unavailable", str(error), cause=error))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = ArgumentParser(prog="python -m chatmemory_layers.postgres.distribute", description=__doc__)
    parser.add_argument("dsn", help="the address of the coordinator, postgresql://user@host/database")
    parser.add_argument("--check", action="store_true", help="write nothing, say what would happen")
    given = parser.parse_args(arguments)
    outcome = asyncio.run(asked(given.dsn, is_check=given.check))
    if not isinstance(outcome, Success):
        error = outcome.failure()
        print(error, file=sys.stderr)  # noqa: T201  a command
        return EXIT_REFUSED if isinstance(error, DistributionRefusedError) else EXIT_UNREACHABLE
    told = outcome.unwrap()
    for table in told.tables:
        print(table)  # noqa: T201  a command
    if told.refusals:
        print(f"{len(told.refusals)} refused", file=sys.stderr)  # noqa: T201  a command
        return EXIT_REFUSED
    if given.check and not told.is_possible:
        print("nothing would be refused; this server has no Citus", file=sys.stderr)  # noqa: T201  a command
    return 0


if __name__ == "__main__":
    sys.exit(main())
