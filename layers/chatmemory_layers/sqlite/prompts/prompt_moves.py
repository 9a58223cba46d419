"""Sources that are missing: finds out which of them were only moved, and which were deleted with their turns.

A renamed folder and a history that its tool compressed are found again by the identity of their turns: another source holds
the same ones.  If the name of the file is part of that identity, the turns themselves are compared.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.prompts.prompt_row import plain

# ruff: noqa: S608  the conditions are constants

MOST_COMPARED: Final = 20
"""How many sources that hold the longest text of a missing one are compared."""

LEAST_TURNS: Final = 2
"""How many turns two sources must have in common: one sentence may be said anywhere."""

ELSEWHERE: Final = """
(SELECT min(prompt_aliases.source_path) FROM prompt_aliases
 WHERE prompt_id = prompts.id
     AND prompt_aliases.source_path NOT IN (SELECT source_path FROM prompt_sources WHERE status = 'missing'))
"""
"""Another source of a turn that is not missing; NULL: there is none."""

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
HAND_OVER = f"""
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


class _Turn(NamedTuple):
    conversation: str
    format: str
    role: str
    timestamp: str | None
    text_hash: str


def mark_missing(connection: sqlite3.Connection, sources: Sequence[str]) -> dict[str, str]:
    """Record that these sources no longer exist; their turns stay."""
    if not sources:
        return {}
    gone = {"sources": json.dumps(list(map(plain, sources)))}
    with transaction(connection):
        connection.execute(MARK_MISSING, gone)
        elsewhere = dict(connection.execute(SELECT_OWNERS, gone).fetchall())
        others = dict(connection.execute(SELECT_OTHERS, gone).fetchall())
        connection.execute(HAND_OVER, gone)
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
    turns = [_Turn(*row[:-1]) for row in rows]
    *_, longest, _ = max(rows, key=lambda row: row[-1])
    asked = {"text_hash": longest, "most": MOST_COMPARED}
    for (other,) in connection.execute(SELECT_WITH_TEXT, asked).fetchall():
        theirs = connection.execute(SELECT_TURNS, {"source": other}).fetchall()
        if [_Turn(*row[:-1]) for row in theirs[: len(turns)]] == turns:
            return str(other)
    return None
