"""``search_few`` and ``search``: find the candidates of a recall by words, by vectors and by text, on one snapshot.

Most users have few memories.  ``search_few`` finds theirs by one statement, whose plan the server keeps: making it takes
longer than finding them.  The memories of others are counted first, and found by a plan that is made for them.

Few vectors are compared one by one, which is exact.  Many are looked up in the index of their space, which is scanned until
enough of them pass the filters.  The vectors that are found are compared again exactly.
"""

from collections.abc import Sequence
from typing import Final

from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import TEXT_READ, Candidate, Candidates, MemorySearch
from chatmemory_layers.postgres.engine.connection import Connection, Row, planned_once
from chatmemory_layers.postgres.engine.vector_index import VectorIndexes
from chatmemory_layers.postgres.memories.memory_row import (
    OWNED,
    RECORD,
    SEEN,
    TRUE,
    memory_of,
    true_at,
)
from chatmemory_layers.sql.columns import BEGINNING_US

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

EXACT_VECTORS: Final = 10_000
"""Up to this number, vectors are compared one by one: 30 ms for 768 dimensions."""

MAX_SCANNED: Final = 20_000
"""The most entries of an index that pgvector scans (``hnsw.max_scan_tuples``).  A user who owns few of them finds too little."""

SPARE: Final = 2
"""The number of nearest vectors that are looked up for each one that is wanted; most of them pass the filters."""

MEMORIES_PER_WORD: Final = 500
"""A word that more memories than this have is common, as on SQLite."""

FEW_MEMORIES: Final = 1_000
"""Up to this number, the memories of a user are searched by ``search_few``."""

WANTED: Final = f"""
{SEEN} AND {TRUE} AND memory_type = 'long_term'
    AND ($4::text IS NULL OR category = $4) AND (cardinality($5::text[]) = 0 OR tags @> $5)
"""

# indexed: an estimate of the number of vectors of all users in the index of the space; NULL without an index.
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

# The memory before, or after, one of those that were found, by the index atomic_memory_beside, which hashes sessions.
_NEXT_TO: Final = f"""(
    SELECT memory_key, category, tags FROM atomic_memory
    WHERE {SEEN} AND {TRUE} AND memory_type = 'long_term' AND session_id IS NOT NULL
        AND hashtextextended(session_id, 0) = hashtextextended(here.session_id, 0) AND session_id = here.session_id
        AND (created_at_us, memory_id) {{side}} (here.created_at_us, here.memory_id)
    ORDER BY created_at_us {{order}}, memory_id {{order}} LIMIT 1
)"""

# For each word, the index of words finds a limited number of memories; a word that fewer memories share weighs more.  A memory
# with several common words may not be among those found for each of them, and is looked up by all of them.
_FIND: Final = f"""
WITH asked AS MATERIALIZED (
    SELECT {{query}} AS query
), sharing AS MATERIALIZED (
    SELECT word, found.*, count(*) OVER (PARTITION BY word) AS sharers
    FROM (
        SELECT hashtextextended(term, term_salt) AS word
        FROM memory_user CROSS JOIN unnest($6::text[]) AS term WHERE {OWNED}
    ) AS words CROSS JOIN LATERAL (
        SELECT memory_key, created_at_us, memory_id FROM atomic_memory
        WHERE term_keys @> ARRAY[word] AND {WANTED}
        LIMIT {MEMORIES_PER_WORD}
    ) AS found
), common AS MATERIALIZED (
    SELECT array_agg(DISTINCT word) AS words FROM sharing WHERE sharers = {MEMORIES_PER_WORD}
), worth AS (
    SELECT memory_key, created_at_us, memory_id, sum(1::double precision / sharers) AS worth
    FROM sharing GROUP BY memory_key, created_at_us, memory_id
    UNION ALL
    SELECT found.*, cardinality(words)::double precision / {MEMORIES_PER_WORD}
    FROM common CROSS JOIN LATERAL (
        SELECT memory_key, created_at_us, memory_id FROM atomic_memory
        WHERE cardinality(words) > 1 AND term_keys @> words AND {WANTED}
        LIMIT {MEMORIES_PER_WORD}
    ) AS found
), by_words AS MATERIALIZED (
    SELECT memory_key, row_number() OVER (ORDER BY max(worth) DESC, created_at_us DESC, memory_id DESC) AS place
    FROM worth GROUP BY memory_key, created_at_us, memory_id ORDER BY place LIMIT $8
), by_text AS MATERIALIZED (
    SELECT memory_key, row_number() OVER (ORDER BY created_at_us DESC, memory_id DESC) AS place FROM atomic_memory
    WHERE NOT EXISTS (SELECT FROM by_words) AND strpos(content, $7) > 0 AND {WANTED} AND created_at_us >= coalesce((
        SELECT created_at_us FROM atomic_memory WHERE {SEEN} AND {TRUE} AND memory_type = 'long_term'
        ORDER BY created_at_us DESC LIMIT 1 OFFSET {TEXT_READ - 1}
    ), '{BEGINNING_US}'::bigint)
    ORDER BY place LIMIT $8
), {{near}}, found AS MATERIALIZED (
    SELECT memory_key FROM by_words UNION SELECT memory_key FROM by_text UNION SELECT memory_key FROM by_vector
), best AS MATERIALIZED (
    (SELECT memory_key FROM by_words ORDER BY place LIMIT $9)
    UNION (SELECT memory_key FROM by_text ORDER BY place LIMIT $9)
    UNION (SELECT memory_key FROM by_vector ORDER BY distance LIMIT $9)
), beside AS MATERIALIZED (
    SELECT next.memory_key FROM (
        SELECT session_id, created_at_us, memory_id FROM atomic_memory
        WHERE {OWNED} AND memory_key IN (SELECT memory_key FROM best) AND session_id IS NOT NULL
    ) AS here CROSS JOIN LATERAL (
        {_NEXT_TO.format(side="<", order="DESC")} UNION ALL {_NEXT_TO.format(side=">", order="ASC")}
    ) AS next
    WHERE ($4::text IS NULL OR category = $4) AND (cardinality($5::text[]) = 0 OR tags @> $5)
)
SELECT memory_record.*, {{similarity}} AS similarity, EXISTS (SELECT FROM by_text) AS matched_text, {{is_short}} AS is_short
FROM (SELECT memory_key FROM found UNION SELECT memory_key FROM beside) AS wanted JOIN {RECORD} USING (memory_key)
WHERE {OWNED}
"""
_SIMILARITY: Final = """(
    SELECT 1 - (vector::vector <=> (SELECT query FROM asked)) FROM memory_embedding
    WHERE memory_embedding.user_key = $1 AND memory_embedding.memory_key = memory_record.memory_key
        AND memory_embedding.space_key = {space_key}
)"""
_NO_VECTORS: Final = "by_vector AS (SELECT memory_key, 0 AS distance FROM by_words WHERE FALSE)"
FIND_WITHOUT_VECTORS: Final = _FIND.format(
    query="NULL",
    near=_NO_VECTORS,
    similarity="NULL::double precision",
    is_short="FALSE",
)
# The nearest of all vectors of the user, without a filter, and the ones among them that pass the filters.  The result is too
# short if farther vectors may pass the filters, too: then FIND_EXACT has to compare each.
_OF_NEAREST: Final = f"""
nearest AS MATERIALIZED (
    SELECT memory_key, distance FROM ({{nearest}}) AS nearest
), fitting AS MATERIALIZED (
    SELECT memory_key, distance, created_at_us, memory_id FROM nearest CROSS JOIN LATERAL (
        SELECT created_at_us, memory_id FROM atomic_memory
        WHERE atomic_memory.user_key = $1 AND atomic_memory.memory_key = nearest.memory_key AND {WANTED}
        OFFSET 0
    ) AS wanted
), by_vector AS MATERIALIZED (
    SELECT memory_key, distance FROM fitting ORDER BY distance, created_at_us DESC, memory_id DESC LIMIT $8
)"""
_IS_SHORT: Final = f"""(
    (SELECT count(*) FROM nearest) = {SPARE} * $8::bigint AND (
        (SELECT count(*) FROM by_vector) < $8 OR (SELECT max(distance) FROM by_vector) = (SELECT max(distance) FROM nearest)
    )
)"""
FIND_NEAR: Final = _FIND.format(
    query="$10::real[]::vector",
    near=_OF_NEAREST.format(
        nearest=f"""
        SELECT memory_key, vector::vector <=> (SELECT query FROM asked) AS distance FROM memory_embedding
        WHERE {OWNED} AND space_key = {{space_key}} ORDER BY distance LIMIT {SPARE} * $8::bigint"""
    ),
    similarity=_SIMILARITY,
    is_short=_IS_SHORT,
)
# Joined by the key alone: without statistics, the server could otherwise choose to compare all rows with all.
_EXACT: Final = f"""by_vector AS MATERIALIZED (
    SELECT memory_key, vector::vector <=> (SELECT query FROM asked) AS distance FROM (
        SELECT memory_key, created_at_us, memory_id FROM atomic_memory WHERE space_key = {{space_key}} AND {WANTED}
    ) AS wanted JOIN memory_embedding USING (memory_key)
    WHERE {OWNED}
    ORDER BY distance, created_at_us DESC, memory_id DESC LIMIT $8
)"""
FIND_EXACT: Final = _FIND.format(
    query="$10::real[]::vector", near=_EXACT, similarity=_SIMILARITY, is_short="FALSE"
)
# The expression must be exactly the one of the index.
FIND_INDEXED: Final = _FIND.format(
    query="$10::real[]::vector",
    near=f"""by_vector AS MATERIALIZED (
    SELECT memory_key, vector::halfvec({{dim}}) <=> (SELECT query::halfvec({{dim}}) FROM asked) AS distance
    FROM memory_embedding JOIN (SELECT memory_key FROM atomic_memory WHERE {WANTED}) AS wanted USING (memory_key)
    WHERE {OWNED} AND space_key = {{space_key}}
    ORDER BY distance LIMIT $8
    )""",
    similarity=_SIMILARITY,
    is_short="FALSE",
)
# After the first ef_search entries, the scan continues only while too few pass the filters.  With 400, it finds all of the
# nearest 10 among 100,000 vectors of 768 dimensions, and 97 % of the nearest 200.
SCAN_ON: Final = """
SET LOCAL hnsw.iterative_scan = strict_order;
SET LOCAL hnsw.ef_search = 400
"""


# The key of the space is read here, so that the statement is the same for all spaces.  Nothing is searched for a user with
# more memories: the server reads the condition once, before it reads any row.
_FEW: Final = f"""
WITH few AS MATERIALIZED (
    SELECT count(*) <= {FEW_MEMORIES} AS is_few
    FROM (SELECT FROM atomic_memory WHERE {OWNED} LIMIT {FEW_MEMORIES} + 1) AS owned
), space AS MATERIALIZED (
    SELECT space_key FROM memory_space WHERE model = $10 AND dim = $11
), counted AS MATERIALIZED (
    SELECT count(*) AS memories, count(*) FILTER (WHERE space_key = (SELECT space_key FROM space)) AS embedded
    FROM atomic_memory WHERE (SELECT is_few FROM few) AND {SEEN} AND {TRUE} AND memory_type = 'long_term'
)
SELECT found.*, few.*, counted.* FROM few CROSS JOIN counted LEFT JOIN ({{find}}) AS found ON TRUE
"""
_WANTED_OF_FEW: Final = f"(SELECT is_few FROM few) AND {WANTED}"
_FIND_IF_FEW: Final = _FIND.replace(WANTED, _WANTED_OF_FEW)
FIND_FEW_WITHOUT_VECTORS: Final = planned_once(
    _FEW.format(
        find=_FIND_IF_FEW.format(
            query="NULL", near=_NO_VECTORS, similarity="NULL::double precision", is_short="FALSE"
        )
    )
)
FIND_FEW: Final = planned_once(
    _FEW.format(
        find=_FIND_IF_FEW.format(
            query="$12::real[]::vector",
            near=_EXACT.replace(WANTED, _WANTED_OF_FEW),
            similarity=_SIMILARITY,
            is_short="FALSE",
        ).format(space_key="(SELECT space_key FROM space)")
    )
)


async def search_few(connection: Connection, query: MemorySearch, *, has_vectors: bool) -> Candidates | None:
    """Search the memories of a user who has at most ``FEW_MEMORIES``; None: the user has more.

    Args:
        connection: where to read.
        query: the search.
        has_vectors: whether the server can compare vectors.
    """
    space = query.space if has_vectors else None
    given = (*_filters(query), None if space is None else space.model, None if space is None else space.dim)
    if space is not None and query.vector is not None:
        rows = await connection.fetch(FIND_FEW, *given, query.vector)
    else:
        rows = await connection.fetch(FIND_FEW_WITHOUT_VECTORS, *given)
    if not rows[0]["is_few"]:
        return None
    return _candidates(query, rows[0], [row for row in rows if row["memory_key"] is not None])


async def search(connection: Connection, query: MemorySearch, indexes: VectorIndexes | None) -> Candidates:
    """Return the candidates of a recall; without *indexes* the server cannot compare vectors."""
    space = None if indexes is None else query.space
    (counted,) = await connection.fetch(
        COUNT_RECALLABLE,
        *true_at(query.namespace, query.as_of),
        None if space is None else space.model,
        None if space is None else space.dim,
    )
    return _candidates(query, counted, await _find(connection, query, indexes, counted))


def _candidates(query: MemorySearch, counted: Row, found: Sequence[Row]) -> Candidates:
    user = query.namespace.user
    return Candidates(
        tuple([Candidate(memory_of(row, user), row["search_terms"], row["similarity"]) for row in found]),
        matched_text=bool(found) and found[0]["matched_text"],
        coverage=Coverage(embedded=counted["embedded"], memories=counted["memories"]),
    )


async def _find(
    connection: Connection, query: MemorySearch, indexes: VectorIndexes | None, counted: Row
) -> Sequence[Row]:
    space_key = counted["space_key"]
    given = _filters(query)
    if query.space is None or query.vector is None or indexes is None or not counted["embedded"]:
        return await connection.fetch(FIND_WITHOUT_VECTORS, *given)
    exact = FIND_EXACT.format(space_key=space_key)
    statement = exact if _narrows(query) else FIND_NEAR.format(space_key=space_key)
    if counted["embedded"] > EXACT_VECTORS:
        if counted["indexed"] is None:
            indexes.want(space_key, dim=query.space.dim)
        elif _is_for_the_index(query, counted):
            await connection.execute(SCAN_ON)
            statement = FIND_INDEXED.format(space_key=space_key, dim=query.space.dim)
    found = await connection.fetch(statement, *given, query.vector)
    is_short = statement is not exact and (not found or found[0]["is_short"])
    return await connection.fetch(exact, *given, query.vector) if is_short else found


def _filters(query: MemorySearch) -> tuple[object, ...]:
    return (
        *true_at(query.namespace, query.as_of),
        query.category,
        query.tags,
        query.terms,
        query.text,
        query.limit,
        query.beside,
    )


def _narrows(query: MemorySearch) -> bool:
    return query.category is not None or bool(query.tags) or query.as_of is not None


def _is_for_the_index(query: MemorySearch, counted: Row) -> bool:
    """Return whether enough entries of the index will pass the filters for a scan to find as many as are wanted."""
    if _narrows(query):
        return False  # it is unknown how few entries pass the filters
    enough: bool = query.limit * counted["indexed"] <= MAX_SCANNED * counted["embedded"]
    return enough
