"""``event_log``: the log of the store that the repositories of a stack write to, whichever they are; and its audit trail."""

from inspect import getattr_static
from typing import Never

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.events.audit import AuditTrail, AuditTrailTag
from chatmemory.events.event_log import EventLog, EventLogTag, KeepsLog
from chatmemory.longterm.memory_repository import MemoryRepositoryTag


@Effect.gen
async def _found(do: Do[Never, MessageRepositoryTag | MemoryRepositoryTag]) -> EventLog:
    for repository in (do.service(MessageRepositoryTag), do.service(MemoryRepositoryTag)):
        # Statically, as Python 3.12 does by itself: a stub has every name, and fails when one is asked for.
        if getattr_static(repository, "log", None) is not None and isinstance(repository, KeepsLog):
            return repository.log
    from chatmemory_layers.in_memory.database import Database
    from chatmemory_layers.in_memory.event_log import InMemoryEventLog

    return InMemoryEventLog(Database())  # which stays empty: repositories of others keep none


event_log = Layer.effect(EventLogTag, _found(), needs=[MessageRepositoryTag, MemoryRepositoryTag])
"""Asks the repositories for it, not for the store: a stack whose repositories are all replaced opens none."""

audit_trail = event_log >> Layer.effect(
    AuditTrailTag, Effect.service(EventLogTag).map(AuditTrail), needs=[EventLogTag]
)
