"""``audit_page``: one page of the audit trail."""

from datetime import datetime
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.effect import Do, Effect
from chatmemory.errors import DataValidationError, GenericMemoryError, Problem
from chatmemory.events.audit import AuditEntry, AuditTrailTag
from chatmemory.events.event_log import LONGEST_NUMBER, TARGET_IN_PLACE, AuditQuery
from chatmemory.input.rules import NOT_A_CURSOR, cursor_of, id_problems, read_cursor, refuse

MOST_ENTRIES: Final = 1000


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
