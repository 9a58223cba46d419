"""Writes that wait together are committed together, and each is as if it had been alone."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from chatmemory import (
    Failure,
    MessageConflictError,
    Namespace,
    RepositoryError,
    Success,
    VersionConflictError,
)
from chatmemory.conversation.message_repository import Append
from chatmemory.effect import Outcome
from chatmemory.items.item_repository import ItemChange, ItemName, ItemPut
from chatmemory.laws.kit.samples import START, said
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.longterm.repository_values import Forgetting, MemoryListing
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.groups import MOST_IN_A_GROUP
from chatmemory_layers.postgres.engine.row_locks import ITEMS, Owner
from chatmemory_layers.postgres.items.item_repository import PostgresItemRepository
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.postgres.beside import connected, open_memories, open_messages, run_in
from tests.unit.said import batch, problem_of, stored, stored_ids


@asynccontextmanager
async def refusing(dsn: str, table: str, condition: str) -> AsyncGenerator[None]:
    """Let the server take no row of *table* but those that fulfil *condition*."""
    await run_in(dsn, f"ALTER TABLE {table} ADD CONSTRAINT refused CHECK ({condition}) NOT VALID")
    try:
        yield
    finally:
        await run_in(dsn, f"ALTER TABLE {table} DROP CONSTRAINT refused")


def refused(outcomes: Sequence[object]) -> list[int]:
    """Return the places of those that failed because of the constraint."""
    failed = {place: one.failure() for place, one in enumerate(outcomes) if isinstance(one, Failure)}
    assert all(isinstance(error, RepositoryError) and "refused" in str(error) for error in failed.values())
    return [*failed]


async def together(repository: PostgresMessageRepository, batches: Sequence[Append]) -> list[object]:
    return await asyncio.gather(*(repository.append(each) for each in batches))


async def counts(repository: PostgresMessageRepository, conversation_id: str) -> tuple[int, int]:
    """Return the version and the number of messages, both as told and as stored."""
    told = await repository.conversation(conversation_id).or_raise()
    messages = await stored(repository, conversation_id)
    assert told is not None
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    assert told.message_count == told.view_count == len(messages)
    return told.version, told.message_count


async def test_what_the_server_refuses_fails_alone(dsn: str, repository: PostgresMessageRepository) -> None:
    batches = [batch(f"c{n % 5}", said(f"{n}", "refused" if n in {7, 10} else "fine")) for n in range(20)]
    async with refusing(dsn, "chat_message", "content <> 'refused'"):
        assert refused(await together(repository, batches)) == [7, 10]
    for n in range(5):
        expected = [f"{m}" for m in range(n, 20, 5) if m not in {7, 10}]
        assert await stored_ids(repository, f"c{n}") == expected
        assert await counts(repository, f"c{n}") == (len(expected), len(expected))


async def test_what_contradicts_or_repeats_is_told_so(repository: PostgresMessageRepository) -> None:
    await repository.append(batch("c", "known")).or_raise()
    batches = [
        batch("c", "1", "2"),
        batch("c", "2", "known", "3"),
        batch("c", said("1", "something else")),
        Append("c", (said("4"),), START, None, expected_version=99),
        Append("d", (said("1"),), START, None, expected_version=0),
        batch("e", "1"),
    ]
    first, again, other, late, expected, elsewhere = await together(repository, batches)
    assert all(isinstance(one, Success) for one in (first, again, expected, elsewhere))
    assert isinstance(again, Success)
    assert (again.unwrap().stored, again.unwrap().duplicates) == (("3",), ("2", "known"))
    assert other == Failure(MessageConflictError("c", ("1",)))
    assert isinstance(late.failure(), VersionConflictError)
    assert await stored_ids(repository, "c") == ["known", "1", "2", "3"]
    assert await counts(repository, "c") == (3, 4)


async def test_a_cancelled_append_takes_no_other_along(repository: PostgresMessageRepository) -> None:
    for turns in range(1, 41):
        tasks = [
            asyncio.create_task(
                repository.append(batch(f"c{n % 3}", f"{turns}-{n}a", f"{turns}-{n}b")).or_raise()
            )
            for n in range(9)
        ]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert not any(isinstance(outcome, BaseException) for outcome in outcomes[1::2])
    for n in range(3):
        await repository.append(batch(f"c{n}", "last")).or_raise()  # behind what was still under way
        ids = await stored_ids(repository, f"c{n}")
        assert [one[:-1] for one in ids[:-1:2]] == [two[:-1] for two in ids[1:-1:2]]
        kept = {one for one in ids if one.endswith("a") and int(one[:-1].split("-")[1]) % 2}
        assert len(kept) == 40 * len([m for m in range(1, 9, 2) if m % 3 == n])
        assert (await counts(repository, f"c{n}"))[1] == len(ids)


async def test_what_was_kept_is_not_relied_upon(dsn: str, repository: PostgresMessageRepository) -> None:
    """Somebody else appends, clears, forks from it, or sets the store back to what it was."""
    async with open_messages(dsn) as other:
        await repository.append(batch("c", "1")).or_raise()
        await other.append(batch("c", "2")).or_raise()
        await together(repository, [batch("c", "3"), batch("c", "4")])
        assert await counts(other, "c") == (4, 4)
        assert await stored_ids(repository, "c") == ["1", "2", "3", "4"]
        await other.clear("c", now=START).or_raise()
        appended = (await repository.append(batch("c", "5")).or_raise()).conversation
        assert (appended.version, appended.message_count) == (6, 1)
        assert [message.seq for message in await stored(other, "c")] == [5]
    await run_in(dsn, "UPDATE conversation SET updated_at_us = updated_at_us - 1, view_tokens = 90")
    again = (await repository.append(batch("c", "6")).or_raise()).conversation
    assert (again.version, again.view_tokens) == (7, 93)


async def test_work_that_was_settled_meanwhile_is_queued_again_when_it_is_due(
    dsn: str, repository: PostgresMessageRepository
) -> None:
    assert (await repository.append(batch("c", "1", is_due=True)).or_raise()).work_is_due
    async with connected(dsn) as beside:
        await beside.execute("DELETE FROM history_work")
        assert not (await repository.append(batch("c", "2")).or_raise()).work_is_due
        assert await beside.fetchval("SELECT count(*) FROM history_work") == 0
        told = await together(repository, [batch("c", "3"), batch("c", "4", is_due=True), batch("d", "1")])
        assert await beside.fetchval("SELECT count(*) FROM history_work") == 1
    assert [isinstance(one, Success) and one.unwrap().work_is_due for one in told] == [False, True, False]
    assert (await repository.append(batch("c", "5")).or_raise()).work_is_due


MING = Namespace("小明")


async def test_what_others_wrote_meanwhile_is_read(dsn: str, memories: PostgresMemoryRepository) -> None:
    """Two stores of one user at once, while a third forgets: nothing is doubled, nothing comes back."""
    async with open_memories(dsn) as beside:
        for round_ in range(10):
            same = [(remembered(f"{round_} {n}", namespace=MING, dedup_key=b"%d" % n),) for n in range(9)]
            both = [store.store(draft) for store in (memories, beside) for draft in same]
            forgetting = beside.forget(Forgetting(MING, memory_id=f"{round_} 3"))
            *outcomes, _ = await asyncio.gather(*both, forgetting)
            assert all(isinstance(outcome, Success) for outcome in outcomes)
        stored = {memory.id for memory in await memories.list(MemoryListing(MING, 999)).or_raise()}
        assert all(f"0 {n}" in stored for n in range(9) if n != 3)
        assert len(stored) in {8, 9}


def named(number: int) -> ItemName:
    return ItemName(("a", f"{number % 3}"), f"{number}")


async def test_puts_that_wait_share_few_transactions_and_keep_their_order(
    dsn: str, database: Database
) -> None:
    items = PostgresItemRepository(database)
    last = 3 * MOST_IN_A_GROUP
    puts = [ItemPut(named(number % 20), f"{number}", keeps_past=True) for number in range(last)]
    await asyncio.gather(*(items.write((put,), now=START).or_raise() for put in puts))
    found = await items.read(tuple(map(named, range(20))), now=START).or_raise()
    assert sorted(int(item.value) for item in found if item) == list(range(last - 20, last))
    assert 3 <= (await run_in(dsn, "SELECT count(DISTINCT transaction_id) FROM item_event"))[0][0] <= 6


async def test_a_refused_value_fails_alone(dsn: str, database: Database) -> None:
    items = PostgresItemRepository(database)

    def put(number: int) -> ItemPut:
        return ItemPut(named(number), '"no"' if number in {5, 15} else "1")

    def change(number: int) -> ItemChange[None]:
        yield (named(number),)
        return (put(number),), None

    changes = [items.change(partial(change, number), now=START) for number in range(10)]
    writes = [items.write((put(number),), now=START) for number in range(10, 20)]
    async with refusing(dsn, "item", "value <> '\"no\"'"):
        assert refused(await asyncio.gather(*changes, *writes)) == [5, 15]
    found = await items.read(tuple(map(named, range(20))), now=START).or_raise()
    assert [number for number, item in enumerate(found) if item is None] == [5, 15]


async def test_a_lock_that_is_not_given_costs_all_who_wait_one_timeout_together(
    dsn: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        connected(dsn) as other,
        open_database(PostgresSettings(dsn=dsn, timeout_seconds=0.3)) as impatient,
    ):
        begun: list[str] = []
        attempt = impatient._attempt

        async def counted(operation: str, owner: Owner, work: Any) -> Outcome[object, object]:
            begun.append(operation)
            return await attempt(operation, owner, work)

        monkeypatch.setattr(impatient, "_attempt", counted)
        await other.execute(database._begin(ITEMS))
        items = PostgresItemRepository(impatient)
        puts = [ItemPut(named(number), "1") for number in range(30)]
        outcomes = await asyncio.gather(*(items.write((put,), now=START) for put in puts))
    assert {problem_of(outcome) for outcome in outcomes} == {"busy"}
    assert 1 <= len(begun) <= 3
