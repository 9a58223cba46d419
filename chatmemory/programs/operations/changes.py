"""``changes_page``: one page of the changes since a cursor; ``audit_page``: one page of the audit trail."""

from datetime import datetime
from typing import Final, final

from attrs import evolve, field, frozen, validators

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.effect import Do, Effect
from chatmemory.errors import DataValidationError, GenericMemoryError, Problem, memory_error
from chatmemory.events.audit import AuditEntry, AuditTrailTag
from chatmemory.events.event_log import (
    LONGEST_NUMBER,
    TARGET_IN_PLACE,
    AuditQuery,
    ChangesPage,
    EventLog,
    EventLogTag,
)
from chatmemory.input.rules import NOT_A_CURSOR, cursor_of, id_problems, read_cursor, refuse
from chatmemory.programs.operations.grant import Grant

MOST_CHANGES: Final = 1000
MOST_ENTRIES: Final = 1000


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


@Effect.gen
async def changes_page(
    do: Do[DataValidationError | GenericMemoryError, EventLogTag], grant: Grant, asked: ChangesList
) -> ChangesPage:
    """Return a page of changes: all of them for the main token, and those that *grant* may see for any other token.

    Only the main token sees which client made a change; another token sees this for its own changes only.
    """
    refuse(do, id_problems("$.since", asked.since, or_none=True))
    return await do(told_page(do.service(EventLogTag), grant, asked))


@Effect.gen
async def told_page(
    do: Do[DataValidationError | GenericMemoryError], log: EventLog, grant: Grant, asked: ChangesList
) -> ChangesPage:
    """Return a page of changes from *log*, as ``changes_page`` does, without checking *asked*."""
    with acting_as(EVERYBODY if grant.is_main else grant.principal):
        page = await do(log.changes_page(asked.since, limit=asked.limit).alt(memory_error))
    if grant.is_main:
        return page
    events = [event if event.who == grant.name else evolve(event, who="", user="") for event in page.events]
    return evolve(page, events=tuple(events))


@final
@frozen(kw_only=True)
class AuditList:
    """A list of changes, newest first.

    Attributes:
        after: the `next` of the previous page.
        who: only what this client did: the name of its token, as the log shows it.
        target: only what was done to the conversation or the memory with this id.
        since: only what was done at this time or later.
    """

    limit: int = field(default=100, validator=[validators.ge(1), validators.le(MOST_ENTRIES)])
    after: str | None = None
    who: str | None = None
    target: str | None = None
    since: datetime | None = None


@final
@frozen
class AuditPage:
    """Changes, newest first; *next* is the cursor of the page after this one, null at the end."""

    entries: tuple[AuditEntry, ...]
    next: str | None


@Effect.gen
async def audit_page(
    do: Do[DataValidationError | GenericMemoryError, AuditTrailTag], asked: AuditList
) -> AuditPage:
    """Return a page of the audit trail, for all users; fail with ``DataValidationError`` if *asked* is not valid."""
    place, problems = read_cursor(asked.after)
    after = None
    if place is not None:
        at, named = place
        number, _, target = named.partition(" ")
        digits = number.removeprefix("-")
        if digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST_NUMBER:
            after = at, int(number), target
        else:
            problems = [Problem("$.after", NOT_A_CURSOR)]
    refuse(
        do,
        problems,
        id_problems("$.who", asked.who, or_none=True),
        id_problems("$.target", asked.target, or_none=True),
    )
    query = AuditQuery(limit=asked.limit, after=after, who=asked.who, target=asked.target, since=asked.since)
    with acting_as(EVERYBODY):  # the trail has no owner: a client that may read it reads all of it
        entries = await do(do.service(AuditTrailTag).entries(query).alt(GenericMemoryError))
    if len(entries) < asked.limit:
        return AuditPage(entries, next=None)
    last = entries[-1]
    return AuditPage(entries, cursor_of((last.at, f"{last.number} {last.target[:TARGET_IN_PLACE]}")))
