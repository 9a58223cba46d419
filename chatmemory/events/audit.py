"""``AuditTrail``: who did what to which conversation or memory: the events in which somebody with a name acted.

Reads leave no event, nor does what is refused; what the service does by itself names nobody.  Ids stay on record when what
they name is forgotten, until they are pruned.  Ids that the service makes tell nothing; one that a caller or an import has
made of a text confirms it to somebody who knows the whole of it already.
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
    """One change, and who made it.

    Attributes:
        number: tells it from other changes of the same instant and target.
        at: when, by the clock of the store, UTC.
        who: the name of the principal: on a server, of its token.
        user: in whose name it acted.
        action: what was done.
        kind: to what.
        target: the id of the conversation or the memory, or the name of the item.
        owner: whose that is.
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
    """What of *log* has somebody's name."""

    log: EventLog

    def entries(self, query: AuditQuery, /) -> Effect[tuple[AuditEntry, ...], RepositoryError]:
        """Return the entries that *query* asks for, newest first."""
        return self.log.acted(query).map(lambda events: tuple([_entry(event) for event in events]))

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:
        """Remove the events before an instant, whoever acted, and return how many; see ``EventLog.prune``."""
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
