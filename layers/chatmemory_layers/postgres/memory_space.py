"""Spaces of vectors: their numbers, and the index by which the nearest vectors of a space are found.

The index is made with the space, while there is nothing to index: made later it would hold up every writer.  A server
that gets pgvector afterwards compares the vectors of older spaces one by one until somebody runs ``CREATE_INDEX`` for
them, best with CONCURRENTLY.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from chatmemory.memories import EmbeddingSpace
from chatmemory_layers.postgres.connection import Connection

MAX_INDEXED_DIM: Final = 4000  # of halfvec; vector ends at 2000
"""Dimensions that an index can have; vectors with more are compared one by one."""

SELECT_SPACES: Final = """
SELECT space_key, model, dim
FROM unnest($1::text[], $2::text[]::bigint[]) AS wanted (model, dim) JOIN memory_space USING (model, dim)
"""
# Two that make spaces at once would each wait for the other when they come to store a vector.
LOCK_SPACES: Final = "SELECT pg_advisory_xact_lock(hashtextextended('memory_space', 0))"
INSERT_SPACE: Final = """
INSERT INTO memory_space (model, dim) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING space_key
"""
SELECT_CAN_INDEX: Final = "SELECT to_regtype('halfvec') IS NOT NULL AS it_can"
# Of halves: half the size, and twice the dimensions.  What it finds is compared again, in full.
CREATE_INDEX: Final = """
CREATE INDEX memory_embedding_hnsw_{space_key} ON memory_embedding
USING hnsw ((vector::halfvec({dim})) halfvec_cosine_ops) WHERE space_key = {space_key}
"""


async def space_keys(
    connection: Connection, spaces: Iterable[EmbeddingSpace]
) -> Mapping[EmbeddingSpace, int]:
    """Return the numbers of *spaces*, making those that are new.

    A transaction calls it before it stores any vector, so that the index of a new space waits for nobody who waits.
    """
    wanted = set(spaces)
    if not wanted:
        return {}
    known = await _known(connection, wanted)
    if len(known) == len(wanted):
        return known
    await connection.execute(LOCK_SPACES)
    for space in wanted - known.keys():
        made = await connection.fetch(INSERT_SPACE, space.model, space.dim)
        if made and space.dim <= MAX_INDEXED_DIM and await _can_index(connection):
            await connection.execute(CREATE_INDEX.format(space_key=made[0]["space_key"], dim=space.dim))
    return await _known(connection, wanted)


async def _known(connection: Connection, wanted: Iterable[EmbeddingSpace]) -> dict[EmbeddingSpace, int]:
    spaces = list(wanted)
    models, dims = [space.model for space in spaces], [str(space.dim) for space in spaces]
    rows = await connection.fetch(SELECT_SPACES, models, dims)
    return {EmbeddingSpace(row["model"], row["dim"]): row["space_key"] for row in rows}


async def _can_index(connection: Connection) -> bool:
    can: bool = (await connection.fetch(SELECT_CAN_INDEX))[0]["it_can"]
    return can
