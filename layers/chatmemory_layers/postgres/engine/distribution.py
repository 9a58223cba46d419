"""``distribution_of`` and ``distribute``: plan how Citus spreads the tables of a store over servers, and do so.

Rows of one key lie on one server: the messages of a conversation with its row, the memories of a user with their vectors.
``distribute`` may be interrupted and run again: it skips the tables that are spread already.
"""

from typing import Final, Literal, final

from attrs import frozen

from chatmemory.effect import Failure, Outcome, Success
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.row_locks import has_catalog
from chatmemory_layers.postgres.engine.spread_keys import EVERYWHERE, SPREAD_BY

SELECT_TABLES: Final = """
SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL
"""
SELECT_IS_OFFERED: Final = (
    "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus') AS is_offered"
)
CREATE_EXTENSION: Final = "CREATE EXTENSION IF NOT EXISTS citus"
SELECT_SPREAD: Final = """
SELECT wanted.name, partmethod::text AS method,
    CASE WHEN partmethod = 'h' THEN column_to_column_name(logicalrelid, partkey) END AS key
FROM unnest($1::text[]) AS wanted (name) JOIN pg_dist_partition ON logicalrelid = to_regclass(wanted.name)
"""
DISTRIBUTE: Final = (
    "SELECT create_distributed_table(to_regclass($1::text), $2::text, colocate_with => $3::text)"
)
MAKE_REFERENCE: Final = "SELECT create_reference_table(to_regclass($1::text))"
# The rows that the coordinator had before: they are not read any more, and take up space on its disk.
TRUNCATE_LOCAL: Final = "SELECT truncate_local_data_after_distributing_table(to_regclass($1::text))"

_UNDO: Final = "SELECT undistribute_table('{}'), then run this again"


@final
@frozen
class TablePlan:
    """The plan for one table.

    Attributes:
        name: the name of the table.
        key: the column by which its rows are spread; "" for a reference table, of which each server has all rows.
        refusals: why it cannot be spread like this, each with its cure; empty: it can.
        is_done: whether it is spread like this already.
    """

    name: str
    key: str
    refusals: tuple[str, ...]
    is_done: bool

    @property
    def group(self) -> str:
        """The table whose rows of one key lie on the same server; "" for a reference table."""
        return next((name for name, key in SPREAD_BY.items() if key == self.key), "")

    def __str__(self) -> str:
        how = (
            f"distributed by {self.key}, with {self.group}"
            if self.key
            else "reference table, on every server"
        )
        state = "refused" if self.refusals else "is" if self.is_done else "would be"
        return "\n".join([f"{self.name}: {state} {how}", *(f"  {each}" for each in self.refusals)])


@final
@frozen
class Distribution:
    """The plan for a store.

    Attributes:
        tables: the plans of its tables, in the order in which they are spread.
        is_possible: whether the server has Citus.
    """

    tables: tuple[TablePlan, ...]
    is_possible: bool

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why tables cannot be spread as planned, each with the name of its table."""
        return tuple(f"{table.name}: {each}" for table in self.tables for each in table.refusals)


@final
@frozen
class DistributionRefusedError:
    """The store cannot be spread over servers.

    Attributes:
        reasons: the reasons, each with its cure.
    """

    reasons: tuple[str, ...]
    tag: Literal["DistributionRefusedError"] = "DistributionRefusedError"
    retry_is_safe: Literal[True] = True

    def __str__(self) -> str:
        return "\n".join(self.reasons)


NO_CITUS: Final = (
    "the server has no Citus: install it on each node, add citus to shared_preload_libraries, restart, "
    "and run CREATE EXTENSION citus in this database; --check says what would happen"
)


async def distribution_of(connection: Connection) -> Distribution:
    """Return the plan for each table, with what prevents it; nothing is written."""
    names = [*EVERYWHERE, *SPREAD_BY]
    refusals: dict[str, list[str]] = {name: [] for name in names}
    there = {row["name"] for row in await connection.fetch(SELECT_TABLES, names)}
    for name in names:
        if name not in there:
            refusals[name].append(
                "the table is missing: open the store once with this edition, which makes it"
            )
    is_possible = await has_catalog(connection)
    done: dict[str, tuple[str, str | None]] = {}
    if is_possible:
        done = {
            row["name"]: (row["method"], row["key"]) for row in await connection.fetch(SELECT_SPREAD, names)
        }
    for name, (method, key) in done.items():
        wanted = SPREAD_BY.get(name)
        if (method == "h") != (wanted is not None) or key != wanted:
            how = f"distributed by {key}" if method == "h" else "a table of another kind"
            refusals[name].append(f"it is {how} already: {_UNDO.format(name)}")
    tables = [
        TablePlan(name, SPREAD_BY.get(name, ""), tuple(refusals[name]), is_done=name in done)
        for name in names
    ]
    return Distribution(tuple(tables), is_possible)


async def distribute(connection: Connection) -> Outcome[Distribution, DistributionRefusedError]:
    """Spread the tables of a store over the servers, except tables that are spread already.

    The caller must stop all other writers meanwhile.  Fails with ``DistributionRefusedError`` when the server lacks Citus, or
    when a table is missing or spread otherwise.

    Raises:
        asyncpg.PostgresError: or another of ``DRIVER_ERRORS``; the server refuses something else, or does not answer.
    """
    if not await has_catalog(connection):
        (offer,) = await connection.fetch(SELECT_IS_OFFERED)
        if not offer["is_offered"]:
            return Failure(DistributionRefusedError((NO_CITUS,)))
        await connection.execute(CREATE_EXTENSION)
    planned = await distribution_of(connection)
    if planned.refusals:
        return Failure(DistributionRefusedError(planned.refusals))
    new = [table for table in planned.tables if not table.is_done]
    for table in new:
        if table.key:
            beside = "none" if table.name == table.group else table.group
            await connection.fetch(DISTRIBUTE, table.name, table.key, beside)
        else:
            await connection.fetch(MAKE_REFERENCE, table.name)
    for table in reversed(new):  # a table that refers to another one comes before it
        await connection.fetch(TRUNCATE_LOCAL, table.name)
    return Success(await distribution_of(connection))
