"""Values survive their columns exactly, and SQL leaves out what cannot fulfil a condition: that it leaves out nothing else, a law says."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, strategies as st

from chatmemory.input.json_value import from_json, same_json, to_json
from chatmemory.items.item_repository import Condition
from chatmemory_layers.postgres.items import item_repository as postgres
from chatmemory_layers.postgres.throwaway_server import fresh_database
from chatmemory_layers.sql.columns import from_us, to_us
from chatmemory_layers.sqlite.items import item_repository as sqlite
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
                f"SELECT count(*) FROM value_of WHERE {sql} AND $2::text IS NOT NULL", *asked
            )
            assert least <= left <= least + MORE, condition


@example(datetime(1, 1, 1, tzinfo=UTC))
@example(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_come_back_exactly(instant: datetime) -> None:
    assert from_us(to_us(instant)) == instant


def test_metadata_stays_readable_and_is_one_value() -> None:
    assert to_json({"名": "小明"}) == '{"名": "小明"}'
    assert from_json(to_json({"名": [1, None, 2.5]})) == {"名": [1, None, 2.5]}
    assert to_json(None) is from_json(None) is None
    assert from_json('{"a": 1} \n') == {"a": 1}
    with pytest.raises(ValueError, match="Extra data"):
        from_json('{"a": 1} {"b": 2}')


def test_metadata_is_compared_as_json() -> None:
    compared = {
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'): True,
        ('{"a": 1}', '{"a": 1.0}'): False,
        ('{"a": 1}', '{"a": true}'): False,
        (None, "{}"): False,
        (None, None): True,
    }
    assert {pair: same_json(*pair) for pair in compared} == compared
