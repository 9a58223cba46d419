"""What is asked of an index of past chats for one source, one turn or one search walks through no table of all turns."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from chatmemory_layers.sqlite import (
    prompt_commit,
    prompt_reads,
    prompt_removal,
    prompt_scans,
    prompt_staging,
    prompt_vectors,
    prompt_words,
    prompt_writes,
)
from chatmemory_layers.sqlite.migrations import migrate
from chatmemory_layers.sqlite.prompt_migrations import PROMPT_MIGRATIONS
from chatmemory_layers.sqlite.prompt_staging import prepare_staging
from tests.unit.sql_statements import statements_of

STATEMENTS = statements_of(
    prompt_commit,
    prompt_reads,
    prompt_removal,
    prompt_scans,
    prompt_staging,
    prompt_vectors,
    prompt_words,
    prompt_writes,
)
# Of all turns there are: counts, exports, what a person wants gone, and what no index can know.
ABOUT_EVERYTHING = {
    "prompt_reads.COUNT_PROMPTS",
    "prompt_reads.COUNT_CONVERSATIONS",
    "prompt_reads.COUNT_EMBEDDINGS",
    "prompt_reads.COUNT_MODELS",
    "prompt_reads.SELECT_WITHOUT_ROW",
    "prompt_removal.CHOOSE_MEANT",
    "prompt_removal.CHOOSE_ABANDONED",
    "prompt_removal.DELETE_IDLE_ALIASES",
    "prompt_writes.COUNT_PROMPTS",
}
NEEDS_SQLITE_VEC = {"prompt_scans.SELECT_NEAREST"}
OF_ALL_TURNS = re.compile(
    r"SCAN (main\.)?(prompts|kept|prompt_embeddings|prompt_codes|prompt_aliases|copied|theirs|own)\b"
)


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, PROMPT_MIGRATIONS)
        prepare_staging(connection)
        yield connection


def walks(store: sqlite3.Connection, statement: str) -> list[str]:
    """Return the tables of all turns that are walked through."""
    names = dict.fromkeys(re.findall(r":(\w+)", statement))
    rows = store.execute(f"EXPLAIN QUERY PLAN {statement}", names or [None] * statement.count("?"))
    return [step for _, _, _, step in rows.fetchall() if OF_ALL_TURNS.match(step)]


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - ABOUT_EVERYTHING - NEEDS_SQLITE_VEC))
def test_no_statement_walks_through_all_turns(store: sqlite3.Connection, name: str) -> None:
    assert walks(store, STATEMENTS[name]) == []


@pytest.mark.parametrize("name", sorted(ABOUT_EVERYTHING))
def test_what_is_about_everything_is_named_so(store: sqlite3.Connection, name: str) -> None:
    assert walks(store, STATEMENTS[name]) != []
