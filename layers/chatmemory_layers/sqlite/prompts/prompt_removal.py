"""``forget`` and ``prune``: delete turns of past chats, on request, or because no source holds them any more.

``mark_missing`` finds out which missing sources were only moved.  The triggers of ``prompt_tables.py`` delete a turn's
vector, code and words.
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
from chatmemory_layers.sqlite.prompts.prompt_row import IS_MEANT, filter_parameters, plain

# ruff: noqa: S608  the conditions are constants

MOST_COMPARED: Final = 20
"""How many sources that hold the longest text of a missing one are compared."""

LEAST_TURNS: Final = 2
"""How many turns two sources must have in common: one sentence may be said anywhere."""

MOST_ATTEMPTS: Final = 50
BETWEEN_ATTEMPTS_SECONDS: Final = 0.05

log: Final = logging.getLogger(__name__)

ELSEWHERE: Final = """
(SELECT min(prompt_aliases.source_path) FROM prompt_aliases
 WHERE prompt_id = prompts.id
     AND prompt_aliases.source_path NOT IN (SELECT source_path FROM prompt_sources WHERE status = 'missing'))
"""
"""Another source of a turn that is not missing; NULL: there is none."""

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
"""
# Turns without a source: their first source is missing, and no other source holds them.
CHOOSE_ABANDONED = f"""
INSERT INTO staging.chosen_prompts (prompt_id)
SELECT id FROM prompts
WHERE superseded_at IS NOT NULL OR (
    source_path IN (SELECT source_path FROM prompt_sources WHERE status = 'missing') AND {ELSEWHERE} IS NULL
)
"""
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
"""
DELETE_IDLE_ALIASES = """
DELETE FROM prompt_aliases
WHERE source_path = (SELECT prompts.source_path FROM prompts WHERE prompts.id = prompt_id)
    OR source_path IN (SELECT source_path FROM prompt_sources WHERE status = 'missing')
"""
DELETE_MISSING_SOURCES = "DELETE FROM prompt_sources WHERE status = 'missing'"
EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"

MARK_MISSING = """
UPDATE prompt_sources SET status = 'missing'
WHERE status <> 'missing' AND source_path IN (SELECT value FROM json_each(:sources))
"""
# For each missing source: the sources that hold its turns too, the one with most of them last.
SELECT_OTHERS = """
SELECT prompts.source_path, prompt_aliases.source_path
FROM prompts CROSS JOIN prompt_aliases ON prompt_aliases.prompt_id = prompts.id
WHERE prompts.source_path IN (SELECT value FROM json_each(:sources))
    AND prompt_aliases.source_path NOT IN (SELECT source_path FROM prompt_sources WHERE status = 'missing')
GROUP BY 1, 2 ORDER BY count(*), 2 DESC
"""
SELECT_OWNERS = """
SELECT prompt_aliases.source_path, prompts.source_path
FROM prompt_aliases CROSS JOIN prompts ON prompts.id = prompt_aliases.prompt_id
WHERE prompt_aliases.source_path IN (SELECT value FROM json_each(:sources))
    AND prompts.source_path NOT IN (SELECT source_path FROM prompt_sources WHERE status = 'missing')
GROUP BY 1, 2 ORDER BY count(*), 2 DESC
"""
HAND_OVER_THEIR_TURNS = f"""
UPDATE prompts SET source_path = {ELSEWHERE}
WHERE source_path IN (SELECT value FROM json_each(:sources)) AND {ELSEWHERE} IS NOT NULL
"""
DELETE_THEIR_ALIASES = (
    "DELETE FROM prompt_aliases WHERE source_path IN (SELECT value FROM json_each(:sources))"
)
DELETE_OWN_ALIASES = """
DELETE FROM prompt_aliases
WHERE source_path IN (SELECT value FROM json_each(:others))
    AND source_path = (SELECT prompts.source_path FROM prompts WHERE prompts.id = prompt_id)
"""
# Turns whose conversation id contains the name of their file, and the id without that name.  All other turns keep their
# identity wherever the file is; two of them with different identities are different turns, even with equal text.
SELECT_TURNS = """
SELECT replace(conversation_id, source_path, ''), format, role, timestamp, text_hash, length(content) FROM prompts
WHERE source_path = :source AND superseded_at IS NULL AND instr(conversation_id, source_path) > 0
ORDER BY conversation_id, turn_index, id
"""
# The plus keeps SQLite from using the index of an expression, which it would not recognise with a parameter in it.
SELECT_WITH_TEXT = """
SELECT source_path FROM prompt_sources
WHERE status = 'indexed' AND source_path IN (
    SELECT prompts.source_path FROM prompts
    WHERE substr(text_hash, 1, 12) = substr(:text_hash, 1, 12) AND +text_hash = :text_hash AND superseded_at IS NULL
)
LIMIT :most
"""
DELETE_REPEATED = """
DELETE FROM prompts
WHERE source_path = :source AND superseded_at IS NULL AND instr(conversation_id, source_path) > 0
"""
KEEP_SUPERSEDED = """
UPDATE prompts SET source_path = :other WHERE source_path = :source AND superseded_at IS NOT NULL
"""
DELETE_SOURCE = """
DELETE FROM prompt_sources
WHERE source_path = :source AND NOT EXISTS (SELECT 1 FROM prompts WHERE prompts.source_path = :source)
"""


def forget(
    connection: sqlite3.Connection, which: PromptFilter, *, sources: Sequence[str], is_dry_run: bool
) -> int:
    """Delete turns so that no byte of them stays in the file, and return how many; they are not to be indexed again.

    Without *sources*, turns from all sources are deleted; a dry run only counts them.
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
    """Delete the turns that are in no source any more, and the records of missing sources; return how many turns.

    A dry run only counts them.
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


def mark_missing(connection: sqlite3.Connection, sources: Sequence[str]) -> dict[str, str]:
    """Record that these sources no longer exist, and return the other source of each that was only moved; their turns stay.

    A renamed folder and a history that its tool compressed are found again by the identity of their turns: another
    source holds the same ones.  If the name of the file is part of that identity, the turns themselves are compared.
    """
    if not sources:
        return {}
    gone = {"sources": json.dumps(list(map(plain, sources)))}
    with transaction(connection):
        connection.execute(MARK_MISSING, gone)
        elsewhere = dict(connection.execute(SELECT_OWNERS, gone).fetchall())
        others = dict(connection.execute(SELECT_OTHERS, gone).fetchall())
        connection.execute(HAND_OVER_THEIR_TURNS, gone)
        connection.execute(DELETE_THEIR_ALIASES, gone)
        connection.execute(DELETE_OWN_ALIASES, {"others": json.dumps(sorted(set(others.values())))})
        elsewhere |= others
        for source in map(plain, sources):
            if (repeated := _repeated_in(connection, source)) is not None:
                connection.execute(DELETE_REPEATED, {"source": source})
                connection.execute(KEEP_SUPERSEDED, {"source": source, "other": repeated})
                elsewhere[source] = repeated
        return {
            source: other
            for source, other in elsewhere.items()
            if connection.execute(DELETE_SOURCE, {"source": source}).rowcount
        }


def _repeated_in(connection: sqlite3.Connection, source: str) -> str | None:
    """Return the source that begins with all the turns that only *source* holds."""
    rows = connection.execute(SELECT_TURNS, {"source": source}).fetchall()
    if len(rows) < LEAST_TURNS:
        return None
    turns = [row[:-1] for row in rows]
    *_, longest, _ = max(rows, key=lambda row: row[-1])
    asked = {"text_hash": longest, "most": MOST_COMPARED}
    for (other,) in connection.execute(SELECT_WITH_TEXT, asked).fetchall():
        theirs = connection.execute(SELECT_TURNS, {"source": other}).fetchall()
        if [row[:-1] for row in theirs[: len(turns)]] == turns:
            return str(other)
    return None
