"""The candidates for a query: memories that share its words, are near its vector, or contain its text.

``vector_search.py`` finds the vectors; the filters of the search apply to both, in SQL.  The ranking of recall decides how
much a candidate is worth.  It needs the same bm25 on every backend.  The bm25 of FTS5 reads every match, which takes 80 ms
for three common words among 100,000 memories.  Here each word gives its newest memories; a rare word gives all of its
memories, and these count more.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import TEXT_READ, Candidate, Candidates, MemorySearch
from chatmemory_layers.sql.columns import BEGINNING_US
from chatmemory_layers.sqlite.memories.memory_row import (
    RECALLABLE,
    SEEN,
    TRUE,
    Parameters,
    Row,
    memory_of,
    passing,
    seen_by,
    tagged,
    true_at,
)
from chatmemory_layers.sqlite.memories.vector_search import VectorSearch

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

SELECT_PLACE = """
SELECT memory_user.user_key, next_vector, space_key FROM memory_user LEFT JOIN memory_space
    ON memory_space.user_key = memory_user.user_key AND model = :model AND dim = :dim
WHERE user_name = :user
"""
SELECT_BY_TEXT = f"""
SELECT * FROM memory_record WHERE {RECALLABLE} AND created_at_us >= :since_us AND instr(content, :text)
ORDER BY created_at_us DESC, memory_id DESC LIMIT :limit
"""
# When the oldest of the newest TEXT_READ memories that can be recalled now was created; it uses the index of those.
_OLDEST_READ: Final = f"""
SELECT created_at_us FROM atomic_memory WHERE {SEEN} AND memory_type = 'long_term' AND {{true}}
ORDER BY created_at_us DESC LIMIT 1 OFFSET {TEXT_READ - 1}
"""
SELECT_OLDEST_READ = _OLDEST_READ.format(true="superseded_at_us IS NULL")
SELECT_OLDEST_READ_THEN = _OLDEST_READ.format(true=TRUE)
COUNT_RECALLABLE = f"""
SELECT coalesce(sum(memories), 0), coalesce(sum(CASE WHEN space_key = :space_key THEN memories END), 0)
FROM memory_coverage WHERE {SEEN}
"""
COUNT_RECALLABLE_THEN = f"""
SELECT count(*), count(space_key = :space_key OR NULL) FROM atomic_memory
WHERE {SEEN} AND memory_type = 'long_term' AND {TRUE}
"""

SELECT_NEWEST = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :match ORDER BY rowid DESC LIMIT :limit"
SELECT_NEWEST_PASSING = f"""
SELECT memory_record.* FROM memory_fts CROSS JOIN memory_record ON memory_key = memory_fts.rowid
WHERE memory_fts MATCH :match AND {RECALLABLE}
ORDER BY memory_fts.rowid DESC LIMIT :limit
"""

# The keys of the memory before and after each given one; the index of sessions holds long-term memories only.
_NEXT_TO: Final = f"""(
    SELECT id FROM atomic_memory
    WHERE memory_type = 'long_term' AND session_id = found.session_id AND {SEEN} AND {TRUE}
        AND (created_at_us, memory_id) {{side}} (found.created_at_us, found.memory_id)
    ORDER BY created_at_us {{order}}, memory_id {{order}} LIMIT 1
)"""
SELECT_BESIDE: Final = f"""
SELECT {_NEXT_TO.format(side="<", order="DESC")}, {_NEXT_TO.format(side=">", order="ASC")}
FROM json_each(:keys) AS wanted CROSS JOIN atomic_memory AS found ON found.id = wanted.value
"""
SESSION_COLUMN: Final = 10  # of memory_record

MEMORIES_PER_WORD: Final = 500
"""A word that more memories contain is common: a quarter of a millisecond is spent on it."""

_NOTHING: Final = Candidates((), matched_text=False, coverage=Coverage(0, 0))


def candidates(connection: sqlite3.Connection, search: MemorySearch, vectors: VectorSearch) -> Candidates:
    """Return the candidates of *search*, read on the *connection* of all searches with *vectors*."""
    space = search.space
    asked = {
        "user": search.namespace.user,
        "model": space and space.model,
        "dim": space and space.dim,
    }
    place = connection.execute(SELECT_PLACE, asked).fetchone()
    if place is None:
        return _NOTHING
    user_key, next_seq, space_key = place
    parameters: Parameters = {
        **seen_by(search.namespace),
        **true_at(search.as_of),
        **tagged(search.tags),
        "category": search.category,
        "limit": search.limit,
        "space_key": space_key,
    }
    words = words_of(user_key, search.terms)
    rows = rows_by_words(connection, words, parameters, limit=search.limit)
    matched_text = False
    if not rows:
        rows = _rows_by_text(connection, search, parameters)
        matched_text = bool(rows)
    found = {row[-1]: row for row in rows}
    best = rows[: search.beside]
    similarity: dict[int, float] = {}
    if search.vector is not None and space_key is not None:
        nearest, similarity = vectors.search(
            connection,
            space_key,
            search.vector,
            parameters,
            next_seq=next_seq,
            limit=search.limit,
            also=found,
        )
        found |= {row[-1]: row for row in nearest}
        best += nearest[: search.beside]
    beside = _rows_beside(connection, best, found, parameters)
    if search.vector is not None and space_key is not None:
        more = [key for key in beside if key not in similarity]
        similarity |= vectors.cosines(connection, space_key, search.vector, more)
    found |= beside
    return Candidates(
        tuple(
            [
                Candidate(memory_of(row, search.namespace), row[-2], similarity.get(key))
                for key, row in found.items()
            ]
        ),
        matched_text,
        _counted(connection, COUNT_RECALLABLE if search.as_of is None else COUNT_RECALLABLE_THEN, parameters),
    )


def _rows_beside(
    connection: sqlite3.Connection, best: Sequence[Row], found: Collection[int], parameters: Parameters
) -> dict[int, Row]:
    """Return the memories before and after each of *best* in its session whose keys are not among *found*, by their keys."""
    keys = [*{row[-1] for row in best if row[SESSION_COLUMN] is not None}]
    if not keys:
        return {}
    pairs = connection.execute(SELECT_BESIDE, {**parameters, "keys": json.dumps(keys)}).fetchall()
    beside = dict.fromkeys(key for pair in pairs for key in pair if key is not None and key not in found)
    rows = passing(connection, [*beside], {**parameters, "limit": len(beside)})
    return {row[-1]: row for row in rows}


def _rows_by_text(connection: sqlite3.Connection, search: MemorySearch, parameters: Parameters) -> list[Row]:
    statement = SELECT_OLDEST_READ if search.as_of is None else SELECT_OLDEST_READ_THEN
    oldest = connection.execute(statement, parameters).fetchone()
    asked = {**parameters, "text": search.text, "since_us": BEGINNING_US if oldest is None else oldest[0]}
    return connection.execute(SELECT_BY_TEXT, asked).fetchall()


def _counted(connection: sqlite3.Connection, statement: str, parameters: Parameters) -> Coverage:
    memories, embedded = connection.execute(statement, parameters).fetchone()
    return Coverage(embedded, memories)


def words_of(user_key: int, terms: Sequence[str]) -> list[str]:
    """Return *terms* as words of the index, each as a string of FTS5, so that nothing in it is read as syntax."""
    return [f'"{user_key}u{term.replace(chr(34), "")}"' for term in terms]


def rows_by_words(
    connection: sqlite3.Connection, words: Sequence[str], parameters: Parameters, *, limit: int
) -> list[Row]:
    """Return at most *limit* memories that contain one of *words*; *parameters* fill in ``RECALLABLE``."""
    worth = defaultdict[int, float](float)
    common: list[str] = []
    for word in words:
        keys = _newest(connection, word)
        for key in keys:
            worth[key] += 1 / len(keys)
        if len(keys) == MEMORIES_PER_WORD:
            common.append(word)
    if len(common) > 1:  # what has them all may be older than the newest of each
        for key in _newest(connection, " AND ".join(common)):
            worth[key] = max(worth[key], len(common) / MEMORIES_PER_WORD)
    rows = passing(connection, sorted(worth, key=worth.__getitem__, reverse=True), parameters)
    if common and len(rows) < limit:  # the filters have dropped too many
        known = {row[-1] for row in rows}
        more = {**parameters, "match": " OR ".join(common)}
        found = connection.execute(SELECT_NEWEST_PASSING, more).fetchall()
        rows += [row for row in found if row[-1] not in known][: limit - len(rows)]
    return rows


def _newest(connection: sqlite3.Connection, match: str) -> list[int]:
    newest = {"match": match, "limit": MEMORIES_PER_WORD}
    return [key for (key,) in connection.execute(SELECT_NEWEST, newest).fetchall()]
