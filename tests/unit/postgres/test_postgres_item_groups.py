"""Writes of items that wait together are committed together, and each fails alone."""

import asyncio
from functools import partial
from typing import Any

import pytest

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.items.item_repository import ItemChange, ItemName, ItemPut
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.groups import MOST_IN_A_GROUP
from chatmemory_layers.postgres.engine.row_locks import Place, items_row
from chatmemory_layers.postgres.items.item_repository import PostgresItemRepository
from tests.fake_citus import run_in
from tests.unit.postgres.beside import connected
from tests.unit.postgres.said import NOW

COUNT_COMMITS = "SELECT count(DISTINCT transaction_id) AS count FROM item_event"


def named(number: int) -> ItemName:
    return ItemName(("a", f"{number % 3}"), f"{number}")


async def test_puts_that_wait_share_a_transaction_and_keep_their_order(dsn: str, database: Database) -> None:
    items = PostgresItemRepository(database)
    puts = [ItemPut(named(number % 20), f"{number}", keeps_past=True) for number in range(60)]
    await asyncio.gather(*(items.write((put,), now=NOW).or_raise() for put in puts))
    found = await items.read(tuple(map(named, range(20))), now=NOW).or_raise()
    assert [item and item.value for item in found] == [f"{number}" for number in range(40, 60)]
    assert (await run_in(dsn, COUNT_COMMITS))[0]["count"] <= 4


async def test_changes_that_wait_see_each_other(dsn: str, database: Database) -> None:
    items, name = PostgresItemRepository(database), named(0)

    def count() -> ItemChange[int]:
        (item,) = yield (name,)
        value = 1 + int(item.value if item else "0")
        return (ItemPut(name, f"{value}"),), value

    counted = await asyncio.gather(*(items.change(count, now=NOW).or_raise() for _ in range(30)))
    assert counted == list(range(1, 31))
    assert (await run_in(dsn, COUNT_COMMITS))[0]["count"] <= 4


async def test_a_change_that_raises_and_a_value_that_the_server_refuses_fail_alone(
    dsn: str, database: Database
) -> None:
    await run_in(dsn, "ALTER TABLE stored_item ADD CONSTRAINT refused CHECK (value <> '\"no\"')")
    try:
        items = PostgresItemRepository(database)

        def broken() -> ItemChange[None]:
            yield (named(0),)
            raise ZeroDivisionError

        def put(number: int) -> ItemChange[None]:
            yield (named(number),)
            return (ItemPut(named(number), '"no"' if number == 5 else "1"),), None

        changes = [items.change(partial(put, number), now=NOW) for number in range(10)]
        writes = [
            items.write((ItemPut(named(number), '"no"' if number == 15 else "1"),), now=NOW)
            for number in range(10, 20)
        ]
        outcomes = await asyncio.gather(
            *changes, *writes, items.change(broken, now=NOW), return_exceptions=True
        )
        assert isinstance(outcomes.pop(), ZeroDivisionError)
        stored = [isinstance(outcome, Success) for outcome in outcomes]
        assert stored == [number not in {5, 15} for number in range(20)]
        found = await items.read(tuple(map(named, range(20))), now=NOW).or_raise()
        assert [item is not None for item in found] == stored
    finally:
        await run_in(dsn, "ALTER TABLE stored_item DROP CONSTRAINT refused")


@pytest.mark.parametrize("left", range(0, 12, 3))
async def test_a_put_whose_caller_left_is_whole_or_absent_and_takes_no_other_along(
    database: Database, left: int
) -> None:
    items = PostgresItemRepository(database)

    async def put(number: int) -> None:
        pair = (
            ItemPut(named(number), "1"),
            ItemPut(ItemName(("b",), f"{number}"), "1"),
        )
        await items.write(pair, now=NOW).or_raise()

    tasks = [asyncio.create_task(put(number)) for number in range(12)]
    for _ in range(left):
        await asyncio.sleep(0)
    tasks[left].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await put(99)  # behind what has begun
    names = [(named(number), ItemName(("b",), f"{number}")) for number in range(12)]
    found = [await items.read(pair, now=NOW).or_raise() for pair in names]
    assert all((one is None) == (other is None) for one, other in found)
    assert [one is not None for number, (one, _) in enumerate(found) if number != left] == [True] * 11


async def test_many_puts_that_wait_are_committed_some_at_a_time(dsn: str, database: Database) -> None:
    items = PostgresItemRepository(database)
    puts = [ItemPut(named(number), "1") for number in range(3 * MOST_IN_A_GROUP)]
    await asyncio.gather(*(items.write((put,), now=NOW).or_raise() for put in puts))
    commits = (await run_in(dsn, COUNT_COMMITS))[0]["count"]
    assert 3 <= commits <= 6


async def test_a_lock_that_is_not_given_costs_all_who_wait_one_timeout_together(
    dsn: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        connected(dsn) as other,
        open_database(PostgresSettings(dsn=dsn, timeout_seconds=0.3)) as impatient,
    ):
        begun: list[str] = []
        attempt = impatient._attempt

        async def counted(operation: str, owner: Place, work: Any) -> Outcome[object, object]:
            begun.append(operation)
            return await attempt(operation, owner, work)

        monkeypatch.setattr(impatient, "_attempt", counted)
        await other.execute(database._begin(Place("items", row=items_row)))
        items = PostgresItemRepository(impatient)
        outcomes = await asyncio.gather(
            *(items.write((ItemPut(named(number), "1"),), now=NOW) for number in range(30))
        )
    for outcome in outcomes:
        assert isinstance(outcome, Failure)
        assert isinstance(error := outcome.failure(), RepositoryError)
        assert error.problem == "busy"
    assert 1 <= len(begun) <= 3
