"""``AuditTrail``: who changed which conversation or memory: the events of principals with a name.

Reads and refused calls leave no event; a change that the service makes by itself is without a name.  The id of a forgotten
conversation or memory stays in the trail until its events are pruned.  An id that the service made says nothing about the
text.  An id that a caller or an import derived from a text can confirm that text to a reader who already knows it all.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Tag
from chatmemory.errors import RepositoryError
from chatmemory.events.event import Event, EventAction, EventKind
from chatmemory.events.event_log import AuditQuery, EventLog


@final
@frozen
class AuditEntry:
    """One change, with the name of the principal who made it.

    Attributes:
        number: distinguishes changes of the same target at the same instant.
        at: the time of the change, by the clock of the store, UTC.
        who: the name of the principal; on a server, the name of its token.
        user: the user of the principal.
        action: the kind of change.
        kind: the kind of the target.
        target: the id of the conversation or the memory, or the name of the item.
        owner: the owner of the target.
    """

    number: int
    at: datetime
    who: str
    user: str
    action: EventAction
    kind: EventKind
    target: str
    owner: Namespace


@final
@frozen
class AuditTrail:
    """Reads the events of *log* that have a name."""

    log: EventLog

    def entries(self, query: AuditQuery, /) -> Effect[tuple[AuditEntry, ...], RepositoryError]:
        """Return the entries that match *query*, newest first."""
        return self.log.acted(query).map(lambda events: tuple([_entry(event) for event in events]))

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:
        """Remove all events before an instant, and return their number; see ``EventLog.prune``."""
        return self.log.prune(before)


def _entry(event: Event) -> AuditEntry:
    return AuditEntry(
        event.number,
        event.stored_at,
        event.who,
        event.user,
        event.action,
        event.kind,
        event.target,
        event.owner,
    )


class AuditTrailTag(Tag[AuditTrail]):
    """The tag under which layers provide ``AuditTrail``."""
