"""``event_log``, its audit trail and ``first_answers``: they are in the store that a stack's repositories write to.

They come from the repositories, so a stack whose repositories are all replaced opens no store.
"""

from inspect import getattr_static
from typing import Any, Never

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.events.audit import AuditTrail, AuditTrailTag
from chatmemory.events.event_log import EventLogTag
from chatmemory.input.first_answers import FirstAnswersTag
from chatmemory.longterm.memory_repository import MemoryRepositoryTag


@Effect.gen
async def _part(do: Do[Never, MessageRepositoryTag | MemoryRepositoryTag], name: str) -> Any:
    """Return the attribute *name* of the first repository that has it, see ``KeepsLog`` and ``KeepsAnswers``."""
    for repository in (do.service(MessageRepositoryTag), do.service(MemoryRepositoryTag)):
        # Looked up statically: a stub has every attribute, and fails when one is read.
        if getattr_static(repository, name, None) is not None:
            return getattr(repository, name)
    from chatmemory_layers.in_memory.database import Database
    from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository

    # Repositories of other packages may keep neither: the log stays empty, and answers end with the process.
    return getattr(InMemoryMessageRepository(Database()), name)


event_log = Layer.effect(EventLogTag, _part("log"), needs=[MessageRepositoryTag, MemoryRepositoryTag])
first_answers = Layer.effect(
    FirstAnswersTag, _part("answers"), needs=[MessageRepositoryTag, MemoryRepositoryTag]
)
audit_trail = event_log >> Layer.effect(
    AuditTrailTag, Effect.service(EventLogTag).map(AuditTrail), needs=[EventLogTag]
)
