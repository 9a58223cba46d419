"""``AuditTrail``: who did what to which conversation or memory, and never what it says.

A store that keeps a trail writes each entry in the transaction of the change, and only when somebody with a name acts: a
program that has the store to itself pays for nothing.  Reads leave no entry, for each would cost a write; nor does what
the service does by itself: summaries, uses that are counted, and what goes by its age.

Ids stay on record when what they name is forgotten, until they are pruned.  Ids that the service makes tell nothing; one
that a caller or an import has made of a text confirms it to somebody who knows the whole of it already.
"""

from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias, final, runtime_checkable

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Tag
from chatmemory.errors import RepositoryError

AuditKind: TypeAlias = Literal["conversation", "memory"]
AuditAction: TypeAlias = Literal[
    "added",  # messages, to a conversation
    "removed",  # its newest message
    "cleared",
    "stored",  # from here on: a memory
    "changed",
    "superseded",  # by another memory
    "retired",  # without another in its place
    "promoted",
    "demoted",
    "pinned",
    "unpinned",
    "restored",  # true again
    "forgotten",
]


@final
class Deed(NamedTuple):
    """What is done to one conversation or memory, of *owner*; *target* is its id."""

    action: AuditAction
    kind: AuditKind
    target: str
    owner: Namespace


@final
@frozen
class AuditEntry:
    """One change, and who made it.

    Attributes:
        number: tells it from other entries of the same instant.
        at: when, by the clock of the store, UTC.
        who: the name of the principal: on a server, of its token.
        user: in whose name it acted.
        action: what was done.
        kind: to what.
        target: the id of the conversation or the memory.
        owner: whose that is.
    """

    number: int
    at: datetime
    who: str
    user: str
    action: AuditAction
    kind: AuditKind
    target: str
    owner: Namespace


@final
@frozen(kw_only=True)
class AuditQuery:
    """Which entries to read.

    Attributes:
        limit: the largest number of entries.
        after: ``(at, number)`` of the last entry of the page before; None: begin with the newest.
        who: only what this principal did.
        target: only what was done to the conversation or the memory of this id.
        since: only what was done at this instant or later.
    """

    limit: int = 100
    after: tuple[datetime, int] | None = None
    who: str | None = None
    target: str | None = None
    since: datetime | None = None


class AuditTrail(Protocol):
    """Reads the entries of a store, and removes old ones; whoever has it may read them all."""

    def entries(self, query: AuditQuery, /) -> Effect[tuple[AuditEntry, ...], RepositoryError]:
        """Return the entries that *query* asks for, newest first."""
        ...

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:
        """Remove the entries that are older than *before*, and return how many there were."""
        ...


@runtime_checkable
class KeepsTrail(Protocol):
    """A repository that keeps a trail of its changes."""

    @property
    def trail(self) -> AuditTrail:
        """The trail of the store, the same for all its repositories."""
        ...


class AuditTrailTag(Tag[AuditTrail]):
    """The tag under which layers provide ``AuditTrail``."""
