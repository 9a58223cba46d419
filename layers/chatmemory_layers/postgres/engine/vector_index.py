"""pgvector: ``find_vectors`` checks for the extension or creates it, ``VectorIndexes`` creates HNSW indexes.

Without the extension, memories keep their vectors as arrays and are found by their words; nothing else needs it.  With it,
the column becomes one of vectors, because an array has to be converted for each comparison.

While no user has many vectors of a space they are compared one by one, and an index would only cost: it makes storing a
vector ten times slower.  An index is created in the background when a search misses it, while writes go on; until it is
ready, searches do without.
"""

import asyncio
import logging
from typing import Final, final

from chatmemory.extra import needs_extra

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory_layers.postgres.engine.connection import Connection, connect
from chatmemory_layers.postgres.engine.migrations import BEGIN_CHANGE
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS

log = logging.getLogger(__name__)

# The extension must be in a schema of the search_path, or its operators are not found.
SELECT_VERSION: Final = """
SELECT extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
WHERE extname = 'vector' AND nspname = ANY (current_schemas(TRUE))
"""
CREATE_EXTENSION: Final = "CREATE EXTENSION IF NOT EXISTS vector"

SELECT_IS_ARRAY: Final = """
SELECT atttypid = 'real[]'::regtype AS is_array FROM pg_attribute
WHERE attrelid = 'memory_embedding'::regclass AND attname = 'vector'
"""
SELECT_INDEXES: Final = """
SELECT indexrelid::regclass::text AS name FROM pg_index
WHERE indrelid = 'memory_embedding'::regclass AND indexrelid::regclass::text LIKE '%memory_embedding_hnsw_%'
"""
# The indexes are dropped first: they would be rebuilt while the table is locked.  A search that misses one creates it.
TO_VECTORS: Final = "ALTER TABLE memory_embedding ALTER COLUMN vector TYPE vector USING vector::vector"

_LEAST_VERSION: Final = (0, 8)  # the first that scans an index until enough rows pass the filters

MAX_DIM: Final = 4000
"""The most dimensions of an index of half-precision numbers; vectors with more are always compared one by one."""

# Half-precision numbers: half the size, and twice the dimensions.  Vectors that are found are compared again exactly.
CREATE_INDEX: Final = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_embedding_hnsw_{space_key} ON memory_embedding
USING hnsw ((vector::halfvec({dim})) halfvec_cosine_ops) WHERE space_key = {space_key}
"""
SELECT_SIZE: Final = """
SELECT reltuples FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid AND indisvalid
WHERE pg_class.oid = to_regclass('memory_embedding_hnsw_' || $1::text)
"""
# An index whose creation was killed: the server maintains it, and never uses it.
SELECT_LEFTOVER: Final = """
SELECT indexrelid FROM pg_index
WHERE indexrelid = to_regclass('memory_embedding_hnsw_' || $1::text) AND NOT indisvalid
    AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid)
"""
DROP_INDEX: Final = "DROP INDEX CONCURRENTLY IF EXISTS memory_embedding_hnsw_{space_key}"


async def find_vectors(connection: Connection) -> bool:
    """Return whether the database has pgvector 0.8 or later; try to create the extension if it is missing.

    If the extension cannot be created, the reason is logged, and memories are found by their words alone.
    """
    refusal = "its schema is not on the search_path"
    rows = await connection.fetch(SELECT_VERSION)
    if not rows:
        try:
            await connection.execute(CREATE_EXTENSION)
        except asyncpg.PostgresError as error:
            # Not offered, not permitted, read-only, or created just now by another process.
            refusal = str(error)
        rows = await connection.fetch(SELECT_VERSION)
    if rows and is_supported(rows[0]["extversion"]):
        await _settle_column(connection)
        return True
    if rows:
        refusal = f"version {rows[0]['extversion']} is older than {'.'.join(map(str, _LEAST_VERSION))}"
    log.warning("no vectors are compared, memories are found by their words: pgvector: %s", refusal)
    return False


def is_supported(version: str) -> bool:
    """Return whether this *version* of pgvector can be used."""
    return tuple(map(int, version.split(".")[:2])) >= _LEAST_VERSION


async def _settle_column(connection: Connection) -> None:
    """Convert the column to vectors, unless it is converted; a role that may not do so goes on with arrays."""
    if not await _is_array(connection):
        return
    try:
        await connection.execute(BEGIN_CHANGE)
        if await _is_array(connection):  # checked again: another process held the lock
            for index in await connection.fetch(SELECT_INDEXES):
                await connection.execute(f"DROP INDEX {index['name']}")
            await connection.execute(TO_VECTORS)
        await connection.execute("COMMIT")
    except asyncpg.PostgresError as error:
        # Not the owner, read-only, or another session has locked the table.
        await connection.execute("ROLLBACK")
        log.info("vectors stay arrays, which are slower to compare: %s", error)


async def _is_array(connection: Connection) -> bool:
    (column,) = await connection.fetch(SELECT_IS_ARRAY)
    return bool(column["is_array"])


async def index_size(connection: Connection, space_key: int) -> float | None:
    """Return about how many vectors the index of a space has; None: it has no index that can be used."""
    rows = await connection.fetch(SELECT_SIZE, str(space_key))
    return rows[0]["reltuples"] if rows else None


@final
class VectorIndexes:
    """Creates the indexes of one store, for one event loop; it tries each once."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._making: dict[int, asyncio.Task[None]] = {}

    def want(self, space_key: int, *, dim: int) -> None:
        """Create the index of a space in the background, unless its vectors have too many dimensions."""
        if dim <= MAX_DIM and space_key not in self._making:
            self._making[space_key] = asyncio.create_task(self._make(space_key, dim))

    async def close(self) -> None:
        """Stop waiting for indexes that are being created; the server may finish them."""
        for task in self._making.values():
            task.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    async def _make(self, space_key: int, dim: int) -> None:
        # With its own connection: it takes minutes, and the pool may have only one.
        try:
            connection = await connect(self._dsn)
            try:
                if await connection.fetch(SELECT_LEFTOVER, str(space_key)):
                    await connection.execute(DROP_INDEX.format(space_key=space_key))
                await connection.execute(CREATE_INDEX.format(space_key=space_key, dim=dim))
            finally:
                connection.terminate()
        except DRIVER_ERRORS as error:
            log.warning("vectors of space %d are compared one by one: no index: %s", space_key, error)
