"""Row-level security alone: with the service's own checks switched off, nobody sees or changes what is somebody else's."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any, Final

import asyncpg
import pytest
from attrs import evolve

from chatmemory import ConversationListing, Fork, ItemName, ItemPut, Namespace, Provenance
from chatmemory.access.principal import EVERYBODY, Granted, Principal, Right, acting_as
from chatmemory.effect import Effect, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import AccessDeniedError
from chatmemory.input.first_answers import RequestKey, under
from chatmemory.input.made_id import made_id
from chatmemory.laws.kit.samples import START, somebody
from chatmemory.laws.memories.memory_witness import remembered, unit
from chatmemory.longterm.repository_values import Forgetting, Use
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.row_security import GUARDED, UNGUARDED, acting
from chatmemory_layers.postgres.items.item_repository import PostgresItemRepository
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages import message_reads
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import run_on_server
from tests.guarded_store import GuardedStore, empty_guarded_store, guarded_store
from tests.unit.postgres.beside import connected, refusal_of, run_in
from tests.unit.said import batch, stored, summary

ADA, BOB = Namespace("ada"), Namespace("bob")
TALK: Final = "ada's talk"
SPACE = EmbeddingSpace("模型", 3)


@pytest.fixture
async def store() -> AsyncGenerator[GuardedStore]:
    async with empty_guarded_store() as lent:
        yield lent


@pytest.fixture
async def own_store() -> AsyncGenerator[GuardedStore]:
    """A store whose roles and policies a test may alter."""
    async with guarded_store() as made:
        yield made


@pytest.fixture
async def database(store: GuardedStore) -> AsyncGenerator[Database]:
    async with open_database(PostgresSettings(dsn=store.serving, row_security=True)) as opened:
        yield opened


@pytest.fixture
async def kept(
    database: Database, repository: PostgresMessageRepository, memories: PostgresMemoryRepository
) -> PostgresMessageRepository:
    """The messages of a store in which Ada has said and remembered something, and the service keeps an item."""
    with acting_as(somebody("ada")):
        await repository.append(batch(TALK, "1", "2", "3")).or_raise()
        tea = remembered("tea", namespace=ADA, terms="绿茶", space=SPACE, vector=unit(1, 0, 0), key="drink")
        await memories.store((tea,)).or_raise()
        await memories.rewrite(tea, expected_version=1, keep_vector=True).or_raise()
        with under(RequestKey(user=ADA.user, name=made_id("k"), request="r", now=START)):
            await memories.record_use(
                Use(namespace=ADA, memory_ids=("tea",), use_id="u", session_id=TALK, now=START)
            ).or_raise()
    with acting_as(EVERYBODY):
        await repository.summarize(summary(TALK, "s", "1", "2", at_version=1)).or_raise()
    with acting_as(somebody("ada")):
        await repository.append(batch(TALK, "4", is_due=True)).or_raise()
        await repository.fork(Fork(TALK, "branch", None, START)).or_raise()
    items, name = PostgresItemRepository(database), ItemName(("a", "b"), "k")
    await items.write((ItemPut(name, '"u"'),), now=START - timedelta(1)).or_raise()
    newer = ItemPut(name, '"v"', keeps_past=True, terms="v", vectors=(unit(1, 0),), model="m")
    await items.write((newer,), now=START).or_raise()
    return repository


@pytest.fixture
def first_wall_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the service believe that everybody may do everything."""
    monkeypatch.setattr(Principal, "may", lambda *_: True)
    monkeypatch.setattr(message_reads, "granted_as_json", lambda _: None)


EVERY_RIGHTS: Final[tuple[frozenset[Right], ...]] = (
    frozenset({"read"}),
    frozenset({"read", "write"}),
    frozenset({"read", "delete"}),
    frozenset({"write"}),
    frozenset({"delete"}),
)


@pytest.mark.usefixtures("first_wall_is_down")
async def test_a_grant_allows_what_it_says_and_no_more(kept: PostgresMessageRepository) -> None:
    for number, rights in enumerate(EVERY_RIGHTS):
        talk = f"ada's {number}"
        with acting_as(somebody("ada")):
            await kept.append(batch(talk, "1", "2")).or_raise()
        with acting_as(somebody("bob", Granted(ADA, talk, rights))):
            assert bool(await stored(kept, talk)) == ("read" in rights)
            assert await succeeds(kept.append(batch(talk, "5"))) == ("write" in rights)
            for removal in (
                kept.remove_newest(talk, now=START, threshold=None),
                kept.clear(talk, now=START),
            ):
                assert await succeeds(removal) == ("delete" in rights)


@pytest.mark.usefixtures("first_wall_is_down")
async def test_a_grant_is_for_its_owner_app_and_prefix(kept: PostgresMessageRepository) -> None:
    with acting_as(somebody("ada", app="mail")):
        await kept.append(batch("a mail", "1")).or_raise()
    for granted, seen in (
        (Granted(ADA), [TALK, "a mail"]),
        (Granted(ADA, "ada"), [TALK]),
        (Granted(ADA, "ad_"), []),  # which a pattern would take for it
        (Granted(Namespace("ada", "mail")), [TALK, "a mail"]),  # what is of no app is seen in each
        (Granted(Namespace("ada", "chat")), [TALK]),
        (Granted(Namespace("Ada")), []),
        (Granted(Namespace("")), []),
    ):
        with acting_as(somebody("bob", granted)):
            listed = await kept.conversations(ConversationListing(9, order="id")).or_raise()
            assert {one.conversation_id for one in listed} - {"branch"} == {*seen}, granted


GIVEN_COLUMNS = """
SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
WHERE table_name = $1 AND is_generated = 'NEVER'
"""


@pytest.mark.usefixtures("kept")
async def test_raw_sql_sees_and_changes_no_row_of_somebody_else(store: GuardedStore) -> None:
    """As the role that serves, and as the owner of the tables."""
    async with (
        connected(store.above) as above,
        connected(store.owner) as owner,
        connected(store.serving) as serving,
    ):
        for table in GUARDED:
            rows = f"SELECT * FROM {table} ORDER BY 1::text, 2::text"
            before = await above.fetch(rows)
            assert before, table
            for connection in (owner, serving):
                await expect_walled(connection, above, table, rows)
            assert await above.fetch(rows) == before, table


async def expect_walled(connection: Any, above: Any, table: str, rows: str) -> None:
    """See that nobody but Ada reads, changes or adds a row of *table*."""
    with acting_as(somebody("bob")):
        begins = (acting("bob's talk"), acting(), "SELECT")  # a write, a read, and what does not say who acts
    hers = await above.fetchval(f"SELECT row_to_json({table})::text FROM {table} LIMIT 1")
    key = next(name for name in json.loads(hers) if name not in {"user_key", "memory_key", "item_key"})
    columns = await above.fetchval(GIVEN_COLUMNS, table)
    insert = (
        f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "
        f"SELECT {columns} FROM json_populate_record(NULL::{table}, $1)"
    )
    for begin in begins:
        async with connection.transaction():
            await connection.execute(begin)
            assert await connection.fetch(rows) == [], table
            assert await connection.execute(f"UPDATE {table} SET {key} = {key}") == "UPDATE 0", table
            assert await connection.execute(f"DELETE FROM {table}") == "DELETE 0", table
        async with connection.transaction():
            await connection.execute(begin)
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                await connection.execute(insert, hers)


async def test_a_writer_learns_whose_a_conversation_is_and_no_more(
    kept: PostgresMessageRepository, store: GuardedStore
) -> None:
    with acting_as(somebody("bob")):
        denied = await kept.append(batch(TALK, "5"))
        assert isinstance(denied.failure(), AccessDeniedError)
        begin = acting(TALK)
    async with connected(store.serving) as serving:
        async with serving.transaction():
            await serving.execute(begin)
            assert await serving.fetchval("SELECT owner_user FROM conversation") == "ada"
            assert await serving.fetch("SELECT FROM chat_message") == []
            assert await serving.execute("UPDATE conversation SET version = 9") == "UPDATE 0"
            assert await serving.execute("DELETE FROM conversation") == "DELETE 0"
        assert await serving.fetch("SELECT FROM conversation") == []


@pytest.mark.parametrize(("rights", "stale_summaries"), [(frozenset(), ()), (frozenset({"read"}), ("s",))])
async def test_forgetting_marks_summaries_of_conversations_that_may_be_read(
    kept: PostgresMessageRepository,
    memories: PostgresMemoryRepository,
    rights: frozenset[Right],
    stale_summaries: tuple[str, ...],
) -> None:
    said = remembered("said", namespace=BOB, session_id=TALK, provenance=Provenance(("1",)))
    with acting_as(somebody("bob", *([Granted(ADA, rights=rights)] if rights else []))):
        await memories.store((said,)).or_raise()
        receipt = await memories.forget(Forgetting(BOB)).or_raise()
    assert receipt.stale_summaries == stale_summaries
    with acting_as(somebody("ada")):
        marked = await kept.summarization(TALK, "s").or_raise()
    assert marked is not None
    assert marked.is_stale == bool(stale_summaries)


@pytest.mark.usefixtures("kept")
async def test_every_table_is_guarded_or_holds_nothing_that_anybody_said(store: GuardedStore) -> None:
    async with connected(store.above) as above:
        rows = await above.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert {row["tablename"] for row in rows} == {*GUARDED, *UNGUARDED}


async def refusal(dsn: str, *, row_security: bool, reader_dsn: str = "") -> str:
    error = await refusal_of(dsn, row_security=row_security, reader_dsn=reader_dsn)
    assert error.problem == "row_security"
    return str(error)


async def test_a_role_whom_no_policy_holds_back_is_refused(own_store: GuardedStore) -> None:
    assert "superuser or has BYPASSRLS" in await refusal(own_store.above, row_security=True)
    behind = await refusal(own_store.serving, row_security=True, reader_dsn=own_store.above)
    assert "superuser or has BYPASSRLS" in behind
    role = own_store.serving.split("//")[1].split(":")[0]
    await run_on_server(f"ALTER ROLE {role} BYPASSRLS")
    assert "superuser or has BYPASSRLS" in await refusal(own_store.serving, row_security=True)


async def test_a_guarded_store_does_not_look_empty_where_the_setting_is_false(store: GuardedStore) -> None:
    for dsn in (store.above, store.owner, store.serving):
        assert "its rows are guarded, and the setting is false" in await refusal(dsn, row_security=False)


async def test_missing_or_other_policies_are_put_up_by_owners_at_once(
    own_store: GuardedStore,
) -> None:
    settings = PostgresSettings(dsn=own_store.owner, row_security=True)

    async def start() -> None:
        async with open_database(settings):
            pass

    for damage in (
        "ALTER TABLE memory_use NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE chat_message DISABLE ROW LEVEL SECURITY",
        "COMMENT ON POLICY chatmemory_see ON conversation IS 'of another version'",
    ):
        await run_in(own_store.owner, damage)
        assert "let the owner of the tables open it once" in await refusal(
            own_store.serving, row_security=True
        )
        await asyncio.gather(*[start() for _ in range(8)])
        async with open_database(evolve(settings, dsn=own_store.serving)):
            pass


async def succeeds(attempt: Effect[Any, Any]) -> bool:
    """Tell whether it answered with something that was done; without the checks, some end in a defect."""
    try:
        outcome = await attempt
    except IndexError:  # a conversation whose messages nobody shows
        return False
    return isinstance(outcome, Success) and outcome.unwrap() is not None
