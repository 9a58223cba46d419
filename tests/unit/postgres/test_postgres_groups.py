"""Writes that wait together are committed together, and each is as if it had been alone."""

import asyncio
from collections.abc import Sequence

from chatmemory import Failure, MessageConflictError, RepositoryError, Success, VersionConflictError
from chatmemory.conversation.message_repository import Append
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.row_locks import Place, conversation_row
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.postgres.beside import connected
from tests.unit.postgres.said import NOW, batch, draft, stored, stored_ids

REFUSED = "ALTER TABLE chat_message ADD CONSTRAINT refused CHECK (content <> 'refused') NOT VALID"
ALLOWED = "ALTER TABLE chat_message DROP CONSTRAINT refused"


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
    async with connected(dsn) as other:
        await other.execute(REFUSED)
        try:
            batches = [
                batch(f"c{n % 5}", draft(f"{n}", "refused" if n in {7, 10} else "fine")) for n in range(20)
            ]
            outcomes = await together(repository, batches)
        finally:
            await other.execute(ALLOWED)
    assert [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Failure)] == [7, 10]
    for n in (7, 10):
        outcome = outcomes[n]
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.failure(), RepositoryError)
        assert "refused" in str(outcome.failure())
    for n in range(5):
        expected = [f"{m}" for m in range(n, 20, 5) if m not in {7, 10}]
        assert await stored_ids(repository, f"c{n}") == expected
        assert await counts(repository, f"c{n}") == (len(expected), len(expected))


async def test_what_contradicts_or_repeats_is_told_so_and_the_others_are_stored(
    repository: PostgresMessageRepository,
) -> None:
    await repository.append(batch("c", "known")).or_raise()
    first, again, other, late, expected, elsewhere = await together(
        repository,
        [
            batch("c", "1", "2"),
            batch("c", "2", "known", "3"),
            batch("c", draft("1", "something else")),
            Append("c", (draft("4"),), NOW, None, expected_version=99),
            Append("d", (draft("1"),), NOW, None, expected_version=0),
            batch("e", "1"),
        ],
    )
    assert isinstance(first, Success)
    assert isinstance(again, Success)
    assert (again.unwrap().stored, again.unwrap().duplicates) == (("3",), ("2", "known"))
    assert isinstance(other, Failure)
    assert other.failure() == MessageConflictError("c", ("1",))
    assert isinstance(late, Failure)
    assert isinstance(late.failure(), VersionConflictError)
    assert isinstance(expected, Success)
    assert isinstance(elsewhere, Success)
    assert await stored_ids(repository, "c") == ["known", "1", "2", "3"]
    assert await counts(repository, "c") == (3, 4)


async def test_a_cancelled_append_is_whole_or_absent_and_takes_no_other_along(
    repository: PostgresMessageRepository,
) -> None:
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


async def test_what_was_kept_of_a_conversation_is_not_relied_upon(
    dsn: str, repository: PostgresMessageRepository
) -> None:
    """Somebody else appends, clears, forks from it, or sets the store back to what it was."""
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        other = PostgresMessageRepository(database)
        await repository.append(batch("c", "1")).or_raise()
        await other.append(batch("c", "2")).or_raise()
        await together(repository, [batch("c", "3"), batch("c", "4")])
        assert await counts(other, "c") == (4, 4)
        assert await stored_ids(repository, "c") == ["1", "2", "3", "4"]
        await other.clear("c", now=NOW).or_raise()
        appended = (await repository.append(batch("c", "5")).or_raise()).conversation
        assert (appended.version, appended.message_count) == (6, 1)
        assert [message.seq for message in await stored(other, "c")] == [5]
    async with connected(dsn) as beside:
        await beside.execute("UPDATE conversation SET updated_at_us = updated_at_us - 1, view_tokens = 90")
    again = (await repository.append(batch("c", "6")).or_raise()).conversation
    assert (again.version, again.view_tokens) == (7, 92)


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


async def test_a_place_that_somebody_holds_holds_up_nobody_else(dsn: str, database: Database) -> None:
    repository = PostgresMessageRepository(database)
    async with connected(dsn) as other:
        await other.execute(database._begin(Place("held", row=conversation_row)))
        waiting = asyncio.ensure_future(repository.append(batch("held", "1")))
        outcomes = await together(repository, [batch(f"c{n}", "1") for n in range(100)])
        assert all(isinstance(outcome, Success) for outcome in outcomes)
        assert not waiting.done()
        await other.execute("COMMIT")
    assert isinstance(await waiting, Success)
