"""Statements find their rows through an index, but for one, and what names few of many does not walk through all of the user's."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.longterm.repository_values import Forgetting, MemoryListing
from chatmemory_layers.sql.columns import EPOCH
from chatmemory_layers.sqlite.engine.migrations import migrate
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events import event_log
from chatmemory_layers.sqlite.legacy import legacy_rows
from chatmemory_layers.sqlite.memories import (
    memory_reads,
    memory_removal,
    memory_row,
    memory_search,
    memory_store,
    memory_writes,
    vector_search,
)
from chatmemory_layers.sqlite.messages import (
    conversation_lists,
    history_work,
    message_reads,
    message_summaries,
    message_writes,
)
from tests.unit.sql_statements import statements_of

MING = Namespace("小明")
MODULES = (
    conversation_lists,
    event_log,
    message_summaries,
    history_work,
    legacy_rows,
    memory_reads,
    memory_removal,
    memory_row,
    memory_search,
    memory_store,
    memory_writes,
    message_reads,
    message_writes,
    vector_search,
)
# What a statement itself makes, the index of words, and JSON that it is given may be read from end to end.
SCANNED = re.compile(r"SCAN (?!chain$|stale$|from_prefix$|\w+ VIRTUAL TABLE)")


STATEMENTS = statements_of(*MODULES)


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        yield connection


def plan(store: sqlite3.Connection, statement: str) -> list[str]:
    names = dict.fromkeys(re.findall(r":(\w+)", statement))
    rows = store.execute(f"EXPLAIN QUERY PLAN {statement}", names or [None] * statement.count("?"))
    return [step for _, _, _, step in rows.fetchall()]


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_no_statement_reads_a_whole_table(store: sqlite3.Connection, name: str) -> None:
    assert [step for step in plan(store, STATEMENTS[name]) if SCANNED.search(step)] == []


def test_a_statement_that_reads_a_whole_table_is_noticed(store: sqlite3.Connection) -> None:
    (step,) = plan(store, "SELECT * FROM atomic_memory WHERE content = :content")
    assert SCANNED.search(step)


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (memory_reads.SELECT_VALUE, "atomic_memory_key (user_key=? AND key=? AND superseded_at_us=?)"),
        (memory_reads.SELECT_VALUE_THEN, "atomic_memory_key (user_key=? AND key=?)"),
        (
            memory_reads.SELECT_LISTED,
            "atomic_memory_timeline (user_key=? AND (created_at_us,memory_id)<(?,?))",
        ),
        (
            memory_reads.SELECT_LISTED_SINCE,
            "atomic_memory_timeline (user_key=? AND created_at_us>? AND created_at_us<?)",
        ),
        (
            memory_reads.SELECT_REACH,
            "atomic_memory_timeline (user_key=? AND (created_at_us,memory_id)<(?,?))",
        ),
        (memory_search.SELECT_OLDEST_READ, "atomic_memory_recallable (user_key=?)"),
        (memory_search.SELECT_BY_TEXT, "atomic_memory_timeline (user_key=? AND created_at_us>?)"),
        (memory_reads.SELECT_LISTED_OF_SESSION, "atomic_memory_session (user_key=? AND session_id=?)"),
        (memory_reads.SELECT_LISTED_OF_KEYS, "atomic_memory_key (user_key=? AND key>? AND key<?)"),
        (memory_reads.SELECT_LISTED_OF_ATTRIBUTES, "atomic_memory_attribute (user_key=?)"),
        (memory_removal.SELECT_FORGOTTEN_CHAIN, "atomic_memory_id_of_user (memory_id=? AND user_key=?)"),
        (memory_removal.SELECT_EXPIRED, "atomic_memory_short_term (user_key=? AND created_at_us<?)"),
        (memory_search.COUNT_RECALLABLE_THEN, "atomic_memory_timeline (user_key=?)"),
        (
            conversation_lists.SELECT_RECENT_CONVERSATIONS,
            "chat_conversation_recency (recency>? AND recency<?)",
        ),
        (
            conversation_lists.SELECT_RECENT_OF_PREFIX,
            "sqlite_autoindex_chat_conversation_1 (conversation_id>? AND conversation_id<?)",
        ),
        (
            conversation_lists.SELECT_GRANTED_BY_ID,
            "chat_conversation_owner (owner_user=? AND conversation_id>?)",
        ),
        (
            conversation_lists.SELECT_GRANTED_RECENT,
            "chat_conversation_owner_recency (owner_user=? AND recency>? AND recency<?)",
        ),
    ],
)
def test_the_index_that_fits_is_the_one_that_is_used(
    store: sqlite3.Connection, statement: str, index: str
) -> None:
    used = {
        found[1]
        for step in plan(store, statement)
        if (found := re.match(r"SEARCH (?:row|atomic_memory|chat_conversation) USING INDEX (.*)", step))
    }
    assert used == {index}


@pytest.mark.parametrize(
    ("asked", "statement"),
    [
        (lambda store: memory_reads.value(store, MING, "城市"), memory_reads.SELECT_VALUE),
        (lambda store: memory_reads.value(store, MING, "城市", as_of=EPOCH), memory_reads.SELECT_VALUE_THEN),
        (lambda store: memory_reads.listed(store, MemoryListing(MING, 5)), memory_reads.SELECT_LISTED),
        (
            lambda store: memory_reads.listed(store, MemoryListing(MING, 5, key_prefix="")),
            memory_reads.SELECT_LISTED,
        ),
        (
            lambda store: memory_reads.listed(store, MemoryListing(MING, 5, key_prefix="城")),
            memory_reads.SELECT_LISTED_OF_KEYS,
        ),
        (
            lambda store: memory_reads.listed(store, MemoryListing(MING, 5, session_id="会议")),
            memory_reads.SELECT_LISTED_OF_SESSION,
        ),
        (
            lambda store: memory_removal.forget(Transaction(store.cursor()), Forgetting(MING)),
            memory_removal.SELECT_FORGOTTEN,
        ),
        (
            lambda store: memory_removal.forget(Transaction(store.cursor()), Forgetting(MING, memory_id="1")),
            memory_removal.SELECT_FORGOTTEN_CHAIN,
        ),
    ],
)
def test_what_names_few_is_looked_for_by_the_statement_that_finds_few(
    store: sqlite3.Connection, asked: Callable[[sqlite3.Connection], object], statement: str
) -> None:
    executed: list[str] = []
    store.set_trace_callback(executed.append)
    asked(store)
    store.set_trace_callback(None)
    # What is executed is shown with values in the place of names.
    shape = "(?s:.+)".join(map(re.escape, re.split(r":\w+", statement)))
    assert [bool(re.fullmatch(shape, shown)) for shown in executed] == [True]
