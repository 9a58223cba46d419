"""SQL leaves out what cannot fulfil a condition, on both databases: that it leaves out nothing else, a law says."""

import sqlite3
from contextlib import closing

from chatmemory.items.item_condition import Condition
from chatmemory_layers.postgres.items import item_filters as postgres
from chatmemory_layers.postgres.throwaway_server import fresh_database
from chatmemory_layers.sqlite.items import item_filters as sqlite
from tests.unit.postgres.beside import connected

VALUES = [
    *(f'{{"n": {number}, "城市": "城{number}", "deep": {{"er": {number}}}}}' for number in range(100)),
    *('{"n": "x"}', '{"n": true}', '{"n": null}', "{}"),
    *('{"n": NaN}', '{"m": "\\u0000"}'),  # no JSON to one of them: each is left for Python to compare
]

NARROWED = [
    (Condition("n", "is", 7), 1),
    (Condition("n", "is", 7.0), 1),
    (Condition("n", "is", "x"), 1),
    (Condition("n", "above", 94), 6),  # above or equal, for a digit may be read differently
    (Condition("n", "at most", 4), 5),
    (Condition("城市", "is", "城7"), 1),
    (Condition("deep.er", "is", 7), 1),
    (Condition("n", "is not", 7), len(VALUES)),
    (Condition('n"', "is", 7), len(VALUES)),
    (Condition("n", "is", [7]), len(VALUES)),
]
"""A condition, and how many values it leaves at least; a few more are not worth a harder question."""

MORE = 6


def test_sqlite_leaves_what_may_fulfil_a_condition() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE stored_item (value TEXT)")
        connection.executemany("INSERT INTO stored_item VALUES (?)", [(value,) for value in VALUES])
        for condition, least in NARROWED:
            sql, parameters = sqlite.narrowed((condition,))
            statement = f"SELECT count(*) FROM stored_item WHERE {sql}"
            (left,) = connection.execute(statement, parameters).fetchone()
            assert least <= left <= least + MORE, condition


async def test_postgres_leaves_what_may_fulfil_a_condition() -> None:
    async with fresh_database() as dsn, connected(dsn) as connection:
        await connection.execute("CREATE TABLE value_of (value TEXT)")
        await connection.executemany("INSERT INTO value_of VALUES ($1)", [(value,) for value in VALUES])
        sql = postgres.NARROWED.replace("$5", "$1").replace("$6", "$2")
        for condition, least in NARROWED:
            asked = postgres.narrowed((condition,))
            left = await connection.fetchval(
                f"SELECT count(*) FROM value_of WHERE {sql} AND $2::text IS NOT NULL",
                *asked,
            )
            assert least <= left <= least + MORE, condition
