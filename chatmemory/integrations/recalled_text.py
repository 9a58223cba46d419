"""``recalled_text``: what a model is shown of long-term memory beside a user's message, whatever the framework."""

from typing import final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.context.recalled_block import MEMORIES_NOTICE, memory_line, recalled_block
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.random import RandomTag
from chatmemory.errors import RecallError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.text.fence import fresh_fence


@final
@frozen
class RecalledText:
    """Memories, fenced as data.

    Attributes:
        text: what the model is shown; empty for no memories.
        session_ids: the sessions that the memories come from, each once, the best memory's first.
    """

    text: str = ""
    session_ids: tuple[str, ...] = ()


@Effect.gen
async def recalled(
    do: Do[RecallError, LongTermMemoryService],
    namespace: Namespace,
    query: str,
    *,
    limit: int | None = None,
    session_id: str | None = None,
    use_id: str | None = None,
) -> RecalledText:
    """Recall the memories for *query*, write them as one block of text, fenced as data, and count their use.

    Short-term memories that the message hits are counted, too (``LongTermMemory.record_use``).

    Args:
        do: runs a step.
        namespace: whose memories are recalled.
        query: the user's message; without a word in it nothing is recalled.
        limit: the largest number of memories; None: as configured.
        session_id: the session in which they are used; None: in no session.
        use_id: the id of the turn: a context that is built again for the same turn counts nothing. None: counted each time.
    """
    if not query.strip():
        return RecalledText()
    memory = do.service(LongTermMemoryService)
    recall = await do(memory.recall(namespace, query, limit=limit))
    ids = [hit.memory.id for hit in recall.hits]
    await do(memory.record_use(namespace, ids, use_id=use_id, session_id=session_id, query=query))
    if not recall.hits:
        return RecalledText()
    lines = [memory_line(hit.memory) for hit in recall.hits]
    text = recalled_block(lines, fence=fresh_fence(lines, do.service(RandomTag)), notice=MEMORIES_NOTICE)
    sessions = (hit.memory.session_id for hit in recall.hits)
    return RecalledText(text, tuple(dict.fromkeys(session for session in sessions if session is not None)))


def recalled_text(
    namespace: Namespace,
    query: str,
    *,
    limit: int | None = None,
    session_id: str | None = None,
    use_id: str | None = None,
) -> Effect[str, RecallError, LongTermMemoryService]:
    """Return the text of ``recalled``; nothing for no memories."""
    found = recalled(namespace, query, limit=limit, session_id=session_id, use_id=use_id)
    return found.map(lambda memories: memories.text)
