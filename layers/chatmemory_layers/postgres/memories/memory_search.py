"""``search``: the candidates of a recall, by words, by vectors and by text, on one snapshot.

Few vectors are compared one by one, which is exact.  Many are looked up in the index of their space, whose scan goes on
past what the filters leave out until there are enough.  Whatever is found is compared again in full.
"""

from collections.abc import Sequence
from typing import Final

from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Candidate, Candidates, MemorySearch
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.vector_index import VectorIndexes
from chatmemory_layers.postgres.memories.memory_row import (
    OWNED,
    RECORD,
    SEEN,
    TRUE,
    memory_of,
    true_at,
    vector_literal,
)

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

EXACT_VECTORS: Final = 10_000
"""So many are compared one by one: 30 ms for 768 dimensions."""

MAX_SCANNED: Final = 20_000
"""So many does pgvector look at in an index (``hnsw.max_scan_tuples``).  Who owns too few of them finds too little there."""

WANTED: Final = f"""
{SEEN} AND {TRUE} AND memory_type = 'long_term'
    AND ($4::text IS NULL OR category = $4) AND (cardinality($5::text[]) = 0 OR tags @> $5)
"""

# indexed: how many vectors of all users the index of the space has, an estimate; NULL without an index.
COUNT_RECALLABLE: Final = f"""
SELECT memories, embedded, space_key,
    (
        SELECT reltuples FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid AND indisvalid
        WHERE pg_class.oid = to_regclass('memory_embedding_hnsw_' || space_key)
    ) AS indexed
FROM (
    SELECT count(*) AS memories, count(*) FILTER (
        WHERE space_key = (SELECT space_key FROM memory_space WHERE model = $4 AND dim = $5)
    ) AS embedded
    FROM atomic_memory WHERE {SEEN} AND {TRUE} AND memory_type = 'long_term'
) AS counted LEFT JOIN memory_space ON model = $4 AND dim = $5
"""

# OFFSET 0: word by word, each through the index of words.  A word weighs the more the fewer memories share it.
_FIND: Final = f"""
WITH asked AS MATERIALIZED (
    SELECT {{query}} AS query
), sharing AS (
    SELECT memory_key, created_at_us, memory_id, 1::double precision / count(*) OVER (PARTITION BY word) AS weight
    FROM (
        SELECT hashtextextended(term, term_salt) AS word
        FROM memory_user CROSS JOIN unnest($6::text[]) AS term WHERE {OWNED}
    ) AS words CROSS JOIN LATERAL (
        SELECT memory_key, created_at_us, memory_id FROM atomic_memory
        WHERE term_keys @> ARRAY[word] AND {WANTED}
        OFFSET 0
    ) AS found
), by_words AS MATERIALIZED (
    SELECT memory_key FROM sharing GROUP BY memory_key, created_at_us, memory_id
    ORDER BY sum(weight) DESC, created_at_us DESC, memory_id DESC LIMIT $8
), by_text AS MATERIALIZED (
    SELECT memory_key FROM atomic_memory
    WHERE NOT EXISTS (SELECT FROM by_words) AND strpos(content, $7) > 0 AND {WANTED}
    ORDER BY created_at_us DESC, memory_id DESC LIMIT $8
), by_vector AS MATERIALIZED (
    {{nearest}}
)
SELECT memory_record.*, {{similarity}} AS similarity, EXISTS (SELECT FROM by_text) AS matched_text
FROM (
    SELECT memory_key FROM by_words UNION SELECT memory_key FROM by_text UNION SELECT memory_key FROM by_vector
) AS found JOIN {RECORD} USING (memory_key)
WHERE {OWNED}
"""
_SIMILARITY: Final = """(
    SELECT 1 - (vector::vector <=> (SELECT query FROM asked)) FROM memory_embedding
    WHERE memory_embedding.user_key = $1 AND memory_embedding.memory_key = memory_record.memory_key
        AND memory_embedding.space_key = {space_key}
)"""

FIND_WITHOUT_VECTORS: Final = _FIND.format(
    query="NULL", nearest="SELECT memory_key FROM by_words WHERE FALSE", similarity="NULL::double precision"
)
# Joined by nothing but the key: a server that does not know yet how many there are could compare all with all.
FIND_EXACT: Final = _FIND.format(
    query="$9::text::real[]::vector",
    nearest=f"""
    SELECT memory_key FROM (
        SELECT memory_key, created_at_us, memory_id FROM atomic_memory WHERE space_key = {{space_key}} AND {WANTED}
    ) AS wanted JOIN memory_embedding USING (memory_key)
    WHERE {OWNED}
    ORDER BY vector::vector <=> (SELECT query FROM asked), created_at_us DESC, memory_id DESC LIMIT $8
    """,
    similarity=_SIMILARITY,
)
# In the very words of the index.
FIND_INDEXED: Final = _FIND.format(
    query="$9::text::real[]::vector",
    nearest=f"""
    SELECT memory_key FROM memory_embedding JOIN (SELECT memory_key FROM atomic_memory WHERE {WANTED}) AS wanted
        USING (memory_key)
    WHERE {OWNED} AND space_key = {{space_key}}
    ORDER BY vector::halfvec({{dim}}) <=> (SELECT query::halfvec({{dim}}) FROM asked) LIMIT $8
    """,
    similarity=_SIMILARITY,
)
# Behind the first ef_search of them, the scan goes on only as long as the filters leave too few.  With 400, it finds all
# of the nearest 10 among 100,000 vectors of 768 dimensions, and 97 % of the nearest 200.
SCAN_ON: Final = """
SET LOCAL hnsw.iterative_scan = strict_order;
SET LOCAL hnsw.ef_search = 400
"""


async def search(connection: Connection, query: MemorySearch, indexes: VectorIndexes | None) -> Candidates:
    """See ``MemoryRepository.search``; without *indexes* the server cannot compare vectors."""
    user = query.namespace.user
    space = None if indexes is None else query.space
    (counted,) = await connection.fetch(
        COUNT_RECALLABLE,
        *true_at(query.namespace, query.as_of),
        None if space is None else space.model,
        None if space is None else space.dim,
    )
    found = await _find(connection, query, indexes, counted)
    return Candidates(
        tuple([Candidate(memory_of(row, user), row["search_terms"], row["similarity"]) for row in found]),
        matched_text=bool(found) and found[0]["matched_text"],
        coverage=Coverage(embedded=counted["embedded"], memories=counted["memories"]),
    )


async def _find(
    connection: Connection, query: MemorySearch, indexes: VectorIndexes | None, counted: Row
) -> Sequence[Row]:
    space_key = counted["space_key"]
    given = (
        *true_at(query.namespace, query.as_of),
        query.category,
        query.tags,
        query.terms,
        query.text,
        query.limit,
    )
    if query.space is None or query.vector is None or indexes is None or not counted["embedded"]:
        return await connection.fetch(FIND_WITHOUT_VECTORS, *given)
    statement = FIND_EXACT.format(space_key=space_key)
    if counted["embedded"] > EXACT_VECTORS:
        if counted["indexed"] is None:
            indexes.want(space_key, dim=query.space.dim)
        elif _is_for_the_index(query, counted):
            await connection.execute(SCAN_ON)
            statement = FIND_INDEXED.format(space_key=space_key, dim=query.space.dim)
    return await connection.fetch(statement, *given, vector_literal(query.vector))


def _is_for_the_index(query: MemorySearch, counted: Row) -> bool:
    """Tell whether enough of what is in the index will be left, so that a scan finds as many as are wanted."""
    if query.category is not None or query.tags or query.as_of is not None:
        return False  # nobody knows how few these leave
    enough: bool = query.limit * counted["indexed"] <= MAX_SCANNED * counted["embedded"]
    return enough
