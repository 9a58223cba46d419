"""What has changed, read page by page."""

from typing import Final, final

from attrs import evolve, field, frozen, validators

from chatmemory.access.principal import ANYBODY, acting_as
from chatmemory.effect import Do, Effect
from chatmemory.errors import DataValidationError, GenericMemoryError, memory_error
from chatmemory.events.event import Event
from chatmemory.events.event_log import ChangesPage, EventLogTag
from chatmemory.input.rules import id_problems, refuse
from chatmemory.programs.operations.grant import Grant

MOST_CHANGES: Final = 1000


@final
@frozen(kw_only=True)
class ChangesList:
    """A list of what has changed, oldest first.

    Attributes:
        since: the `cursor` of an event, or of the page before; without it, the list begins with the oldest event.
        limit: how many events are looked at; those that the token may not see are left out.
    """

    since: str | None = None
    limit: int = field(default=100, validator=[validators.ge(1), validators.le(MOST_CHANGES)])


@Effect.gen
async def changes_page(
    do: Do[DataValidationError | GenericMemoryError, EventLogTag], grant: Grant, asked: ChangesList
) -> ChangesPage:
    """Return what *asked* names of what has changed: with the main token everything, with another what it may see.

    Who has another token than the main one is not told which client acted, but for itself.
    """
    refuse(do, id_problems("$.since", asked.since, or_none=True))
    with acting_as(ANYBODY if grant.is_main else grant.principal):
        page = await do(
            do.service(EventLogTag).changes_page(asked.since, limit=asked.limit).alt(memory_error)
        )
    if grant.is_main:
        return page
    return evolve(page, events=tuple([_told_to(grant, event) for event in page.events]))


def _told_to(grant: Grant, event: Event) -> Event:
    return event if event.who == grant.name else evolve(event, who="", user="")
