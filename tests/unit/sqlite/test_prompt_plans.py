"""What is asked of an index of past chats for one source, one turn or one search walks through no table of all turns."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from chatmemory_layers.sqlite.prompts import (
    prompt_commit,
    prompt_conversations,
    prompt_moves,
    prompt_reads,
    prompt_removal,
    prompt_staging,
    prompt_words,
    prompt_writes,
)
from chatmemory_layers.sqlite.prompts.prompt_staging import prepare_staging
from chatmemory_layers.sqlite.prompts.prompt_tables import migrate_prompts
from chatmemory_layers.sqlite.prompts.vectors import prompt_scans, prompt_vectors
from tests.unit.sql_statements import statements_of

STATEMENTS = statements_of(
    prompt_commit,
    prompt_conversations,
    prompt_moves,
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
    "prompt_conversations.SELECT_CONVERSATIONS",
    "prompt_reads.COUNT_PROMPTS",
    "prompt_reads.COUNT_CONVERSATIONS",
    "prompt_reads.COUNT_VECTORS",
    "prompt_reads.SELECT_VECTORS",
    "prompt_reads.SELECT_WITHOUT_ROW",
    "prompt_removal.CHOOSE_MEANT",
    "prompt_removal.CHOOSE_ABANDONED",
    "prompt_removal.DELETE_IDLE_ALIASES",
    "prompt_writes.COUNT_PROMPTS",
}
NEEDS_SQLITE_VEC = {"prompt_scans.SELECT_NEAREST"}
# To search for whatever has a conversation is a walk by another name.
OF_ALL_TURNS = re.compile(
    r"SCAN (main\.)?(prompts|kept|prompt_vectors|prompt_codes|prompt_aliases|copied|theirs|own)\b"
    r"|SEARCH prompts USING .*\(conversation_id>\?\)"
)


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate_prompts(connection)
        prepare_staging(connection)
        yield connection


def plan_of(store: sqlite3.Connection, statement: str) -> list[str]:
    """Return the steps in which a statement is carried out."""
    names = dict.fromkeys(re.findall(r":(\w+)", statement))
    rows = store.execute(f"EXPLAIN QUERY PLAN {statement}", names or [None] * statement.count("?"))
    return [step for _, _, _, step in rows.fetchall()]


def walks(store: sqlite3.Connection, statement: str) -> list[str]:
    """Return the tables of all turns that are walked through."""
    return [step for step in plan_of(store, statement) if OF_ALL_TURNS.match(step)]


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - ABOUT_EVERYTHING - NEEDS_SQLITE_VEC))
def test_no_statement_walks_through_all_turns(store: sqlite3.Connection, name: str) -> None:
    assert walks(store, STATEMENTS[name]) == []


@pytest.mark.parametrize("name", sorted(ABOUT_EVERYTHING))
def test_what_is_about_everything_is_named_so(store: sqlite3.Connection, name: str) -> None:
    assert walks(store, STATEMENTS[name]) != []


@pytest.mark.parametrize("name", ["prompt_conversations.SELECT_CONVERSATIONS", "prompt_reads.COUNT_PROMPTS"])
def test_what_walks_through_the_turns_reads_an_index_and_not_their_long_rows(
    store: sqlite3.Connection, name: str
) -> None:
    (walk,) = walks(store, STATEMENTS[name])
    assert "prompts USING COVERING INDEX prompts_conversation_order" in walk


def test_a_conversation_is_read_in_the_order_of_the_index(store: sqlite3.Connection) -> None:
    for name in ("prompt_reads.SELECT_BEFORE", "prompt_conversations.SELECT_TURNS_BEHIND"):
        assert "TEMP B-TREE" not in " ".join(plan_of(store, STATEMENTS[name]))
