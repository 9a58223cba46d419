"""``KeptLog``: the events of a store in a list, the simplest possible log."""

from collections.abc import Iterable
from datetime import datetime
from typing import final

from attrs import define, evolve, field

from chatmemory.access.principal import principal
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.effect.services.clock import Clock, SystemClock
from chatmemory.errors import DataValidationError
from chatmemory.events.event import Change, Event
from chatmemory.events.event_log import AuditQuery, ChangesPage, no_cursor, number_in


@final
@define(eq=False)
class KeptLog:
    """The events, in the order in which they were written."""

    kept: list[Event] = field(factory=list[Event])
    clock: Clock = field(factory=SystemClock)
    _number: int = 0

    def note(self, changes: Iterable[Change]) -> None:
        """Add an event for each of *changes*, with the present principal."""
        who, now = principal(), self.clock.now()
        for change in changes:
            self._number += 1
            acting = ("", "") if change.is_by_itself else (who.name, who.namespace.user)
            event = Event(
                self._number,
                now,
                change.said_at,
                *acting,
                kind=change.kind,
                action=change.action,
                target=change.target,
                owner=change.owner,
                version=change.version,
                reach=change.reach,
                by=change.by,
                reason=change.why,
                session_id=change.session_id,
                evidence=tuple(change.evidence),
                cursor=str(self._number),
            )
            self.kept.append(event)

    def acted(self, query: AuditQuery, /) -> tuple[Event, ...]:
        """Return the events that match *query*, newest first."""
        who = principal()
        found = [
            event
            for event in reversed(self.kept)
            if query.admits(event)
            and event.is_seen_by(who)
            and (query.after is None or event.number < query.after[1])
        ]
        return tuple(found[: query.limit])

    def changes_page(
        self, since: str | None = None, *, limit: int
    ) -> Outcome[ChangesPage, DataValidationError]:
        """Return the events after *since*, in the order of their commits; no event is skipped."""
        number = 0 if since is None else number_in(since)
        if number is None:
            return Failure(no_cursor())
        behind = [event for event in self.kept if event.number > number]
        return Success(ChangesPage.of(behind[:limit], since=str(number), limit=limit))

    def end(self) -> str:
        """Return the cursor after the newest event, to read later changes only."""
        return str(self._number)

    def prune(self, before: datetime, /) -> int:
        """Remove the events that were stored before an instant, and return their number."""
        old = [
            event for event in self.kept if event.stored_at < before and (event.who or not event.is_tombstone)
        ]
        gone = {event.number for event in old}
        self.kept = [
            evolve(event, who="", user="") if event.number in gone else event
            for event in self.kept
            if event.number not in gone or event.is_tombstone
        ]
        return len(old)
