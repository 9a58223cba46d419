"""``VectorIndexes``: the indexes (HNSW) by which the nearest of many vectors are found, each made once it is missed.

While nobody owns many vectors of a space they are compared one by one, and an index would only cost: it makes storing a
vector ten times slower.  It is made beside the writers, in the background; until it is there, searches go on without.
"""

import asyncio
import logging
from typing import Any, Final, cast, final

from chatmemory.extra import needs_extra

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS

log = logging.getLogger(__name__)

MAX_DIM: Final = 4000
"""Dimensions that an index of halves can have; vectors with more are always compared one by one."""

# Of halves: half the size, and twice the dimensions.  What is found is compared again in full.
CREATE_INDEX: Final = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_embedding_hnsw_{space_key} ON memory_embedding
USING hnsw ((vector::halfvec({dim})) halfvec_cosine_ops) WHERE space_key = {space_key}
"""
# Left behind by somebody who was killed while it was made: it is maintained, and never used.
SELECT_LEFTOVER: Final = """
SELECT indexrelid FROM pg_index
WHERE indexrelid = to_regclass('memory_embedding_hnsw_' || $1::text) AND NOT indisvalid
    AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid)
"""
DROP_INDEX: Final = "DROP INDEX CONCURRENTLY IF EXISTS memory_embedding_hnsw_{space_key}"


@final
class VectorIndexes:
    """The indexes of one store, for one event loop; each is tried once."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._making: dict[int, asyncio.Task[None]] = {}

    def want(self, space_key: int, *, dim: int) -> None:
        """See to it that the space will have its index, if it can have one."""
        if dim <= MAX_DIM and space_key not in self._making:
            self._making[space_key] = asyncio.create_task(self._make(space_key, dim))

    async def close(self) -> None:
        """Leave what is being made to the server, which may finish it."""
        for task in self._making.values():
            task.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    async def _make(self, space_key: int, dim: int) -> None:
        # A connection of its own: it takes minutes, and the pool may have but one.
        try:
            connection: Connection = await cast("Any", asyncpg).connect(self._dsn, statement_cache_size=0)
            try:
                await _make_index(connection, space_key, dim)
            finally:
                connection.terminate()
        except DRIVER_ERRORS as error:
            log.warning("vectors of space %d are compared one by one: no index: %s", space_key, error)


async def _make_index(connection: Connection, space_key: int, dim: int) -> None:
    if await connection.fetch(SELECT_LEFTOVER, str(space_key)):
        await connection.execute(DROP_INDEX.format(space_key=space_key))
    await connection.execute(CREATE_INDEX.format(space_key=space_key, dim=dim))
