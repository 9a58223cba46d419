"""``Event``: one change of a conversation, a memory or an item, as the log keeps it; ``Change``: what a repository notes of it.

``docs/truth-and-time.md`` says what the log is for.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Principal

EventKind: TypeAlias = Literal["conversation", "memory", "item"]
EventAction: TypeAlias = Literal[
    "added",  # messages, to a conversation
    "summarized",
    "forked",  # a conversation, from the one that *by* names
    "removed",  # the newest message of a conversation; an item
    "cleared",
    "stored",  # a memory; an item, new or in the place of its earlier value
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


@contextmanager
def because(reason: str) -> Generator[None]:
    """Log what is changed inside the block for this *reason*, where the change does not say another."""
    token = _reason.set(reason)
    try:
        yield
    finally:
        _reason.reset(token)


@final
class Change(NamedTuple):
    """What a repository does to one target; what ``Event`` says besides, the log knows.

    Attributes:
        reason: why; None: for the reason of the block that runs, see ``because``.
        is_by_itself: the service does it, whoever happens to act: a summary, what goes by its age.
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
        """The reason that the log tells."""
        return self.reason or _reason.get()


@final
@frozen
class Event:
    """One change, written in the transaction that made it, and never changed afterwards.

    Attributes:
        number: grows from change to change of one place: a conversation, the memories of a user, the items below one first
            label.
        stored_at: when the store wrote it, by the clock of the store, UTC.
        said_at: from when it is true, as the caller said it: when the newest message was said, when a memory begins to be
            true or ceases to be; None where nobody says so.
        who: the name of the principal who acted: on a server, of its token; ``""``: a program that has the store to itself,
            or the service by itself.
        user: in whose name they acted.
        kind: what the target is.
        action: what was done to it.
        target: the id of the conversation or the memory; of an item, its labels and its key as a JSON array.
        owner: whose the target is; items are nobody's.
        version: of the conversation or the memory after the change; None: the change makes no version.
        reach: the number of the last message that a conversation had been given by then.
        by: the id of what took its place: the successor of a memory, the summary; of a branch, the id of
            the conversation that it was forked from.
        reason: why, where the action does not say it: ``age``, ``session``, ``use``, ``key``, ``undo``, ``again``, or the attribute about which
            something newer was said.
        session_id: the conversation that *evidence* is of.
        evidence: the ids of the messages that a memory came from.
        cursor: where ``EventLog.changes`` goes on behind this event.
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
        """Return whether *principal* may see its target: an event tells nothing to others."""
        if principal.granted is None:
            return True
        if self.kind == "conversation":
            return principal.may("read", self.owner, self.target)
        return self.kind == "memory" and principal.namespace.sees(self.owner)

    @property
    def is_tombstone(self) -> bool:
        """Whether it keeps what was forgotten from coming back."""
        return self.kind == "memory" and self.action == "forgotten" and self.reason is None
