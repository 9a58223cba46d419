"""How uses of memories are counted, and how use promotes one."""

from typing import Final

from chatmemory.effect import Success
from chatmemory.longterm.memories import UseReport
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.memories.memory_filters import SEEN, seen_by
from chatmemory_layers.postgres.memories.memory_requests import Use
from chatmemory_layers.sql.columns import to_us

COUNT_USE: Final = f"""
UPDATE atomic_memory SET use_count = use_count + 1, last_used_at_us = $5, last_use_id = $4
WHERE {SEEN} AND memory_id = ANY ($3::text[]) AND last_use_id IS DISTINCT FROM $4
RETURNING memory_key
"""  # noqa: S608  a condition, no value
INSERT_USES: Final = """
INSERT INTO memory_use (memory_key, session_id) SELECT unnest($1::text[]::bigint[]), $2 ON CONFLICT DO NOTHING
"""
# What a tool or an assistant said must not promote itself: see MINJA and OWASP ASI06.
PROMOTE_USED: Final = """
UPDATE atomic_memory SET memory_type = 'long_term'
WHERE memory_key = ANY ($1::text[]::bigint[]) AND memory_type = 'short_term' AND source = 'user_stated'
    AND role = 'user' AND $2 <= (
        SELECT count(*) FROM memory_use WHERE memory_use.memory_key = atomic_memory.memory_key
    )
RETURNING memory_id
"""


async def record_use(connection: Connection, use: Use) -> Success[UseReport]:
    """See ``MemoryRepository.record_use``."""
    counted = await connection.fetch(
        COUNT_USE, *seen_by(use.namespace), use.memory_ids, use.use_id, to_us(use.now)
    )
    keys = [str(row["memory_key"]) for row in counted]
    if use.session_id is not None:
        await connection.execute(INSERT_USES, keys, use.session_id)
    promoted = set[str]()
    if use.promote_after is not None:
        rows = await connection.fetch(PROMOTE_USED, keys, use.promote_after)
        promoted = {row["memory_id"] for row in rows}
    return Success(
        UseReport(
            len(keys),
            tuple([memory_id for memory_id in dict.fromkeys(use.memory_ids) if memory_id in promoted]),
        )
    )
