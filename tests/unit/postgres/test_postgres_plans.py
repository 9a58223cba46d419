"""Every statement finds its rows through an index, so that no call slows down as a conversation or a store grows."""

import re
from types import ModuleType
from typing import Any

import asyncpg

from chatmemory.settings import PostgresSettings
from chatmemory_layers.postgres import conversation_row, history_work, message_reads, message_writes
from chatmemory_layers.postgres.database import open_database

MODULES = (conversation_row, message_reads, message_writes, history_work)
FILL = """
INSERT INTO conversation SELECT 'c' || n, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0 FROM generate_series(1, 300) AS n;
INSERT INTO chat_message
    SELECT 'c' || n % 30, n, n, 'm' || n, 'user', repeat('words ', 20), n, NULL, 20, CASE WHEN n % 2 = 0 THEN 's' END
    FROM generate_series(1, 30000) AS n;
INSERT INTO summarization_metadata
    SELECT 'c' || n % 30, 'about ' || n, 's' || n, 0, 0, 'skill', FALSE, 0 FROM generate_series(1, 6000) AS n;
INSERT INTO summary_coverage
    SELECT 'c' || n % 30, 'm' || n, 'about ' || n / 10, n % 10 FROM generate_series(1, 30000) AS n;
INSERT INTO history_work SELECT 'c' || n, n, 0, NULL, NULL FROM generate_series(1, 5000) AS n;
ANALYZE
"""


def statements_of(module: ModuleType) -> dict[str, str]:
    """Return the statements that a module defines, by name."""
    words = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for name, value in vars(module).items()
        if isinstance(value, str) and value.lstrip().startswith(words)
    }


STATEMENTS = {name: statement for module in MODULES for name, statement in statements_of(module).items()}
TABLES = ("conversation", "chat_message", "summarization_metadata", "summary_coverage", "history_work")


async def plan_of(connection: Any, statement: str) -> str:
    """Ask for the generic plan, the one that serves whatever the arguments are."""
    arguments = ", ".join(["NULL"] * max(map(int, re.findall(r"\$(\d+)", statement))))
    await connection.execute(f"PREPARE asked AS {statement}")
    rows = await connection.fetch(f"EXPLAIN (COSTS OFF) EXECUTE asked ({arguments})")
    await connection.execute("DEALLOCATE asked")
    return "\n".join(row[0] for row in rows)


async def test_no_statement_reads_a_whole_table(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn)):
        pass
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(FILL)
        await connection.execute("SET plan_cache_mode = force_generic_plan")
        plans = {name: await plan_of(connection, statement) for name, statement in STATEMENTS.items()}
    finally:
        await connection.close()
    assert len(plans) >= 20
    for name, plan in plans.items():
        scanned = [table for table in TABLES if f"Seq Scan on {table}" in plan]
        assert not scanned, f"{name} reads all of {scanned}:\n{plan}"
        assert "Hash Join" not in plan, f"{name} reads all of a conversation:\n{plan}"
        # A page may be sorted, a conversation may not: what LIMIT stands over comes out of an index in order.
        assert "Sort" not in plan.partition("Limit")[2], f"{name} sorts before it limits:\n{plan}"
