"""``EventLog``: the event log of a store, read as changes since a cursor or as an audit trail."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final, Protocol, Self, TypeAlias, cast, final, runtime_checkable

from attrs import frozen

from chatmemory.access.principal import principal
from chatmemory.effect import Effect, EffectFailed, Stream, Tag
from chatmemory.errors import DataValidationError, Problem, RepositoryError
from chatmemory.events.event import Event

TARGET_IN_PLACE: Final = 256
"""Characters of a target that are enough to tell its event from another one of the same instant and number."""

LONGEST_NUMBER: Final = 18
"""Digits of the number of an event."""

PAGE: Final = 500
"""Events that a stream of changes reads at once."""

EventPlace: TypeAlias = tuple[datetime, int, str]
"""``(stored_at, number, target)`` of an event, the target cut off behind ``TARGET_IN_PLACE`` characters."""


@final
@frozen(kw_only=True)
class AuditQuery:
    """Selects events of principals with a name.

    Attributes:
        limit: the largest number of events.
        after: the place of the last event of the previous page; None: begin with the newest event.
        who: only events of this principal.
        target: only events of the conversation or the memory with this id.
        since: only events of this instant or later.
    """

    limit: int = 100
    after: EventPlace | None = None
    who: str | None = None
    target: str | None = None
    since: datetime | None = None

    def admits(self, event: Event) -> bool:
        """Return whether *event* matches, apart from *after* and *limit*."""
        return (
            event.who != ""
            and self.who in {None, event.who}
            and self.target in {None, event.target}
            and (self.since is None or event.stored_at >= self.since)
        )


@final
@frozen
class ChangesPage:
    """A page of changes.

    Attributes:
        events: the events that ``principal()`` may see, oldest first.
        cursor: the cursor of the next page.
        is_last: True: there were no further events; False: there may be some.
    """

    events: tuple[Event, ...]
    cursor: str
    is_last: bool

    @classmethod
    def of(cls, events: Sequence[Event], *, since: str, limit: int) -> Self:
        """Return the page of *events*, without those that ``principal()`` may not see.

        Args:
            events: the next events, oldest first.
            since: the cursor after which they are.
            limit: the largest number of events that were to be read; with fewer *events*, the page is the last one.
        """
        who = principal()
        seen = tuple([event for event in events if event.is_seen_by(who)])
        return cls(seen, events[-1].cursor if events else since, len(events) < limit)


def no_cursor() -> DataValidationError:
    """Return the error for a text that is not a cursor of a log."""
    problem = "not a cursor: give the cursor of an event, or of an earlier page of changes"
    return DataValidationError((Problem("$.since", problem),))


def number_in(cursor: str) -> int | None:
    """Return the number in *cursor*; None when it is not a cursor."""
    return int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) <= LONGEST_NUMBER else None


class EventLog(Protocol):
    """Reads the events of a store that ``principal()`` may see, and removes old ones.

    The repositories of the store write each event in the transaction of its change.
    """

    def acted(self, query: AuditQuery, /) -> Effect[tuple[Event, ...], RepositoryError]:
        """Return the events that match *query*, newest first."""
        ...

    def changes_page(
        self, since: str | None = None, *, limit: int
    ) -> Effect[ChangesPage, DataValidationError | RepositoryError]:
        """Return the events after *since*, in the order of their commits; no event is skipped.

        Args:
            since: the cursor of an event or of a page of this log; None: begin with the oldest stored event.
            limit: the largest number of events that are read, 1 or more; the page has fewer when ``principal()`` may not see
                some of them.

        Fails with:
            DataValidationError: *since* is not a cursor of a log.
        """
        ...

    def end(self) -> Effect[str, RepositoryError]:
        """Return the cursor after the newest event, to read later changes only.

        Events that were committed while others were being written may be read again after it.
        """
        ...

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:
        """Remove the events that were stored before an instant, and return their number.

        Values of items that ended before it are removed too.  The event of a forgotten memory is kept without its principal,
        so that the memory is not stored again.
        """
        ...


@runtime_checkable
class KeepsLog(Protocol):
    """A repository that logs its changes."""

    @property
    def log(self) -> EventLog:
        """The log of the store, the same for all its repositories."""
        ...


def changes(
    log: EventLog, *, since: str | None = None
) -> Stream[Event, DataValidationError | RepositoryError]:
    """Return a stream of the events after *since* that are committed by now and that ``principal()`` may see.

    It ends after the newest event.  Continue with the ``cursor`` of the last event, or with ``log.end()`` from before.

    Args:
        log: the log that is read.
        since: the cursor of an event; None: begin with the oldest stored event.
    """

    async def events() -> AsyncIterator[Event]:
        cursor, is_last = since, False
        while not is_last:
            page = await log.changes_page(cursor, limit=PAGE).or_raise()
            for event in page.events:
                yield event
            cursor, is_last = page.cursor, page.is_last

    return Stream.from_async_iterable(events, EffectFailed, to=_error_of)


def _error_of(failed: EffectFailed) -> DataValidationError | RepositoryError:
    return cast("DataValidationError | RepositoryError", failed.error)  # the errors of changes_page


class EventLogTag(Tag[EventLog]):
    """The tag under which layers provide ``EventLog``."""
