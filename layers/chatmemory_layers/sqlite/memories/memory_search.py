"""What could belong to a query: memories that share its words, lie near its vector, or contain its text.

Words are found by ``word_search.py``, vectors by ``vector_search.py``; the filters of the search hold for both, in SQL.
What a candidate is worth is decided by the ranking of recall.
"""

import sqlite3
from collections.abc import Mapping
from typing import Final, final

from attrs import define, field

from chatmemory.longterm.memories import Namespace
from chatmemory.longterm.memory_repository import Candidate, Candidates, MemorySearch
from chatmemory.longterm.recall.recall import Coverage
from chatmemory_layers.sqlite.memories.memory_filters import (
    RECALLABLE,
    SEEN,
    TRUE,
    Parameters,
    Row,
    seen_by,
    tagged,
    true_at,
)
from chatmemory_layers.sqlite.memories.memory_row import memory_of
from chatmemory_layers.sqlite.memories.vector_search import Space, VectorSearch
from chatmemory_layers.sqlite.memories.word_search import rows_by_words, words_of

# ruff: noqa: S608  conditions of memory_filters.py are put into statements, never values

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

_NOTHING: Final = Candidates((), matched_text=False, coverage=Coverage(0, 0))


@final
@define(eq=False)
class MemorySearcher:
    """Searches on the reading connection, and keeps beside it what the next search can use."""

    vectors: VectorSearch = field(factory=VectorSearch)
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
            nearest, similarity = self.vectors.search(
                connection,
                Space(space_key, next_seq),
                search.vector,
                parameters,
                limit=search.limit,
                also=found,
            )
            found |= {row[-1]: row for row in nearest}
        return Candidates(
            tuple([_candidate(row, search.namespace, similarity) for row in found.values()]),
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


def _candidate(row: Row, namespace: Namespace, similarity: Mapping[int, float]) -> Candidate:
    return Candidate(memory_of(row, namespace), row[-2], similarity.get(row[-1]))


def _counted(connection: sqlite3.Connection, statement: str, parameters: Parameters) -> Coverage:
    memories, embedded = connection.execute(statement, parameters).fetchone()
    return Coverage(embedded, memories)
