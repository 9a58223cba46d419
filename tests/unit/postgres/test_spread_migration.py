"""A guarded store of the former keys, filled, comes to keys that can be spread with all that it holds.

One that is not guarded, and one whose opening is killed: see ``tests/released``.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from attrs import evolve

from chatmemory import Duplicate, Fork, Namespace, PageQuery, Stored, acting_as
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.items.item_repository import ItemName, ItemPut, ItemSearch
from chatmemory.laws.kit.samples import START, batch, said, somebody
from chatmemory.laws.memories.memory_witness import remembered, unit
from chatmemory.longterm.repository_values import Forgetting, MemoryListing, MemorySearch, Use
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine import migrations
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.migration_steps import MIGRATIONS
from chatmemory_layers.postgres.engine.migrations import migrate
from chatmemory_layers.postgres.engine.row_security import GUARDED, OF_THE_LOG
from chatmemory_layers.postgres.items.item_repository import PostgresItemRepository
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.sql.item_columns import to_text
from tests.guarded_store import guarded_store
from tests.unit.postgres.beside import connected

FORMER: Final = 5  # the last step of the released schema
ADA, HONG = Namespace("ada"), Namespace("小红 \\ '")
SPACE = EmbeddingSpace("模型", 3)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEA = ItemName(("小红", "notes"), "tea")
LOOSE = ItemName(("a",), "loose")

# Of two users and two items; the words as the statements of then hashed them.
FILL: Final = """
INSERT INTO memory_user (user_id) VALUES ('of nobody'), ('ada'), ('小红 \\ ''');
INSERT INTO memory_space (model, dim) VALUES ('other', 2), ('模型', 3);
INSERT INTO atomic_memory (memory_id, user_key, app_type, content, key, tags, confidence, source, role, session_id,
    memory_type, pinned, message_ids, created_at_us, superseded_at_us, superseded_by, use_count, last_use_id, space_key,
    dedup_key, search_terms, term_keys)
SELECT user_id || n, user_key, CASE WHEN n % 5 = 0 THEN 'excel' ELSE '' END, 'said ' || n, 'k' || n, '{work}', 1,
    'user_stated', 'user', 's', CASE WHEN n = 3 THEN 'short_term' ELSE 'long_term' END, FALSE, '{m}', 1000000 * n,
    CASE WHEN n = 1 THEN 2000000 END, CASE WHEN n = 1 THEN user_id || '2' END, 1, 'u', CASE WHEN n <> 4 THEN 2 END,
    CASE WHEN n = 7 THEN '\\x07'::bytea END, 'tea w' || n,
    ARRAY[hashtextextended('tea', user_key), hashtextextended('w' || n, user_key)]
FROM memory_user CROSS JOIN generate_series(1, 40) AS n WHERE user_id <> 'of nobody' ORDER BY n, user_id;
INSERT INTO memory_embedding
SELECT memory_key, space_key, CASE WHEN memory_key / 2 % 2 = 0 THEN '{1,0,0}'::real[] ELSE '{0,1,0}' END
FROM atomic_memory WHERE space_key IS NOT NULL;
INSERT INTO memory_use SELECT memory_key, 'session ' || n FROM atomic_memory CROSS JOIN generate_series(1, 2) AS n;
CREATE INDEX memory_embedding_hnsw_2 ON memory_embedding (space_key) WHERE space_key = 2;
INSERT INTO stored_item (name_hash, namespace, key, value, search_terms, created_at_us, updated_at_us) VALUES
    (decode('{tea}', 'hex'), '小红.notes.', 'tea', '"green"', 'green', 1, 1),
    (decode('{loose}', 'hex'), 'a.', 'loose', '"b"', NULL, 1, 1);
INSERT INTO item_passage SELECT item_key, 0, 'm', '\\x0000803f00000000'::bytea FROM stored_item WHERE key = 'tea';
"""

# As the program of then put them up.
GUARDS: Final = """
CREATE FUNCTION chatmemory_is_service() RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce(current_setting('chatmemory.principal', TRUE) = '*', FALSE);
CREATE FUNCTION chatmemory_principal() RETURNS json LANGUAGE sql STABLE
RETURN nullif(nullif(current_setting('chatmemory.principal', TRUE), '*'), '')::json;
CREATE FUNCTION chatmemory_remembers(named bigint) RETURNS boolean LANGUAGE sql VOLATILE
RETURN EXISTS (SELECT FROM atomic_memory WHERE memory_key = $1);
CREATE POLICY chatmemory_see ON conversation FOR SELECT USING ((SELECT chatmemory_is_service()));
COMMENT ON POLICY chatmemory_see ON conversation IS 'former';
CREATE POLICY chatmemory_own ON memory_user USING (
    (SELECT chatmemory_is_service()) OR user_id = (SELECT chatmemory_principal() ->> 'user'));
CREATE POLICY chatmemory_own ON atomic_memory USING ((SELECT chatmemory_is_service()) OR user_key = (
    SELECT user_key FROM memory_user WHERE user_id = (SELECT chatmemory_principal() ->> 'user')));
CREATE POLICY chatmemory_own ON memory_embedding USING ((SELECT chatmemory_is_service()) OR EXISTS (
    SELECT FROM atomic_memory WHERE atomic_memory.memory_key = memory_embedding.memory_key
)) WITH CHECK ((SELECT chatmemory_is_service()) OR chatmemory_remembers(memory_key));
CREATE POLICY chatmemory_own ON memory_use USING ((SELECT chatmemory_is_service()) OR EXISTS (
    SELECT FROM atomic_memory WHERE atomic_memory.memory_key = memory_use.memory_key
)) WITH CHECK ((SELECT chatmemory_is_service()) OR chatmemory_remembers(memory_key));
CREATE POLICY chatmemory_own ON stored_item USING ((SELECT chatmemory_is_service()) OR FALSE);
CREATE POLICY chatmemory_own ON item_passage USING ((SELECT chatmemory_is_service()) OR FALSE);
ALTER VIEW memory_record SET (security_invoker = TRUE);
"""
ROWS: Final = {
    "memories": "SELECT memory_id, content, created_at_us, superseded_by, use_count FROM atomic_memory ORDER BY memory_id",
    "order of memories": "SELECT memory_id FROM atomic_memory ORDER BY memory_key",
    "words": "SELECT memory_id, term_keys FROM atomic_memory ORDER BY memory_id",
    "vectors": "SELECT memory_id, vector::real[] FROM memory_embedding JOIN atomic_memory USING (memory_key) ORDER BY memory_id",
    "uses": """
        SELECT memory_id, memory_use.session_id FROM memory_use JOIN atomic_memory USING (memory_key)
        ORDER BY memory_id, memory_use.session_id
    """,
    "users": "SELECT {user} FROM memory_user ORDER BY {user}",
    "items": "SELECT name_hash, namespace, key, value FROM {item} ORDER BY item_key",
    "passages": "SELECT number, model, vector FROM item_passage",
}


def hash_of(name: ItemName) -> str:
    text = f"{to_text(name.namespace)}\0{name.key}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


async def former_store(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a store of the released schema, filled."""
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", MIGRATIONS[:FORMER])
        await migrate(connection)
    fill = FILL.replace("{tea}", hash_of(TEA)).replace("{loose}", hash_of(LOOSE))
    await connection.execute(fill)


async def rows_of(connection: Any, **names: str) -> dict[str, list[tuple[object, ...]]]:
    return {
        name: [tuple(row) for row in await connection.fetch(query.format_map(names))]
        for name, query in ROWS.items()
    }


async def ids(memories: PostgresMemoryRepository, namespace: Namespace) -> list[str]:
    return [memory.id for memory in await memories.list(MemoryListing(namespace, 999)).or_raise()]


async def look_at(database: Database) -> None:
    """See that what was stored is read, found, used, superseded and forgotten as if it had been stored just now."""
    memories, items = PostgresMemoryRepository(database), PostgresItemRepository(database)
    for user in (ADA, HONG):
        name = user.user
        assert await ids(memories, user) == [f"{name}{n}" for n in range(40, 1, -1)]
        query = MemorySearch(user, "nothing", ("w9",), SPACE, unit(1, 0, 0), limit=99)
        found = await memories.search(query).or_raise()
        by_word = [one.memory.id for one in found.found if "w9" in one.terms.split()]
        assert by_word == [f"{name}9"]
        assert (found.coverage.memories, found.coverage.embedded) == (38, 37)
        if database.vector_indexes is not None:
            similarity = {one.memory.id: one.similarity for one in found.found}
            assert similarity.pop(f"{name}4") is None  # it has no vector, and is found beside its neighbours
            assert {*similarity.values()} == {0.0, 1.0}
        used = await memories.record_use(
            Use(
                namespace=user,
                memory_ids=(f"{name}3",),
                use_id="v",
                session_id="session 3",
                now=NOW,
                promote_after=3,
            )
        ).or_raise()
        assert used.promoted == (f"{name}3",)
        twin = remembered("twin", namespace=user, dedup_key=b"\x07")
        assert await memories.store((twin,)).or_raise() == (Duplicate(f"{name}7"),)
        new = remembered("new", namespace=user, terms="tea", space=SPACE, vector=unit(1, 0, 0))
        assert await memories.store((evolve(new, replaces=f"{name}2"),)).or_raise() == (
            Stored("new", (f"{name}2",)),
        )
        receipt = await memories.forget(Forgetting(user, memory_id="new")).or_raise()
        assert (receipt.memories, receipt.embeddings) == (3, 3)
        assert await ids(memories, user) == [f"{name}{n}" for n in range(40, 2, -1)]
    tea, loose = await items.read((TEA, LOOSE), now=NOW).or_raise()
    assert (tea and tea.value, loose and loose.value) == ('"green"', '"b"')
    similar = await items.search(
        ItemSearch(("小红",), limit=9, terms=(), vector=unit(1, 0), model="m"), now=NOW
    ).or_raise()
    assert [(one.name, one.score) for one in similar] == [(TEA, 1.0)]
    await items.write((ItemPut(TEA, '"black"'), ItemPut(LOOSE, None)), now=NOW + timedelta(1)).or_raise()
    everything = await items.search(ItemSearch((), limit=9), now=NOW).or_raise()
    assert [one.value for one in everything] == ['"black"']


async def test_a_guarded_store_stays_guarded_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with guarded_store() as store:
        async with connected(store.above) as above:
            owner = await above.fetchval("SELECT tableowner FROM pg_tables WHERE tablename = 'conversation'")
            serving = owner.replace("_owner", "_serving")
            tables = [
                row[0]
                for row in await above.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            ]
            await above.execute(f"DROP TABLE {', '.join(tables)} CASCADE")
            for function in ("is_service()", "principal()", "writes_to(text)", "shift()"):
                await above.execute(f"DROP FUNCTION IF EXISTS chatmemory_{function} CASCADE")
            async with connected(store.owner) as made:
                await former_store(made, monkeypatch)
                await made.execute(GUARDS)
                later = {
                    "memory_version",
                    "conversation_branch",
                    "conversation_tree",
                    "item",
                    "item_version",
                    "first_answer",
                }
                guard = "ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
                for table in ("audit_entry", "stored_item", *{*GUARDED} - {*OF_THE_LOG, *later}):
                    await made.execute(f"ALTER TABLE {table} {guard}")
            await above.execute(
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {serving}"
            )
            before = await rows_of(above, user="user_id", item="stored_item")
            async with connected(store.owner) as made:
                assert await made.fetch("SELECT FROM atomic_memory") == []
                await migrate(made)
                # Nobody sees anything until the policies are up again.
                for table in ("memory_user", "atomic_memory", "memory_embedding", "memory_use", *OF_THE_LOG):
                    assert await made.fetch(f"SELECT FROM {table}") == []
            assert await rows_of(above, user="user_name", item="item") == before
        async with open_database(PostgresSettings(dsn=store.owner, row_security=True)):
            pass
        async with open_database(PostgresSettings(dsn=store.serving, row_security=True)) as database:
            memories = PostgresMemoryRepository(database)
            with acting_as(somebody("ada")):
                assert len(await ids(memories, ADA)) == 39
                assert await ids(memories, HONG) == []
                # The role that serves may use the tables of later steps, too.
                messages = PostgresMessageRepository(database)
                await messages.append(batch("trip", said("m1"))).or_raise()
                await messages.fork(Fork("trip", "what if", None, START)).or_raise()
                assert await messages.clear("trip", now=START).or_raise() is not None
                kept = await messages.page(PageQuery("what if", "full")).or_raise()
                assert kept is not None
                assert [one.id for one in kept.messages] == ["m1"]
            await look_at(database)
