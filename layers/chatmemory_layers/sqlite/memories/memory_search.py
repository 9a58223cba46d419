"""What could belong to a query: memories that share its words, lie near its vector, or contain its text.

Vectors are found by ``vector_search.py``; the filters of the search hold for both, in SQL.  What a candidate is worth is
decided by the ranking of recall, which needs bm25 alike on every backend; that of FTS5 looks at every match, 80 ms for
three common words among 100,000 memories.  Here each word tells its newest memories, and those of a rare word, which are
all of them, count for more.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from attrs import define, field

from chatmemory.access.namespace import Namespace
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Candidate, Candidates, MemorySearch
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

if TYPE_CHECKING:
    from chatmemory_layers.sqlite.memories.vector_search import VectorSearch

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

SELECT_PLACE = """
SELECT memory_user.user_key, next_seq, space_key FROM memory_user LEFT JOIN memory_space
    ON memory_space.user_key = memory_user.user_key AND model = :model AND dim = :dim
WHERE user_id = :user
"""
SELECT_BY_TEXT = f"""
SELECT * FROM memory_record WHERE {RECALLABLE} AND instr(content, :text)
ORDER BY created_at_us DESC, memory_id DESC LIMIT :limit
"""
# Answered by atomic_memory_recallable alone.
COUNT_RECALLABLE = f"""
SELECT count(*), count(space_key = :space_key OR NULL) FROM atomic_memory
WHERE {SEEN} AND memory_type = 'long_term' AND superseded_at_us IS NULL
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

MEMORIES_PER_WORD: Final = 500
"""A word that more memories have is common: a quarter of a millisecond is spent on it."""

_NOTHING: Final = Candidates((), matched_text=False, coverage=Coverage(0, 0))


@final
@define(eq=False)
class MemorySearcher:
    """Searches on the reading connection, and keeps beside it what the next search can use."""

    vectors: VectorSearch | None = None
    data_version: int = 0
    coverages: dict[tuple[Namespace, int | None], Coverage] = field(
        factory=dict[tuple[Namespace, int | None], Coverage]
    )

    def search(self, connection: sqlite3.Connection, search: MemorySearch) -> Candidates:
        """See ``MemoryRepository.search``."""
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
            rows = connection.execute(SELECT_BY_TEXT, {**parameters, "text": search.text}).fetchall()
            matched_text = bool(rows)
        found = {row[-1]: row for row in rows}
        similarity: dict[int, float] = {}
        if search.vector is not None and space_key is not None:
            from chatmemory_layers.sqlite.memories.vector_search import Space, VectorSearch

            self.vectors = self.vectors or VectorSearch()
            space_now = Space(space_key, next_seq)
            nearest, similarity = self.vectors.search(
                connection, space_now, search.vector, parameters, limit=search.limit, also=found
            )
            found |= {row[-1]: row for row in nearest}
        return Candidates(
            tuple(
                [
                    Candidate(memory_of(row, search.namespace), row[-2], similarity.get(key))
                    for key, row in found.items()
                ]
            ),
            matched_text,
            self._coverage(connection, search, parameters, space_key),
        )

    def _coverage(
        self,
        connection: sqlite3.Connection,
        search: MemorySearch,
        parameters: Parameters,
        space_key: int | None,
    ) -> Coverage:
        """Count what can be recalled; what can be now, once until somebody writes."""
        if search.as_of is not None:
            return _counted(connection, COUNT_RECALLABLE_THEN, parameters)
        (data_version,) = connection.execute("PRAGMA data_version").fetchone()
        if data_version != self.data_version:
            self.data_version = data_version
            self.coverages.clear()
        scope = search.namespace, space_key
        if scope not in self.coverages:
            self.coverages[scope] = _counted(connection, COUNT_RECALLABLE, parameters)
        return self.coverages[scope]


def _counted(connection: sqlite3.Connection, statement: str, parameters: Parameters) -> Coverage:
    memories, embedded = connection.execute(statement, parameters).fetchone()
    return Coverage(embedded, memories)


def words_of(user_key: int, terms: Sequence[str]) -> list[str]:
    """Return *terms* as words of the index, each a string of FTS5: nothing in them is syntax."""
    return [f'"{user_key}u{term.replace(chr(34), "")}"' for term in terms]


def rows_by_words(
    connection: sqlite3.Connection, words: Sequence[str], parameters: Parameters, *, limit: int
) -> list[Row]:
    """Return at most *limit* memories that have one of *words*; *parameters* are those of ``RECALLABLE``."""
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
