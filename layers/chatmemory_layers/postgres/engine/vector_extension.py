"""``find_vectors``: whether the server can compare vectors, which takes the extension pgvector; nothing else needs it.

Without it, memories keep their vectors and are found by their words.
"""

import logging
from typing import Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory_layers.postgres.engine.connection import Connection

log = logging.getLogger(__name__)

# In a schema of the search_path: elsewhere its operators are not found.
SELECT_VERSION: Final = """
SELECT extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
WHERE extname = 'vector' AND nspname = ANY (current_schemas(TRUE))
"""
CREATE_EXTENSION: Final = "CREATE EXTENSION vector"

_LEAST_VERSION: Final = (0, 8)  # the first whose scan of an index goes on until the filters leave enough


async def find_vectors(connection: Connection) -> bool:
    """Tell whether pgvector is there, making it if the role may; log why not."""
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
