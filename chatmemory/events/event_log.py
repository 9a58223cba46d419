"""``EventLog``: the log of a store: what has changed since, and who did what."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final, Protocol, TypeAlias, final, runtime_checkable

from attrs import frozen

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
    """Which events to read, of those in which somebody with a name acted.

    Attributes:
        limit: the largest number of events.
        after: the place of the last event of the page before; None: begin with the newest.
        who: only what this principal did.
        target: only what was done to the conversation or the memory of this id.
        since: only what was done at this instant or later.
    """

    limit: int = 100
    after: EventPlace | None = None
    who: str | None = None
    target: str | None = None
    since: datetime | None = None

    def admits(self, event: Event) -> bool:
        """Return whether *event* is asked for, whatever was on the pages before."""
        return (
            event.who != ""
            and self.who in {None, event.who}
            and self.target in {None, event.target}
            and (self.since is None or event.stored_at >= self.since)
        )


@final
@frozen
class ChangesPage:
    """A part of what has changed.

    Attributes:
        events: what ``principal()`` may see of it, oldest first.
        cursor: where the next page begins.
        is_last: whether nothing more had been committed.
    """

    events: tuple[Event, ...]
    cursor: str
    is_last: bool


def no_cursor() -> DataValidationError:
    """Return the error of a cursor that no log has given."""
    problem = "no cursor: give the cursor of an event or of another page of changes"
    return DataValidationError((Problem("$.since", problem),))


def number_in(cursor: str) -> int | None:
    """Return the number that *cursor* is; None when it is none."""
    return int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) <= LONGEST_NUMBER else None


class EventLog(Protocol):
    """Reads the events of a store that ``principal()`` may see, and removes old ones.

    The repositories of the store write them, each in the transaction of its change.
    """

    def acted(self, query: AuditQuery, /) -> Effect[tuple[Event, ...], RepositoryError]:
        """Return the events that *query* asks for, newest first."""
        ...

    def changes_page(
        self, since: str | None = None, *, limit: int
    ) -> Effect[ChangesPage, DataValidationError | RepositoryError]:
        """Return what was committed behind *since*, in the order of the commits; nothing is passed by.

        Args:
            since: the cursor of an event or of a page of this log; None: begin with the oldest event that is kept.
            limit: the largest number of events that are looked at, 1 or more; of these, some may be nobody's to see.

        Fails with:
            DataValidationError: *since* is no cursor of a log.
        """
        ...

    def end(self) -> Effect[str, RepositoryError]:
        """Return a cursor for who wants to know what changes from now on.

        Behind it stands all that is committed from now on, and perhaps again what was committed while others were writing.
        """
        ...

    def prune(self, before: datetime, /) -> Effect[int, RepositoryError]:
        """Remove what was stored before an instant, and return how many events there were.

        That a memory was forgotten is kept, without who did it: it must not come back.
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
    """Return a stream of what was committed behind *since* until now, which ``principal()`` may see.

    It ends with what there is.  The ``cursor`` of its last event, or of ``log.end()`` before, leads on from there.

    Args:
        log: whose events.
        since: the cursor of an event; None: begin with the oldest one that is kept.
    """

    async def events() -> AsyncIterator[Event]:
        cursor, is_last = since, False
        while not is_last:
            page = await log.changes_page(cursor, limit=PAGE).or_raise()
            for event in page.events:
                yield event
            cursor, is_last = page.cursor, page.is_last

    return Stream.from_async_iterable(
        events, EffectFailed[DataValidationError | RepositoryError], to=_error_of
    )


def _error_of(
    failed: EffectFailed[DataValidationError | RepositoryError],
) -> DataValidationError | RepositoryError:
    return failed.error


class EventLogTag(Tag[EventLog]):
    """The tag under which layers provide ``EventLog``."""
