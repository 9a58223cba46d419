"""``Event``: one change of a conversation, a memory or an item in the log; ``Change``: the part that a repository gives.

``docs/understand/truth-and-time.md`` says what the log is for.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import NO_PRINCIPAL, Principal

EventKind: TypeAlias = Literal["conversation", "memory", "item"]
EventAction: TypeAlias = Literal[
    "added",  # messages, to a conversation
    "summarized",
    "forked",  # a conversation, from the parent that *by* names
    "removed",  # the newest message of a conversation; an item
    "cleared",
    "stored",  # a memory; an item, new or instead of its earlier value
    "changed",  # from here on: a memory
    "superseded",  # by another memory
    "retired",  # without another in its place
    "promoted",
    "demoted",
    "pinned",
    "unpinned",
    "restored",  # true again
    "forgotten",
    "expired",  # a memory or an item, by its age
]

AGE: Final = "age"
"""The reason of what goes by itself when its time is over."""
SESSION: Final = "session"
"""The reason of what goes with the session that it was kept for."""
UNDO: Final = "undo"
"""The reason of a change that takes another one back."""
USE: Final = "use"
"""The reason of a promotion that no person asked for."""


_reason: ContextVar[str | None] = ContextVar("chatmemory.reason", default=None)


current_reason: Final[Callable[[], str | None]] = _reason.get
"""Returns the reason of the block that runs; None: there is none."""


@contextmanager
def because(reason: str) -> Generator[None]:
    """Log the changes inside the block with this *reason*, unless a change has its own reason."""
    token = _reason.set(reason)
    try:
        yield
    finally:
        _reason.reset(token)


@final
class Change(NamedTuple):
    """A change of one target, as a repository gives it; the log adds the other fields of ``Event``.

    Attributes:
        reason: the reason; None: the reason of the enclosing ``because`` block.
        is_by_itself: whether the service makes the change by itself, as with a summary or an expiry by age.
    """

    action: EventAction
    kind: EventKind
    target: str
    owner: Namespace
    version: int | None = None
    reach: int | None = None
    said_at: datetime | None = None
    by: str | None = None
    reason: str | None = None
    session_id: str | None = None
    evidence: Sequence[str] = ()
    is_by_itself: bool = False

    @property
    def why(self) -> str | None:
        """The reason in the log."""
        return self.reason or _reason.get()


@final
@frozen
class Event:
    """One change, written in the transaction of the change, and never changed afterwards.

    Attributes:
        number: grows with each change of one place: a conversation, the memories of a user, the items below one first
            label.
        stored_at: the time of the write, by the clock of the store, UTC.
        said_at: the time that the caller gave: that of the newest message, or the instant at which a memory becomes true
            or stops being true; None when there is none.
        who: the name of the principal, on a server the name of its token; ``""`` for a program without ``acting_as``, and
            for changes that the service makes by itself.
        user: the user of the principal.
        kind: the kind of the target.
        action: the kind of change.
        target: the id of the conversation or the memory; of an item, its labels and its key as a JSON array.
        owner: the owner of the target; items have no owner.
        version: the version of the conversation or the memory after the change; None: the change makes no version.
        reach: the number of the newest message that the conversation had been given until then.
        by: the id of the replacement: the newer memory, or the summary; for a branch, the id of the conversation from
            which it was forked.
        reason: the reason, when the action does not say it: ``age``, ``session``, ``use``, ``key``, ``undo``, ``again``, or the
            name of the attribute with a newer statement.
        session_id: the conversation of the messages in *evidence*.
        evidence: the ids of the messages from which a memory was made.
        cursor: continues ``EventLog.changes`` after this event.
    """

    number: int
    stored_at: datetime
    said_at: datetime | None
    who: str
    user: str
    kind: EventKind
    action: EventAction
    target: str
    owner: Namespace
    version: int | None = None
    reach: int | None = None
    by: str | None = None
    reason: str | None = None
    session_id: str | None = None
    evidence: tuple[str, ...] = ()
    cursor: str = ""

    def is_seen_by(self, principal: Principal) -> bool:
        """Return whether *principal* may see the target, and therefore the event."""
        if self.kind == "conversation":
            return principal.may("read", self.owner, self.target)
        if principal is NO_PRINCIPAL or principal.granted is None:
            return True
        return self.kind == "memory" and principal.namespace.sees(self.owner)

    @property
    def is_tombstone(self) -> bool:
        """Whether it prevents a forgotten memory from being stored again."""
        return self.kind == "memory" and self.action == "forgotten" and self.reason is None
