"""What a call costs does not grow with the store: SQLite's own steps are counted, not time."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final

import pytest

from chatmemory import Granted, Namespace, Principal, acting_as
from chatmemory.conversation.message_repository import Append, ConversationListing, MessageDraft, PageQuery
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.longterm.repository_values import TEXT_READ, MemoryListing, MemorySearch
from chatmemory_layers.sqlite.engine.migrations import migrate
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.memories import memory_reads, memory_store
from chatmemory_layers.sqlite.memories.memory_search import candidates
from chatmemory_layers.sqlite.memories.vector_search import VectorSearch
from chatmemory_layers.sqlite.messages import message_reads, message_writes

MING: Final = Namespace("小明")
STEPS_AT_ONCE: Final = 50
SMALL, LARGE = TEXT_READ + 1_000, 4 * (TEXT_READ + 1_000)
GROWTH: Final = 1.3  # trees are a level higher, and a word has another segment

FILL_MEMORIES = """
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :count)
INSERT INTO atomic_memory (memory_id, user_key, app_type, timestamp, created_at_us, content, search_terms, memory_type,
    role, source, confidence)
SELECT printf('m%07d', n), 1, '', n, n * 1000000, 'fact ' || n, 'fact n' || n || ' w' || (n % 100), 'long_term', 'user',
    'user_stated', 1.0 FROM number
"""
FILL_CONVERSATIONS = """
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :count)
INSERT INTO chat_conversation (conversation_id, version, next_seq, rewritten_at_version, summarized_place, message_count,
    view_count, view_tokens, open_count, deleted_count, created_at_us, updated_at_us, owner_user, owner_app)
SELECT printf('c%07d', n), 1, 2, 0, 0, n % 10 > 0, 1, 1, 1, 0, n * 1000000, n * 1000000, 'u' || (n % 3), '' FROM number
"""


def filled(count: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    connection.execute("BEGIN")
    connection.execute("INSERT INTO memory_user (user_name) VALUES ('小明')")
    connection.execute(FILL_MEMORIES, {"count": count})
    connection.execute(FILL_CONVERSATIONS, {"count": count})
    optimize = "INSERT INTO memory_fts (memory_fts) VALUES ('optimize')"  # to the same number of segments
    connection.execute(optimize)
    connection.execute("COMMIT")
    return connection


@pytest.fixture(scope="module")
def stores() -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
    with closing(filled(SMALL)) as small, closing(filled(LARGE)) as large:
        yield small, large


def steps(connection: sqlite3.Connection, call: Callable[[sqlite3.Connection], Any]) -> int:
    """Return how many steps SQLite's virtual machine takes for *call*, in fifties; what it writes is undone."""
    taken = 0

    def take() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.execute("BEGIN")
    connection.set_progress_handler(take, STEPS_AT_ONCE)
    try:
        call(connection)
    finally:
        connection.set_progress_handler(None, 0)
        connection.execute("ROLLBACK")
    return taken


def searched(*terms: str, text: str = "nowhere") -> Callable[[sqlite3.Connection], Any]:
    return lambda store: candidates(store, MemorySearch(MING, text, terms, limit=50), VectorSearch())


def listed(**asked: Any) -> Callable[[sqlite3.Connection], Any]:
    return lambda store: message_reads.conversations(store, ConversationListing(20, **asked))


def listed_as_somebody(**asked: Any) -> Callable[[sqlite3.Connection], Any]:
    def work(store: sqlite3.Connection) -> Any:
        grants = (Granted(Namespace("u1")), Granted(Namespace("u2")))
        with acting_as(Principal(name="u1", namespace=Namespace("u1"), granted=grants)):
            found = message_reads.conversations(store, ConversationListing(20, **asked))
        assert len(found) == 20
        return found

    return work


def containing(store: sqlite3.Connection) -> Any:
    since = memory_reads.reach(store, MING, TEXT_READ)
    assert since is not None
    return memory_reads.listed(store, MemoryListing(MING, 20, containing="nowhere", since=since))


def written(store: sqlite3.Connection, write: Callable[[Transaction], Any]) -> Any:
    """Write as a group of one does: also what waits for the end of the transaction."""
    group = Transaction(store.cursor())
    answer = write(group)
    group.write_waiting()
    for held in group.changed:
        held.save(group)
    return answer


def appended(store: sqlite3.Connection) -> Any:
    draft = MessageDraft("new", "user", "你好", START, None, tokens=1)
    return written(
        store, lambda group: message_writes.append(group, Append("c0000007", (draft,), START, None))
    )


def stored(store: sqlite3.Connection) -> Any:
    new = remembered("new", namespace=MING, terms="fact new")
    return written(store, lambda group: memory_store.store(group, (new,)))


CALLS: Final[dict[str, Callable[[sqlite3.Connection], Any]]] = {
    "a recall by words": searched("fact", "w7"),
    "a recall by a word that no memory has": searched("nothing"),
    "a recall by a text without words": searched(text=":-)"),
    "the coverage": searched("n7"),
    "the newest conversations": listed(order="recent"),
    "the newest conversations that begin alike": listed(order="recent", prefix="c000001"),
    "conversations by id": listed(),
    "the newest conversations of somebody": listed_as_somebody(order="recent"),
    "conversations of somebody by id": listed_as_somebody(),
    "a list of memories": lambda store: memory_reads.listed(store, MemoryListing(MING, 20)),
    "a page of memories that contain a text": containing,
    "a page of messages": lambda store: message_reads.page(store, PageQuery("c0000007", "model", 20)),
    "an append": appended,
    "a memory that is remembered": stored,
}


def test_a_call_costs_the_same_in_a_larger_store(
    stores: tuple[sqlite3.Connection, sqlite3.Connection],
) -> None:
    def growing(call: Callable[[sqlite3.Connection], Any]) -> tuple[int, int] | None:
        small, large = (steps(store, call) for store in stores)
        return (small, large) if large > GROWTH * small + 2 else None

    assert {name: grown for name, call in CALLS.items() if (grown := growing(call))} == {}
    count = "SELECT count(content) FROM atomic_memory"
    assert growing(lambda store: store.execute(count).fetchall())  # so the test can fail


def counted(store: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return store.execute(
        """
        SELECT user_key, app_type, coalesce(space_key, 0), count(*) FROM atomic_memory
        WHERE memory_type = 'long_term' AND superseded_at_us IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        """
    ).fetchall()


def test_what_is_counted_as_it_is_written_is_what_is_there() -> None:
    with closing(filled(30)) as store:
        for change in (
            "UPDATE atomic_memory SET superseded_at_us = 5 WHERE id < 5",
            "UPDATE atomic_memory SET space_key = 7 WHERE id BETWEEN 3 AND 9",
            "UPDATE atomic_memory SET superseded_at_us = NULL WHERE id < 4",
            "UPDATE atomic_memory SET memory_type = 'short_term' WHERE id = 8",
            "UPDATE atomic_memory SET app_type = 'notes', user_key = 2 WHERE id > 25",
            "UPDATE atomic_memory SET use_count = 3",
            "DELETE FROM atomic_memory WHERE id % 4 = 0",
            "DELETE FROM atomic_memory",
        ):
            store.execute(change)
            kept = store.execute("SELECT * FROM memory_coverage ORDER BY 1, 2, 3").fetchall()
            assert kept == counted(store), change
