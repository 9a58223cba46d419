"""Statements find their rows through an index, but for one, so that no call slows down as a conversation or a store grows."""

import hashlib
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from anyio.from_thread import start_blocking_portal

from chatmemory import Granted, Namespace, Principal, acting_as
from chatmemory_layers.postgres.engine.row_security import acting
from chatmemory_layers.postgres.events import event_log
from chatmemory_layers.postgres.memories import (
    memory_reads,
    memory_removal,
    memory_row,
    memory_search,
    memory_store,
    memory_writes,
)
from chatmemory_layers.postgres.messages import conversation_row, history_work, message_reads, message_writes
from tests.empty_store import copied_store
from tests.guarded_store import guarded_store
from tests.unit.postgres.beside import connected, run_in
from tests.unit.sql_statements import statements_of

MODULES = (event_log, conversation_row, message_reads, message_writes, history_work)
MEMORY_MODULES = (memory_reads, memory_removal, memory_row, memory_store, memory_writes)
FILL = """
ALTER TABLE conversation ALTER COLUMN edition SET DEFAULT 1;
INSERT INTO conversation SELECT 'c' || n, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 'u' || n % 30, '' FROM generate_series(1, 3000) AS n;
INSERT INTO chat_message
    SELECT 'c' || n % 30, n, n, 'm' || n, 'user', repeat('words ', 20), n, NULL, 20, CASE WHEN n % 2 = 0 THEN 's' END
    FROM generate_series(1, 30000) AS n;
INSERT INTO summarization_metadata
    SELECT 'c' || n % 30, 'about ' || n, 's' || n, 0, 0, 'skill', FALSE, 0 FROM generate_series(1, 6000) AS n;
INSERT INTO summary_coverage
    SELECT 'c' || n % 30, 'm' || n, 'about ' || n / 10, n % 10 FROM generate_series(1, 30000) AS n;
INSERT INTO history_work SELECT 'c' || n, n, 0, NULL, NULL FROM generate_series(1, 5000) AS n;
INSERT INTO memory_user SELECT md5('u' || n)::uuid, 'u' || n, n FROM generate_series(1, 3000) AS n;
INSERT INTO memory_space (model, dim, space_key) SELECT 'm' || n, 3, n FROM generate_series(1, 3000) AS n;
INSERT INTO atomic_memory (memory_key, memory_id, user_key, app_type, content, key, tags, confidence, source, role, session_id,
        memory_type, pinned, message_ids, created_at_us, superseded_at_us, superseded_by, space_key, dedup_key,
        search_terms, term_keys)
    SELECT md5('m' || n)::uuid, 'm' || n, md5('u' || 1 + n % 30)::uuid, '', repeat('words ', 20), CASE WHEN n % 9 = 0 THEN 'k' || n END, '{}', 1, 'system', 'user',
        's' || n / 100, CASE WHEN n % 3 = 0 THEN 'short_term' ELSE 'long_term' END, FALSE, '{}', n,
        CASE WHEN n % 7 = 0 THEN n END, CASE WHEN n % 7 = 0 THEN 'm' || n + 30 END, 1 + n % 3, int8send(n), 'words', ARRAY[n % 900]
    FROM generate_series(1, 30000) AS n;
INSERT INTO memory_embedding (user_key, memory_key, space_key, vector)
    SELECT user_key, memory_key, space_key, ARRAY[1, 0, 0] FROM atomic_memory;
INSERT INTO memory_use (user_key, memory_key, session_id) SELECT user_key, memory_key, 's' FROM atomic_memory;
INSERT INTO conversation_event (conversation_id, number, stored_at_us, who, who_user, action, owner_user, owner_app)
    SELECT 'c' || n, n, n, CASE WHEN n % 9 = 0 THEN 'phone' ELSE '' END, 'u1', 'added', 'u1', '' FROM generate_series(1, 30000) AS n;
INSERT INTO memory_event (user_key, number, stored_at_us, who, who_user, action, memory_id, owner_user, owner_app)
    SELECT md5('u1')::uuid, n, n, CASE WHEN n % 9 = 0 THEN 'phone' ELSE '' END, 'u1', 'stored', 'm' || n, 'u1', '' FROM generate_series(1, 30000) AS n;
INSERT INTO item_event (root_key, number, stored_at_us, who, who_user, action, name)
    SELECT md5('u1')::uuid, n, n, CASE WHEN n % 9 = 0 THEN 'phone' ELSE '' END, 'u1', 'stored', 'm' || n FROM generate_series(1, 30000) AS n;
ANALYZE
"""


STATEMENTS = statements_of(*MODULES)
# What changed last goes by the index of recency, and of equal recency is sorted; of a prefix, all that begin so are.
RECENT = STATEMENTS.pop("message_reads.SELECT_RECENT_CONVERSATIONS")
RECENT_OF_PREFIX = STATEMENTS.pop("message_reads.SELECT_RECENT_OF_PREFIX")
# What is granted is looked for among all that the owner has, and sorted where those are few.
GRANTED = [STATEMENTS.pop(f"message_reads.SELECT_GRANTED_{order}") for order in ("BY_ID", "RECENT")]
# Who did what is merged from three tables, of each what fits on a page.
ACTED = STATEMENTS.pop("event_log.SELECT_ACTED")
CHANGES = STATEMENTS.pop("event_log.SELECT_CHANGES")
del STATEMENTS["event_log.SELECT_END"]  # which reads no table
TABLES = {*re.findall(r"INSERT INTO (\w+)", FILL)} - {"memory_space"}  # of spaces every store has few
U1 = UUID(bytes=hashlib.md5(b"u1", usedforsecurity=False).digest())
# Planned for their arguments, see PLANNED_EACH_TIME.
LISTS = (
    (
        memory_reads.SELECT_LISTED,
        f"'{U1}', '', NULL, 9000, '', FALSE, NULL, NULL, NULL, NULL, NULL, NULL, FALSE, -9000, NULL, FALSE, 20",
    ),
    (
        memory_reads.SELECT_LISTED,
        f"'{U1}', '', NULL, 9000, '', FALSE, NULL, NULL, NULL, NULL, NULL, 'words', FALSE, -9000, NULL, FALSE, 20",
    ),
    (memory_reads.SELECT_UNEMBEDDED, f"'{U1}', '', 'm1', 3, 9000, '', 20"),
)
MEMORY_STATEMENTS = {
    **statements_of(*MEMORY_MODULES),
    "find few by words": memory_search.FIND_FEW_WITHOUT_VECTORS,
    "find few by words and vectors": memory_search.FIND_FEW,
    "find by words": memory_search.FIND_WITHOUT_VECTORS,
    "find by words and vectors": memory_search.FIND_EXACT.format(space_key=1),
}


async def plan_of(connection: Any, statement: str, arguments: str | None = None) -> str:
    """Ask for the plan for *arguments*; None: the generic plan, the one that serves whatever they are."""
    generic = ", ".join(["NULL"] * max(map(int, re.findall(r"\$(\d+)", statement))))
    await connection.execute(f"SET plan_cache_mode = force_{'custom' if arguments else 'generic'}_plan")
    await connection.execute(f"PREPARE asked AS {statement}")
    rows = await connection.fetch(f"EXPLAIN (COSTS OFF) EXECUTE asked ({arguments or generic})")
    await connection.execute("DEALLOCATE asked")
    return "\n".join(row[0] for row in rows)


@asynccontextmanager
async def filled_database() -> AsyncGenerator[str]:
    """Lend the address of a store in which there is much."""
    async with copied_store() as dsn:
        await run_in(dsn, FILL)
        yield dsn


@pytest.fixture(scope="module")
def much() -> Generator[str]:
    """The address of one such store, for all who only ask for plans."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(filled_database()) as dsn:
        yield dsn


@pytest.fixture
async def filled(much: str) -> AsyncGenerator[Any]:
    """A connection to it."""
    async with connected(much) as connection:
        yield connection


async def test_no_statement_reads_a_whole_table_and_no_list_is_sorted(filled: Any) -> None:
    for name, statement in (STATEMENTS | MEMORY_STATEMENTS).items():
        plan = await plan_of(filled, statement)
        scanned = [table for table in TABLES if f"Seq Scan on {table}" in plan]
        assert not scanned, f"{name} reads all of {scanned}:\n{plan}"
        if name in STATEMENTS:
            assert "Hash Join" not in plan, f"{name} reads all of a conversation:\n{plan}"
            # A page may be sorted, a conversation may not: what LIMIT stands over comes out of an index in order.
            assert "Sort" not in plan.partition("Limit")[2], f"{name} sorts before it limits:\n{plan}"
    assert len(STATEMENTS) >= 20
    assert len(MEMORY_STATEMENTS) >= 23
    for statement, arguments in LISTS:
        plan = await plan_of(filled, statement, arguments)
        assert "Sort" not in plan.partition("Limit")[2], plan


async def test_pages_neighbours_and_the_log_are_read_by_the_index_that_fits(filled: Any) -> None:
    logs = ("conversation_event", "memory_event", "item_event")
    for statement, expected in (
        # Those that changed last are found without reading the others.
        (RECENT, ("Index Scan Backward using conversation_recency", "Presorted Key: recency")),
        (RECENT_OF_PREFIX, ("conversation_pkey",)),
        # Who did what is read from the end of the log, what has changed from where the page before ended.
        (ACTED, tuple(f"Index Scan Backward using {table}_named" for table in logs)),
        (CHANGES, tuple(f"Index Scan using {table}_changes" for table in logs)),
        # The neighbours of a memory are found in its session.
        (
            memory_search.FIND_WITHOUT_VECTORS,
            ("using atomic_memory_beside", "hashtextextended(session_id, '0'::bigint) = hashtextextended("),
        ),
    ):
        plan = await plan_of(filled, statement)
        assert [words for words in expected if words not in plan] == [], plan
    assert (await plan_of(filled, memory_search.FIND_WITHOUT_VECTORS)).count(
        "using atomic_memory_beside"
    ) == 2
    for statement in (RECENT_OF_PREFIX, *GRANTED):
        plan = await plan_of(filled, statement)
        assert "Seq Scan" not in plan, plan
    for statement in GRANTED:  # the conversations of its owners alone
        plan = await plan_of(filled, statement)
        assert "Index Scan on conversation_owner" in plan or "using conversation_owner_recency" in plan, plan


async def test_an_append_looks_ids_up_one_by_one_where_most_conversations_are_short() -> None:
    """Where a generic plan takes each for short, reading all of one looks cheap."""
    async with filled_database() as dsn, connected(dsn) as connection:
        await connection.execute("""
            INSERT INTO chat_message SELECT 's' || n, 1, 1, 'only ' || n, 'user', 'word', n, NULL, 1, NULL
            FROM generate_series(1, 60000) AS n;
            ANALYZE chat_message
        """)
        plan = await plan_of(connection, message_writes.SELECT_KNOWN)
    assert "Hash Join" not in plan, plan
    assert "Index Cond: ((conversation_id = $1) AND (hashtextextended(id" in plan, plan


async def test_policies_leave_the_indexes_of_a_page_an_append_and_a_list_in_use() -> None:
    ada = Namespace("u1")
    with acting_as(Principal(name="u1", namespace=ada, granted=(Granted(ada),))):
        # For the session: PREPARE and EXPLAIN are two transactions.
        told = acting("c1").replace("TRUE)", "FALSE)")
    looked_up = [
        name
        for name in STATEMENTS
        if name.startswith(("message_reads.SELECT_", "message_writes.SELECT_KNOWN", "conversation_row"))
    ]
    async with guarded_store() as store:
        await run_in(store.above, FILL)
        async with connected(store.serving) as serving:
            await serving.execute(told)
            plans = {name: await plan_of(serving, STATEMENTS[name]) for name in looked_up}
            plans |= {f"list {number}": await plan_of(serving, one) for number, one in enumerate(GRANTED)}
            ids = await plan_of(serving, "SELECT FROM chat_message WHERE id = $1")
    assert len(plans) >= 12
    for name, plan in plans.items():
        assert "Seq Scan" not in plan, f"{name} reads a whole table:\n{plan}"
    for name in ("list 0", "list 1"):
        assert "conversation_guarded_owner" in plans[name], plans[name]
    assert "chat_message_guarded_id" in ids, ids
