"""``recalled_text``: what a model is shown of long-term memory beside a user's message, whatever the framework."""

from chatmemory.contracts import LongTermMemoryService
from chatmemory.effect import Do, Effect
from chatmemory.effect.random import RandomTag
from chatmemory.errors import RecallError
from chatmemory.memories import Namespace
from chatmemory.recalled_block import MEMORIES_NOTICE, fresh_fence, memory_line, recalled_block


@Effect.gen
async def recalled_text(
    do: Do[RecallError, LongTermMemoryService],
    namespace: Namespace,
    query: str,
    *,
    limit: int | None = None,
    session_id: str | None = None,
    use_id: str | None = None,
) -> str:
    """Return the memories that belong to *query*, fenced as data, and count their use; nothing for no memories.

    *use_id* names the turn: a context that is built again for the same one counts nothing.
    """
    if not query.strip():
        return ""
    memory = do.service(LongTermMemoryService)
    recall = await do(memory.recall(namespace, query, limit=limit))
    if not recall.hits:
        return ""
    ids = [hit.memory.id for hit in recall.hits]
    await do(memory.record_use(namespace, ids, use_id=use_id, session_id=session_id))
    lines = [memory_line(hit.memory) for hit in recall.hits]
    return recalled_block(lines, fence=fresh_fence(lines, do.service(RandomTag)), notice=MEMORIES_NOTICE)
