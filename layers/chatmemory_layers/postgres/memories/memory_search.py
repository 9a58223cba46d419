"""``search``: find the candidates of a recall by words, by vectors and by text, with one statement.

Most users have few memories.  The server keeps the plan of their statement: making it takes longer than finding them.  The
memories of others are found by a plan that is made for them.

Few vectors are compared one by one, which is exact.  Many are looked up in the index of their space, which is scanned until
enough of them pass the filters.  The vectors that are found are compared again exactly.

What a user has decides on the statement.  Each statement returns it (``SpaceFacts``), and the next search of the same memories
begins with the statement that fits; it counts the memories only if the user's memories have changed.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import TEXT_READ, Candidate, Candidates, MemorySearch
from chatmemory_layers.postgres.engine.connection import PLANNED_EACH_TIME, Connection, Row, planned_once
from chatmemory_layers.postgres.engine.vector_index import VectorIndexes, index_size
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
"""Up to this number, the memories of a user are found by a plan that the server keeps."""

MOST_KNOWN: Final = 10_000
"""The number of namespaces with a space for which it is kept what was found out; then everything is found out anew."""

_RECALLABLE: Final = f"{SEEN} AND {TRUE} AND memory_type = 'long_term'"
WANTED: Final = f"""
{_RECALLABLE}
    AND ($4::text IS NULL OR category = $4) AND (cardinality($5::text[]) = 0 OR tags @> $5)
"""

# The memory before, or after, one of those that were found, by the index atomic_memory_beside, which hashes sessions.
_NEXT_TO: Final = f"""(
    SELECT memory_key, category, tags FROM atomic_memory
    WHERE {_RECALLABLE} AND session_id IS NOT NULL
        AND hashtextextended(session_id, 0) = hashtextextended(here.session_id, 0) AND session_id = here.session_id
        AND (created_at_us, memory_id) {{side}} (here.created_at_us, here.memory_id)
    ORDER BY created_at_us {{order}}, memory_id {{order}} LIMIT 1
)"""

# $10 and $11 are the model and the size of the space, $12 is the changed_us at which the memories were counted.  The server
# checks the conditions on owner and few once, before it reads any memory.
#
# For each word, the index of words finds a limited number of memories; a word that fewer memories share weighs more.  A memory
# with several common words may not be among those found for each of them, and is looked up by all of them.
_FIND: Final = f"""
WITH owner AS MATERIALIZED (
    SELECT max(changed_us) AS changed_us, max(term_salt) AS term_salt FROM memory_user WHERE {OWNED}
), few AS MATERIALIZED (
    SELECT {{is_few}} AS is_few FROM owner
), space AS MATERIALIZED (
    SELECT space_key FROM memory_space WHERE model = $10 AND dim = $11
), counted AS MATERIALIZED (
    SELECT count(*) AS memories, count(*) FILTER (WHERE space_key = (SELECT space_key FROM space)) AS embedded
    FROM atomic_memory WHERE (SELECT changed_us FROM owner) IS DISTINCT FROM $12 AND {_RECALLABLE}
), asked AS MATERIALIZED (
    SELECT {{query}} AS query
), sharing AS MATERIALIZED (
    SELECT word, found.* FROM (
        SELECT hashtextextended(term, term_salt) AS word FROM owner CROSS JOIN unnest($6::text[]) AS term
    ) AS words CROSS JOIN LATERAL (
        SELECT limited.*, count(*) OVER () AS sharers FROM (
            SELECT memory_key, created_at_us, memory_id FROM atomic_memory
            WHERE term_keys @> ARRAY[word] AND {WANTED}
            LIMIT {MEMORIES_PER_WORD}
        ) AS limited
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
    SELECT memory_key, row_number() OVER (ORDER BY most DESC, created_at_us DESC, memory_id DESC) AS place FROM (
        SELECT memory_key, created_at_us, memory_id, max(worth) AS most FROM worth
        GROUP BY memory_key, created_at_us, memory_id ORDER BY most DESC, created_at_us DESC, memory_id DESC LIMIT $8
    ) AS worthiest
), by_text AS MATERIALIZED (
    SELECT memory_key, row_number() OVER (ORDER BY created_at_us DESC, memory_id DESC) AS place FROM atomic_memory
    WHERE NOT EXISTS (SELECT FROM by_words) AND strpos(content, $7) > 0 AND {WANTED} AND created_at_us >= coalesce((
        SELECT created_at_us FROM atomic_memory WHERE {_RECALLABLE}
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
SELECT memory_record.*, {{similarity}} AS similarity, EXISTS (SELECT FROM by_text) AS matched_text, {{is_short}} AS is_short,
    changed_us, is_few, space.space_key AS space_asked, memories, embedded
FROM owner CROSS JOIN few CROSS JOIN counted LEFT JOIN space ON TRUE LEFT JOIN (
    (SELECT memory_key FROM found UNION SELECT memory_key FROM beside) AS wanted JOIN {RECORD} USING (memory_key)
) ON memory_record.user_key = $1
"""
# Vectors have length 1, so the nearest have the largest inner product; <#> is its negative, and quicker than <=>.
#
# Joined by the key alone: without statistics, the server could otherwise choose to compare all rows with all.
_OF_ALL: Final = f"""by_vector AS MATERIALIZED (
    SELECT memory_key, vector::vector <#> (SELECT query FROM asked) AS distance FROM (
        SELECT memory_key, created_at_us, memory_id FROM atomic_memory WHERE space_key = {{space_key}} AND {WANTED}
    ) AS wanted JOIN memory_embedding USING (memory_key)
    WHERE {OWNED}
    ORDER BY distance, created_at_us DESC, memory_id DESC LIMIT $8
)"""
# The nearest of all vectors of the user, without a filter, and the ones among them that pass the filters.  The result is too
# short if farther vectors may pass the filters, too: then FIND_EXACT has to compare each.
_OF_NEAREST: Final = f"""nearest AS MATERIALIZED (
    SELECT memory_key, vector::vector <#> (SELECT query FROM asked) AS distance FROM memory_embedding
    WHERE {OWNED} AND space_key = {{space_key}} ORDER BY distance LIMIT {SPARE} * $8::bigint
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
# The expression must be exactly the one of the index.
_OF_INDEX: Final = f"""by_vector AS MATERIALIZED (
    SELECT memory_key, vector::halfvec({{dim}}) <=> (SELECT query::halfvec({{dim}}) FROM asked) AS distance
    FROM memory_embedding JOIN (SELECT memory_key FROM atomic_memory WHERE {WANTED}) AS wanted USING (memory_key)
    WHERE {OWNED} AND space_key = {{space_key}}
    ORDER BY distance LIMIT $8
)"""
_QUERY: Final = "$13::real[]::vector"
# The settings are made before the index is scanned, and end with the statement.  After the first ef_search entries, the scan
# continues only while too few pass the filters.  With 400, it finds all of the nearest 10 among 100,000 vectors of 768
# dimensions, and 97 % of the nearest 200.
_QUERY_OF_INDEX: Final = f"""
    set_config('hnsw.iterative_scan', 'strict_order', TRUE), set_config('hnsw.ef_search', '400', TRUE), {_QUERY}
"""
_SIMILARITY: Final = """(
    SELECT 1 - (vector::vector <=> (SELECT query FROM asked)) FROM memory_embedding
    WHERE memory_embedding.user_key = $1 AND memory_embedding.memory_key = memory_record.memory_key
        AND memory_embedding.space_key = {space_key}
)"""
_IS_FEW: Final = f"""changed_us IS NOT DISTINCT FROM $12 OR (
    SELECT count(*) <= {FEW_MEMORIES} FROM (SELECT FROM atomic_memory WHERE {OWNED} LIMIT {FEW_MEMORIES} + 1) AS owned
)"""


def _find(
    near: str,
    *,
    query: str = _QUERY,
    similarity: str = _SIMILARITY,
    is_short: str = "FALSE",
    is_few: str = "FALSE",
) -> str:
    return _FIND.format(near=near, query=query, similarity=similarity, is_short=is_short, is_few=is_few)


def _if_few(statement: str) -> str:
    """Return a statement that searches nothing for a user who has more than few memories."""
    return planned_once(statement.replace(WANTED, f"(SELECT is_few FROM few) AND {WANTED}"))


def _each_time(statement: str) -> str:
    return f"{statement}WHERE {PLANNED_EACH_TIME}\n"


_WITHOUT_VECTORS: Final = {
    "near": "by_vector AS (SELECT memory_key, 0 AS distance FROM by_words WHERE FALSE)",
    "query": "$13::real[]",
    "similarity": "NULL::double precision",
}
FIND_FEW_WITHOUT_VECTORS: Final = _if_few(_find(**_WITHOUT_VECTORS, is_few=_IS_FEW))
FIND_FEW: Final = _if_few(_find(_OF_ALL, is_few=_IS_FEW).format(space_key="(SELECT space_key FROM space)"))
FIND_WITHOUT_VECTORS: Final = _each_time(_find(**_WITHOUT_VECTORS))
FIND_EXACT: Final = _each_time(_find(_OF_ALL))
FIND_NEAR: Final = _each_time(_find(_OF_NEAREST, is_short=_IS_SHORT))
FIND_INDEXED: Final = _each_time(_find(_OF_INDEX, query=_QUERY_OF_INDEX))


@final
@frozen
class SpaceFacts:
    """What a search found out about the memories that a namespace can recall, and about their vectors in a space.

    Attributes:
        changed_us: when the memories of the user last changed; None: the user has none.
        is_few: whether the user was found to have at most ``FEW_MEMORIES``.
        coverage: how many memories there are, and how many of them have a vector.
        space_key: the number of the space; None: no memory has a vector in it.
        indexed: about how many vectors of all users the index of the space has; None: it has no index, or needs none.
    """

    changed_us: int | None
    is_few: bool
    coverage: Coverage
    space_key: int | None
    indexed: float | None


SearchScope: TypeAlias = tuple[Namespace, EmbeddingSpace | None]
"""The namespace and the space of a search."""

_NOTHING: Final = SpaceFacts(None, is_few=True, coverage=Coverage(0, 0), space_key=None, indexed=None)


async def search(
    connection: Connection,
    query: MemorySearch,
    indexes: VectorIndexes | None,
    known_facts: dict[SearchScope, SpaceFacts],
) -> Candidates:
    """Return the candidates of a recall, all of one snapshot; what the search finds out is put into *known_facts*.

    *indexes* creates the indexes of vectors; None: the server cannot compare vectors.
    """
    name, is_now = (query.namespace, query.space), query.as_of is None
    known = known_facts.get(name, _NOTHING) if is_now else _NOTHING
    rows: Sequence[Row] = []
    statement, is_short = "", False
    while (fitting := _fitting(query, indexes, known, is_short=is_short)) != statement:
        statement = fitting
        rows = await connection.fetch(statement, *_parameters(query, indexes, known))
        known, is_short = await _known(connection, rows[0], known), is_short or rows[0]["is_short"]
    if is_now:
        if len(known_facts) >= MOST_KNOWN:
            known_facts.clear()
        known_facts[name] = known
    user = query.namespace.user
    found = [row for row in rows if row["memory_key"] is not None]
    candidates = [Candidate(memory_of(row, user), row["search_terms"], row["similarity"]) for row in found]
    return Candidates(tuple(candidates), matched_text=rows[0]["matched_text"], coverage=known.coverage)


def _fitting(query: MemorySearch, indexes: VectorIndexes | None, known: SpaceFacts, *, is_short: bool) -> str:
    """Return the statement for what is known, and have an index created that it lacks.

    *is_short*: vectors that were not looked at may be near enough.
    """
    if query.space is None or query.vector is None or indexes is None:
        return FIND_FEW_WITHOUT_VECTORS if known.is_few else FIND_WITHOUT_VECTORS
    if known.is_few:
        return FIND_FEW
    if known.space_key is None or not known.coverage.embedded:
        return FIND_WITHOUT_VECTORS
    is_narrow = query.category is not None or bool(query.tags) or query.as_of is not None
    if known.coverage.embedded > EXACT_VECTORS:
        if known.indexed is None:
            indexes.want(known.space_key, dim=query.space.dim)
        elif not is_narrow and query.limit * known.indexed <= MAX_SCANNED * known.coverage.embedded:
            # Enough entries of the index will pass the filters for a scan to find as many as are wanted.
            return FIND_INDEXED.format(space_key=known.space_key, dim=query.space.dim)
    return (FIND_EXACT if is_narrow or is_short else FIND_NEAR).format(space_key=known.space_key)


def _parameters(query: MemorySearch, indexes: VectorIndexes | None, known: SpaceFacts) -> tuple[object, ...]:
    space = None if indexes is None else query.space
    return (
        *true_at(query.namespace, query.as_of),
        query.category,
        query.tags,
        query.terms,
        query.text,
        query.limit,
        query.beside,
        None if space is None else space.model,
        None if space is None else space.dim,
        known.changed_us,
        query.vector,
    )


async def _known(connection: Connection, row: Row, before: SpaceFacts) -> SpaceFacts:
    is_counted = row["changed_us"] != before.changed_us
    coverage = Coverage(row["embedded"], row["memories"]) if is_counted else before.coverage
    space_key, indexed = row["space_asked"], None if is_counted else before.indexed
    if indexed is None and coverage.embedded > EXACT_VECTORS:
        # By a statement of its own: a distributed store refuses one that reads the catalog beside its tables.
        indexed = await index_size(connection, space_key)
    return SpaceFacts(row["changed_us"], row["is_few"], coverage, space_key, indexed)
