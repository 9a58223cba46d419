"""``GET /changes``, ``GET /events``: the changes since a cursor, as pages or as a stream; ``GET /audit``: who did them.

Only the main token may read the audit trail.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final, final
from urllib.parse import quote, unquote

from attrs import evolve, field, frozen, validators

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.effect import Do, Effect, Success
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import DataValidationError, GenericMemoryError, memory_error
from chatmemory.events.audit import AuditTrailTag
from chatmemory.events.event import Event
from chatmemory.events.event_log import ChangesPage, EventLog, EventLogTag
from chatmemory.input.rules import id_problems, refuse
from chatmemory.input.structure import write_json
from chatmemory.programs.http.operation import Call, EventStream, Operation, Stream
from chatmemory.programs.http.operations.events import Poll, event_stream
from chatmemory.programs.operations.changes import AuditList, AuditPage, audit_page
from chatmemory.programs.operations.grant import NO_AUDIT, Grant
from chatmemory.programs.operations.refusal import Refusal

PAGE: Final = 100
MOST_CHANGES: Final = 1000


@final
@frozen(kw_only=True)
class ChangesList:
    """A list of what has changed, oldest first.

    Attributes:
        since: the `cursor` of an event, or of the page before; without it, the list begins with the oldest event.
        limit: the number of events to examine; those that the token may not see are left out.
    """

    since: str | None = None
    limit: int = field(default=100, validator=[validators.ge(1), validators.le(MOST_CHANGES)])


@final
@frozen(kw_only=True)
class FollowingChanges:
    """Where following the changes begins.

    Attributes:
        since: the `cursor` of an event, or of a page of changes; without it, only changes from now on are sent.
    """

    since: str | None = None


@Effect.gen
async def list_changes(
    do: Do[DataValidationError | GenericMemoryError, EventLogTag], call: Call[ChangesList, None]
) -> ChangesPage:
    """List the changes since a cursor, oldest first, without any content; if `isLast` is true, ask again later."""
    refuse(do, id_problems("$.since", call.query.since, or_none=True))
    return await do(_page(do.service(EventLogTag), call.grant, call.query))


@Effect.gen
async def follow_changes(
    do: Do[DataValidationError | GenericMemoryError, EventLogTag | ClockTag],
    call: Call[FollowingChanges, None],
) -> EventStream:
    """Send each change of a conversation, a memory or an item when it is committed, as server-sent events.

    `event` is `change`, and `id` is its cursor, percent-encoded.  A client that reconnects with `Last-Event-ID` misses
    no event.  The stream has only the changes that the token may see, and ends when the token expires.
    """
    refuse(do, id_problems("$.since", call.query.since, or_none=True))
    log = do.service(EventLogTag)
    since = call.query.since if call.last_event is None else unquote(call.last_event)
    cursor = since if since is not None else await do(log.end().alt(GenericMemoryError))
    # Read now, so that an invalid cursor fails the request instead of starting streams that end again and again.
    await do(_page(log, call.grant, ChangesList(since=cursor, limit=1)))
    polls, ends_at = _polls(log, call.grant, cursor), call.grant.ends_at
    return EventStream(event_stream(polls, closing=call.closing, ends_at=ends_at, clock=do.service(ClockTag)))


async def _polls(log: EventLog, grant: Grant, cursor: str) -> AsyncIterator[Poll]:
    while isinstance(read := await _page(log, grant, ChangesList(since=cursor, limit=PAGE)), Success):
        page = read.unwrap()
        yield Poll(map(_changed, page.events), has_more=not page.is_last)
        cursor = page.cursor


def _changed(event: Event) -> str:
    return f"id: {quote(event.cursor)}\nevent: change\ndata: {write_json(event)}\n\n"


@Effect.gen
async def _page(
    do: Do[DataValidationError | GenericMemoryError], log: EventLog, grant: Grant, asked: ChangesList
) -> ChangesPage:
    """Return a page of changes: all of them for the main token, and those that *grant* may see for any other token.

    Only the main token sees which client made a change; another token sees this for its own changes only.
    """
    with acting_as(EVERYBODY if grant.is_main else grant.principal):
        page = await do(log.changes_page(asked.since, limit=asked.limit).alt(memory_error))
    if grant.is_main:
        return page
    events = [event if event.who == grant.name else evolve(event, who="", user="") for event in page.events]
    return evolve(page, events=tuple(events))


CHANGES: Final[Sequence[Operation]] = (
    Operation("GET", "/changes", list_changes, example={"limit": 20}),
    Operation(
        "GET",
        "/events",
        follow_changes,
        stream=Stream(r"[!-~]{1,4096}", ("change",), Event, format="changes-cursor"),
        example={"since": "0"},
    ),
)


def list_audit_entries(
    call: Call[AuditList, None],
) -> Effect[AuditPage, DataValidationError | GenericMemoryError | Refusal, AuditTrailTag]:
    """List who changed which conversation or memory, newest first, without any content; it needs the main token."""
    return audit_page(call.query) if call.grant.is_main else Effect.fail(NO_AUDIT)


AUDIT: Final[Sequence[Operation]] = (
    Operation("GET", "/audit", list_audit_entries, example={"limit": 20, "since": "2026-03-01T00:00:00Z"}),
)
