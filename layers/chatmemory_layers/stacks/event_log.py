"""``event_log``, its audit trail and ``first_answers``: they are in the store that a stack's repositories write to."""

from inspect import getattr_static
from typing import Never

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.events.audit import AuditTrail, AuditTrailTag
from chatmemory.events.event_log import EventLog, EventLogTag, KeepsLog
from chatmemory.input.first_answers import FirstAnswers, FirstAnswersTag, KeepsAnswers
from chatmemory.longterm.memory_repository import MemoryRepositoryTag


@Effect.gen
async def _found(do: Do[Never, MessageRepositoryTag | MemoryRepositoryTag]) -> EventLog:
    for repository in (do.service(MessageRepositoryTag), do.service(MemoryRepositoryTag)):
        # Checked statically, as Python 3.12 does by itself: a stub has every attribute, and fails when one is read.
        if getattr_static(repository, "log", None) is not None and isinstance(repository, KeepsLog):
            return repository.log
    from chatmemory_layers.in_memory.database import Database
    from chatmemory_layers.in_memory.event_log import InMemoryEventLog

    return InMemoryEventLog(Database())  # stays empty: repositories of other packages keep no log


event_log = Layer.effect(EventLogTag, _found(), needs=[MessageRepositoryTag, MemoryRepositoryTag])
"""The layer of the log: it comes from the repositories, so a stack whose repositories are all replaced opens no store."""


@Effect.gen
async def _answers(do: Do[Never, MessageRepositoryTag | MemoryRepositoryTag]) -> FirstAnswers:
    for repository in (do.service(MessageRepositoryTag), do.service(MemoryRepositoryTag)):
        if getattr_static(repository, "answers", None) is not None and isinstance(repository, KeepsAnswers):
            return repository.answers
    from chatmemory_layers.in_memory.database import Database
    from chatmemory_layers.in_memory.first_answers import InMemoryFirstAnswers

    return InMemoryFirstAnswers(Database())


first_answers = Layer.effect(FirstAnswersTag, _answers(), needs=[MessageRepositoryTag, MemoryRepositoryTag])
"""The layer of the first answers to requests; it comes from the repositories, as the log does."""

audit_trail = event_log >> Layer.effect(
    AuditTrailTag, Effect.service(EventLogTag).map(AuditTrail), needs=[EventLogTag]
)
