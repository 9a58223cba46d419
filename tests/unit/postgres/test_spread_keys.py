"""Every table of conversations, memories and items can be spread over many servers by one column, which every statement names."""

import pkgutil
import re
from importlib import import_module
from typing import Final

import pytest

import chatmemory_layers.postgres
from chatmemory_layers.postgres.engine.spread_keys import EVERYWHERE, SPREAD_BY
from tests.fake_citus import run_in
from tests.unit.sql_statements import statements_of

KEYS: Final = SPREAD_BY
WHOLE_TABLES: Final = {*EVERYWHERE}
WHOLE_STATEMENTS: Final = {
    "history_work.SELECT_CANDIDATES": "a worker looks for what is due, whosever it is",
    "message_reads.SELECT_CONVERSATIONS_BY_ID": "a list goes from id to id",
    "message_reads.SELECT_RECENT_CONVERSATIONS": "what changed last is looked for among all",
    "message_reads.SELECT_RECENT_OF_PREFIX": "what changed last is looked for among ids that begin alike",
    "message_reads.SELECT_GRANTED_BY_ID": "a list of what some owners have goes from id to id",
    "message_reads.SELECT_GRANTED_RECENT": "what changed last is looked for among all that some owners have",
    "item_repository.SWEEP": "whatever has expired goes",
    "event_log.SELECT_ACTED": "who runs a server reads who did what, whosever it is",
    "event_log.SELECT_CHANGES": "who follows the log follows all of it",
    "whole_memories.SELECT_NEXT_USER": "an export goes from user to user",
    "server_identity.SELECT_IS_AHEAD": "numbers of transactions are of the server",
    "health_statements.COUNT_WORK": "who runs a server looks at all that waits",
    "store_checks.COUNT_WORK": "the same",
    "event_log.UNNAME_TOMBSTONES": "whatever is old goes",
    "event_log.DELETE_CONVERSATION_EVENTS": "whatever is old goes",
    "event_log.DELETE_MEMORY_EVENTS": "whatever is old goes",
    "event_log.DELETE_ITEM_EVENTS": "whatever is old goes",
    "event_log.DELETE_EARLIER_ITEMS": "whatever is old goes",
}

MODULES: Final = [
    import_module(found.name)
    for found in pkgutil.walk_packages(
        chatmemory_layers.postgres.__path__, f"{chatmemory_layers.postgres.__name__}."
    )
]
STATEMENTS: Final = statements_of(*MODULES)

UNIQUE_INDEXES: Final = """SELECT pg_class.relname AS name, coalesce(attname, '') AS first FROM pg_index
JOIN pg_class ON pg_class.oid = indrelid AND relnamespace = 'public'::regnamespace
LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
WHERE indisunique
"""
PRIMARY_KEYS: Final = (
    "SELECT conrelid::regclass::text AS name FROM pg_constraint WHERE contype = 'p' AND conrelid > 0"
)
TABLES: Final = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
COUNTED: Final = """SELECT relname AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE attidentity <> '' AND relnamespace = 'public'::regnamespace
UNION
SELECT coalesce(refobjid::regclass::text, relname) FROM pg_class
LEFT JOIN pg_depend ON pg_depend.objid = pg_class.oid AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i')
WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
"""
FOREIGN_KEYS: Final = """SELECT conrelid::regclass::text AS name, confrelid::regclass::text AS referred,
    ARRAY(SELECT here.attname || '=' || there.attname
        FROM unnest(conkey, confkey) AS pair (here, there)
        JOIN pg_attribute AS here ON here.attrelid = conrelid AND here.attnum = pair.here
        JOIN pg_attribute AS there ON there.attrelid = confrelid AND there.attnum = pair.there) AS pairs
FROM pg_constraint WHERE contype = 'f'
"""


@pytest.mark.usefixtures("database")
async def test_every_table_has_its_key_first_in_each_unique_index(dsn: str) -> None:
    tables = {row["name"] for row in await run_in(dsn, TABLES)}
    assert tables == KEYS.keys() | WHOLE_TABLES
    assert {row["name"] for row in await run_in(dsn, PRIMARY_KEYS)} >= tables
    indexes = [(row["name"], row["first"]) for row in await run_in(dsn, UNIQUE_INDEXES)]
    assert len(indexes) > len(tables)
    assert [(name, first) for name, first in indexes if KEYS.get(name, first) != first] == []


@pytest.mark.usefixtures("database")
async def test_nothing_counts_and_nothing_refers_across_keys(dsn: str) -> None:
    assert {row["name"] for row in await run_in(dsn, COUNTED)} <= WHOLE_TABLES
    references = await run_in(dsn, FOREIGN_KEYS)
    for row in references:
        key = KEYS[row["name"]]
        assert f"{key}={key}" in row["pairs"]
        assert KEYS[row["referred"]] == key


def lacks_key(statement: str) -> list[str]:
    """Return the keys that *statement* does not name as often as tables that are spread by them."""
    lacking: list[str] = []
    for key in sorted(set(KEYS.values())):
        tables = "|".join(table for table, own in KEYS.items() if own == key)
        met = len(re.findall(rf"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(?:{tables})\b", statement))
        named = len(re.findall(rf"\b{key}\s*=\s*(?:\$\d|ANY\b|\w+\.{key}\b)", statement))
        named += len(re.findall(rf"\bUSING \([^)]*\b{key}\b", statement))
        named += len(re.findall(rf"\bINTO (?:{tables})(?: AS \w+)?\s*\([^)]*\b{key}\b", statement))
        if named < met:
            lacking.append(key)
    return lacking


def test_every_statement_names_the_key_of_what_it_touches() -> None:
    assert len(STATEMENTS) > 70
    lacking = {name for name, statement in STATEMENTS.items() if lacks_key(statement)}
    assert lacking == WHOLE_STATEMENTS.keys()


def test_a_statement_without_the_key_is_noticed() -> None:
    statements = (
        "SELECT content FROM chat_message WHERE id = $1",
        "DELETE FROM memory_use WHERE memory_key = ANY ($1)",
        "INSERT INTO atomic_memory (memory_key, content) VALUES ($1, $2)",
        "SELECT FROM atomic_memory JOIN memory_embedding USING (memory_key) WHERE user_key = $1",
        "UPDATE stored_item SET value = $2 WHERE name_hash = $1",
    )
    assert all(lacks_key(statement) for statement in statements)
