"""``changes_page``: one page of the changes since a cursor."""

from typing import Final, final

from attrs import evolve, field, frozen, validators

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.effect import Do, Effect
from chatmemory.errors import DataValidationError, GenericMemoryError, memory_error
from chatmemory.events.event import Event
from chatmemory.events.event_log import ChangesPage, EventLog, EventLogTag
from chatmemory.input.rules import id_problems, refuse
from chatmemory.programs.operations.grant import Grant

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


@Effect.gen
async def changes_page(
    do: Do[DataValidationError | GenericMemoryError, EventLogTag], grant: Grant, asked: ChangesList
) -> ChangesPage:
    """Return a page of changes: all of them for the main token, and those that *grant* may see for any other token.

    Only the main token sees which client made a change; another token sees this for its own changes only.

    Args:
        do: runs a step.
        grant: what the client may do.
        asked: the cursor, and the most events to examine.
    """
    refuse(do, id_problems("$.since", asked.since, or_none=True))
    return await do(told_page(do.service(EventLogTag), grant, asked))


@Effect.gen
async def told_page(
    do: Do[DataValidationError | GenericMemoryError], log: EventLog, grant: Grant, asked: ChangesList
) -> ChangesPage:
    """Return a page of changes from *log*, as ``changes_page`` does, without checking *asked*.

    Args:
        do: runs a step.
        log: the log of events.
        grant: what the client may do.
        asked: the cursor, and the most events to examine.
    """
    with acting_as(EVERYBODY if grant.is_main else grant.principal):
        page = await do(log.changes_page(asked.since, limit=asked.limit).alt(memory_error))
    if grant.is_main:
        return page
    return evolve(page, events=tuple([_told_to(grant, event) for event in page.events]))


def _told_to(grant: Grant, event: Event) -> Event:
    return event if event.who == grant.name else evolve(event, who="", user="")
