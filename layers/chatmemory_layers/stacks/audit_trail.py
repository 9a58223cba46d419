"""``audit_trail``: the trail of the store that the repositories of a stack write to, whichever they are."""

from inspect import getattr_static
from typing import Never

from chatmemory.access.audit import AuditTrail, AuditTrailTag, KeepsTrail
from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.longterm.memory_repository import MemoryRepositoryTag


@Effect.gen
async def _found(do: Do[Never, MessageRepositoryTag | MemoryRepositoryTag]) -> AuditTrail:
    for repository in (do.service(MessageRepositoryTag), do.service(MemoryRepositoryTag)):
        # Statically, as Python 3.12 does by itself: a stub has every name, and fails when one is asked for.
        if getattr_static(repository, "trail", None) is not None and isinstance(repository, KeepsTrail):
            return repository.trail
    from chatmemory_layers.in_memory.audit_trail import InMemoryAuditTrail
    from chatmemory_layers.in_memory.database import Database

    return InMemoryAuditTrail(Database())  # which stays empty: repositories of others keep none


audit_trail = Layer.effect(AuditTrailTag, _found(), needs=[MessageRepositoryTag, MemoryRepositoryTag])
"""Asks the repositories for it, not for the store: a stack whose repositories are all replaced opens none."""
