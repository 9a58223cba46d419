"""``recalled``: the memories that a model is shown with a user's message, for any framework; ``summary_block``: a summary."""

from random import Random
from typing import final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.context.recalled_block import (
    MEMORIES_NOTICE,
    SUMMARY_NOTICE,
    memory_line,
    message_line,
    recalled_block,
)
from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.errors import RecallError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.text.fence import fresh_fence


@final
@frozen
class RecalledText:
    """Memories, fenced as data.

    Attributes:
        text: the text for the model; empty for no memories.
        session_ids: the sessions that the memories come from, each once, the session of the best memory first.
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

    Uses of short-term memories that the message hits are counted, too (``LongTermMemory.record_use``).

    Args:
        do: runs a step.
        namespace: the owner of the memories.
        query: the user's message; a blank one recalls nothing.
        limit: the largest number of memories; None: as configured.
        session_id: the session in which they are used; None: in no session.
        use_id: the id of the turn: a context that is built again for the same turn counts nothing. None: counted each
            time.
    """
    if not query.strip():
        return RecalledText()
    memory = do.service(LongTermMemoryService)
    recall = await do(memory.recall(namespace, query, limit=limit))
    telling = recall.telling
    ids = [hit.memory.id for hit in telling]
    await do(memory.record_use(namespace, ids, use_id=use_id, session_id=session_id, query=query))
    if not telling:
        return RecalledText()
    lines = [memory_line(hit.memory) for hit in telling]
    text = recalled_block(lines, fence=fresh_fence(lines, do.service(RandomTag)), notice=MEMORIES_NOTICE)
    sessions = (hit.memory.session_id for hit in telling)
    return RecalledText(text, tuple(dict.fromkeys(session for session in sessions if session is not None)))


def summary_block(message: ChatMessage) -> str:
    """Return the text of a summary, fenced as data; the same each time, for prompt caches."""
    line = message_line(message)
    fence = fresh_fence([line], Random(message.id))  # noqa: S311  not a secret: the id of the message decides it
    return recalled_block([line], fence=fence, notice=SUMMARY_NOTICE)
