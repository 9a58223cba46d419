"""A store can be spread over servers by a column that every statement names."""

import pkgutil
import re
from importlib import import_module
from typing import Final

import pytest

import chatmemory_layers.postgres
from chatmemory import Failure, RepositoryError, Success
from chatmemory_layers.postgres.distribute import EXIT_UNREACHABLE, asked, main
from chatmemory_layers.postgres.engine.distribution import NO_CITUS, DistributionRefusedError
from chatmemory_layers.postgres.engine.spread_keys import EVERYWHERE, SPREAD_BY
from tests.fake_citus import calls_of, fake_citus
from tests.unit.postgres.beside import run_in
from tests.unit.sql_statements import statements_of


async def test_a_plain_server_says_of_each_table_what_would_happen_and_refuses_nothing(own_dsn: str) -> None:
    told = (await asked(own_dsn, is_check=True)).unwrap()
    assert {table.name: table.key for table in told.tables if table.key} == SPREAD_BY
    assert [table.name for table in told.tables if not table.key] == [*EVERYWHERE]
    assert {table.group for table in told.tables} == {"", "conversation", "memory_user", "item"}
    assert (told.refusals, told.is_possible) == ((), False)
    assert not any(table.is_done for table in told.tables)
    assert (
        str(told.tables[3]) == "conversation_tree: would be distributed by conversation_id, with conversation"
    )
    assert await asked(own_dsn, is_check=False) == Failure(DistributionRefusedError((NO_CITUS,)))


async def test_a_missing_table_is_named_with_its_cure_before_any_is_spread(own_dsn: str) -> None:
    await run_in(own_dsn, "DROP TABLE item_version")
    refusal = "item_version: the table is missing: open the store once with this edition, which makes it"
    assert (await asked(own_dsn, is_check=True)).unwrap().refusals == (refusal,)
    await fake_citus(own_dsn)
    assert await asked(own_dsn, is_check=False) == Failure(DistributionRefusedError((refusal,)))
    assert await calls_of(own_dsn) == []


async def test_tables_are_spread_once_those_of_one_key_together(own_dsn: str) -> None:
    await fake_citus(own_dsn)
    told = (await asked(own_dsn, is_check=False)).unwrap()
    assert all(table.is_done for table in told.tables)
    calls = await calls_of(own_dsn)
    assert calls[:4] == [
        *(f"reference {name}" for name in EVERYWHERE),
        "conversation by conversation_id with none",
        "conversation_tree by conversation_id with conversation",
    ]
    assert len(calls) == 2 * len(told.tables)
    assert await asked(own_dsn, is_check=False) == Success(told)
    assert await calls_of(own_dsn) == calls


async def test_what_was_interrupted_is_finished(own_dsn: str) -> None:
    await fake_citus(own_dsn)
    await run_in(
        own_dsn, "SELECT create_distributed_table('conversation', 'conversation_id', colocate_with => 'none')"
    )
    before = await calls_of(own_dsn)
    told = (await asked(own_dsn, is_check=False)).unwrap()
    assert all(table.is_done for table in told.tables)
    assert "conversation by conversation_id with none" not in (await calls_of(own_dsn))[len(before) :]


async def test_a_table_that_is_spread_otherwise_is_refused_with_the_cure(own_dsn: str) -> None:
    await fake_citus(own_dsn)
    await run_in(own_dsn, "SELECT create_reference_table('chat_message')")
    refusal = "chat_message: it is a table of another kind already: SELECT undistribute_table('chat_message'), then run this again"
    assert await asked(own_dsn, is_check=False) == Failure(DistributionRefusedError((refusal,)))


async def test_what_the_server_refuses_is_a_typed_error(own_dsn: str) -> None:
    await fake_citus(own_dsn)
    await run_in(
        own_dsn,
        "CREATE OR REPLACE FUNCTION citus.create_reference_table(relation regclass) RETURNS void LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE 'not enough worker nodes' USING ERRCODE = 'insufficient_resources'; END $$",
    )
    outcome = await asked(own_dsn, is_check=False)
    error = outcome.failure()
    assert isinstance(error, RepositoryError)
    assert "not enough worker nodes" in str(error)


def test_the_command_says_what_cannot_be_reached_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["postgresql://nobody@127.0.0.1:1/nothing"]) == EXIT_UNREACHABLE
    assert capsys.readouterr().err.startswith("distribute the store: unavailable")


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
    "memory_history.SELECT_NEXT_USER": "an export goes from user to user",
    "migrations.SELECT_IS_AHEAD": "numbers of transactions are of the server",
    "store_checks.COUNT_WORK": "who runs a server looks at all that waits",
    "event_log.UNNAME_TOMBSTONES": "whatever is old goes",
    "event_log.DELETE_CONVERSATION_EVENTS": "whatever is old goes",
    "event_log.DELETE_MEMORY_EVENTS": "whatever is old goes",
    "event_log.DELETE_ITEM_EVENTS": "whatever is old goes",
    "event_log.DELETE_EARLIER_ITEMS": "whatever is old goes",
    "shared_branches.SELECT_BRANCH": "a migration goes from branch to branch",
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
async def test_indexes_begin_with_the_key_and_nothing_counts_or_refers_across_keys(dsn: str) -> None:
    tables = {row["name"] for row in await run_in(dsn, TABLES)}
    assert tables == {*SPREAD_BY, *EVERYWHERE}
    assert {row["name"] for row in await run_in(dsn, PRIMARY_KEYS)} >= tables
    indexes = [(row["name"], row["first"]) for row in await run_in(dsn, UNIQUE_INDEXES)]
    assert len(indexes) > len(tables)
    assert [(name, first) for name, first in indexes if SPREAD_BY.get(name, first) != first] == []
    assert {row["name"] for row in await run_in(dsn, COUNTED)} <= {*EVERYWHERE}
    for row in await run_in(dsn, FOREIGN_KEYS):
        key = SPREAD_BY[row["name"]]
        assert f"{key}={key}" in row["pairs"]
        assert SPREAD_BY[row["referred"]] == key


def lacks_key(statement: str) -> list[str]:
    """Return the keys that *statement* does not name as often as tables that are spread by them."""
    lacking: list[str] = []
    for key in sorted(set(SPREAD_BY.values())):
        tables = "|".join(table for table, own in SPREAD_BY.items() if own == key)
        met = len(re.findall(rf"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(?:{tables})\b", statement))
        named = len(re.findall(rf"\b{key}\s*=\s*(?:\$\d|ANY\b|\w+\.{key}\b)", statement))
        named += len(re.findall(rf"\bUSING \([^)]*\b{key}\b", statement))
        named += len(re.findall(rf"\bINTO (?:{tables})(?: AS \w+)?\s*\([^)]*\b{key}\b", statement))
        if named < met:
            lacking.append(key)
    return lacking


def test_every_statement_names_the_key_of_what_it_touches() -> None:
    assert lacks_key("SELECT FROM atomic_memory JOIN memory_use USING (memory_key) WHERE user_key = $1")
    assert lacks_key("INSERT INTO atomic_memory (memory_key, content) VALUES ($1, $2)")  # so it can fail
    assert len(STATEMENTS) > 70
    lacking = {name for name, statement in STATEMENTS.items() if lacks_key(statement)}
    assert lacking == WHOLE_STATEMENTS.keys()
