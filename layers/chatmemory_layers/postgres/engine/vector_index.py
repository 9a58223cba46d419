"""What pgvector does for a store: ``find_vectors`` makes sure of the extension, ``VectorIndexes`` creates HNSW indexes.

Without the extension, memories keep their vectors and are found by their words; nothing else needs it.

While nobody owns many vectors of a space they are compared one by one, and an index would only cost: it makes storing a
vector ten times slower.  An index is made once it is missed, beside the writers, in the background; until it is there,
searches go on without.
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

# In a schema of the search_path: elsewhere its operators are not found.
SELECT_VERSION: Final = """
SELECT extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
WHERE extname = 'vector' AND nspname = ANY (current_schemas(TRUE))
"""
CREATE_EXTENSION: Final = "CREATE EXTENSION vector"

_LEAST_VERSION: Final = (0, 8)  # the first whose scan of an index goes on until the filters leave enough

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


async def find_vectors(connection: Connection) -> bool:
    """Return whether the database has pgvector 0.8 or later, after trying to create the extension where it has none.

    Never fails: without it the reason is logged, and memories are found by their words alone.
    """
    refusal = "it is not on the search_path"
    rows = await connection.fetch(SELECT_VERSION)
    if not rows:
        try:
            await connection.execute(CREATE_EXTENSION)
        except asyncpg.PostgresError as error:
            refusal = str(error)  # not offered, not permitted, read-only - or made just now by another
        rows = await connection.fetch(SELECT_VERSION)
    if rows and tuple(map(int, rows[0]["extversion"].split(".")[:2])) >= _LEAST_VERSION:
        return True
    if rows:
        refusal = f"version {rows[0]['extversion']} is older than {'.'.join(map(str, _LEAST_VERSION))}"
    log.warning("no vectors are compared, memories are found by their words: pgvector: %s", refusal)
    return False


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
