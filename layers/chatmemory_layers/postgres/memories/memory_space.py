"""Spaces of vectors and their numbers."""

from collections.abc import Iterable, Mapping
from typing import Final

from chatmemory.embedding.space import EmbeddingSpace
from chatmemory_layers.postgres.engine.connection import Connection

SELECT_SPACES: Final = """
SELECT space_key, model, dim
FROM unnest($1::text[], $2::text[]::bigint[]) AS wanted (model, dim) JOIN memory_space USING (model, dim)
"""
INSERT_SPACES: Final = """
INSERT INTO memory_space (model, dim) SELECT * FROM unnest($1::text[], $2::text[]::bigint[])
ON CONFLICT DO NOTHING
"""


async def space_keys(
    connection: Connection, spaces: Iterable[EmbeddingSpace]
) -> Mapping[EmbeddingSpace, int]:
    """Return the numbers of *spaces*, making those that are new."""
    # In one order everywhere, so that no two wait for each other.
    wanted = sorted(set(spaces), key=lambda space: (space.model, space.dim))
    if not wanted:
        return {}
    columns = [space.model for space in wanted], [str(space.dim) for space in wanted]
    known = await _known(connection, *columns)
    if len(known) < len(wanted):
        await connection.execute(INSERT_SPACES, *columns)
        known = await _known(connection, *columns)
    return known


async def _known(connection: Connection, models: list[str], dims: list[str]) -> Mapping[EmbeddingSpace, int]:
    rows = await connection.fetch(SELECT_SPACES, models, dims)
    return {EmbeddingSpace(row["model"], row["dim"]): row["space_key"] for row in rows}
