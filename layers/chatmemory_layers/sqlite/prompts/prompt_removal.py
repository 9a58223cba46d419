"""Deletes turns of past chats: forgotten on request, or pruned because no source holds them any more.

The triggers of ``prompt_tables.py`` delete a turn's vector, code and words.
"""

import json
import logging
import sqlite3
import time
from collections.abc import Sequence
from typing import Final

from chatmemory.pastchats.prompt import PromptFilter
from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.memories.merged_words import merge_words
from chatmemory_layers.sqlite.prompts.prompt_filters import IS_MEANT, filter_parameters
from chatmemory_layers.sqlite.prompts.prompt_moves import ELSEWHERE
from chatmemory_layers.sqlite.prompts.prompt_row import plain

CHOOSE_MEANT = f"""
INSERT INTO staging.chosen_prompts (prompt_id)
SELECT id FROM prompts
WHERE {IS_MEANT} AND (
    :sources IS NULL
    OR source_path IN (SELECT value FROM json_each(:sources))
    OR id IN (
        SELECT prompt_id FROM prompt_aliases
        WHERE prompt_aliases.source_path IN (SELECT value FROM json_each(:sources))
    )
)
"""  # noqa: S608  the condition is a constant
# Turns without a source: their first source is missing, and no other source holds them.
CHOOSE_ABANDONED = f"""
INSERT INTO staging.chosen_prompts (prompt_id)
SELECT id FROM prompts
WHERE superseded_at IS NOT NULL OR (
    source_path IN (SELECT source_path FROM prompt_sources WHERE status = 'missing') AND {ELSEWHERE} IS NULL
)
"""  # noqa: S608  the place is a constant
CLEAR_CHOSEN = "DELETE FROM staging.chosen_prompts"
REMEMBER_FORGOTTEN = """
INSERT OR IGNORE INTO prompt_forgotten (content_hash)
SELECT content_hash FROM prompts WHERE id IN (SELECT prompt_id FROM staging.chosen_prompts)
"""
DELETE_CHOSEN = "DELETE FROM prompts WHERE id IN (SELECT prompt_id FROM staging.chosen_prompts)"

# The remaining turns of a missing source are held by another source, which replaces it.
HAND_OVER = f"""
UPDATE prompts SET source_path = {ELSEWHERE}
WHERE source_path IN (SELECT source_path FROM prompt_sources WHERE status = 'missing')
"""  # noqa: S608  the place is a constant
DELETE_IDLE_ALIASES = """
DELETE FROM prompt_aliases
WHERE source_path = (SELECT prompts.source_path FROM prompts WHERE prompts.id = prompt_id)
    OR source_path IN (SELECT source_path FROM prompt_sources WHERE status = 'missing')
"""
DELETE_MISSING_SOURCES = "DELETE FROM prompt_sources WHERE status = 'missing'"

EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"

MOST_ATTEMPTS: Final = 50
BETWEEN_ATTEMPTS_SECONDS: Final = 0.05

log: Final = logging.getLogger(__name__)


def forget(
    connection: sqlite3.Connection, which: PromptFilter, *, sources: Sequence[str], is_dry_run: bool
) -> int:
    """Delete turns so that no byte of them stays in the file, and record that they are not to be indexed again.

    Args:
        connection: writes the file.
        which: only turns that pass this filter.
        sources: only turns from these sources; empty: from all sources.
        is_dry_run: count the turns, and change nothing.

    Returns:
        the number of turns.
    """
    asked = {
        **filter_parameters(which),
        "sources": json.dumps(list(map(plain, sources))) if sources else None,
    }
    if is_dry_run:
        return _count(connection, CHOOSE_MEANT, asked)
    with transaction(connection):
        count = _choose(connection, CHOOSE_MEANT, asked)
        if count:
            connection.execute(REMEMBER_FORGOTTEN)
            connection.execute(DELETE_CHOSEN)
            merge_words(connection.execute, "prompts_fts")  # secure_delete overwrites the pages that it frees
        connection.execute(CLEAR_CHOSEN)
    if count:
        _empty_log(connection)
    return count


def prune(connection: sqlite3.Connection, *, is_dry_run: bool) -> int:
    """Delete the turns that are in no source any more, and the records of missing sources.

    Args:
        connection: writes the file.
        is_dry_run: count the turns, and change nothing.

    Returns:
        the number of turns.
    """
    if is_dry_run:
        return _count(connection, CHOOSE_ABANDONED, {})
    with transaction(connection):
        count = _choose(connection, CHOOSE_ABANDONED, {})
        connection.execute(DELETE_CHOSEN)
        connection.execute(HAND_OVER)
        connection.execute(DELETE_IDLE_ALIASES)
        connection.execute(DELETE_MISSING_SOURCES)
        connection.execute(CLEAR_CHOSEN)
    return count


def _choose(connection: sqlite3.Connection, statement: str, asked: dict[str, str | None]) -> int:
    connection.execute(CLEAR_CHOSEN)
    return connection.execute(statement, asked).rowcount


def _count(connection: sqlite3.Connection, statement: str, asked: dict[str, str | None]) -> int:
    connection.execute("BEGIN")  # for the temporary table only: it blocks no other process
    try:
        return _choose(connection, statement, asked)
    finally:
        connection.execute("ROLLBACK")


def _empty_log(connection: sqlite3.Connection) -> None:
    for _ in range(MOST_ATTEMPTS):
        (is_busy, *_) = connection.execute(EMPTY_LOG).fetchone()
        if not is_busy:
            return
        # Another process is emptying the log: SQLite does not wait for that, whatever the timeout.
        time.sleep(BETWEEN_ATTEMPTS_SECONDS)
    log.warning("the log could not be emptied: another connection has been reading for too long")
