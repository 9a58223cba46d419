"""``Follower``: reads what the log of a repository tells of the things of one law."""

from typing import Final, NamedTuple, final

import anyio
import pytest
from attrs import define, field

from chatmemory.access.principal import ANYBODY, acting_as
from chatmemory.events.event import Event, EventAction
from chatmemory.events.event_log import EventLog
from chatmemory.laws.kit.asking import Asker
from chatmemory.laws.kit.law import LawBrokenError, expect
from chatmemory.laws.kit.under_test import UnderTest

PAUSE_SECONDS: Final = 0.02


@final
class Told(NamedTuple):
    """What the laws compare of an event: *target* without the beginning that is the law's own."""

    action: EventAction
    target: str
    version: int | None = None
    by: str | None = None
    reason: str | None = None


@final
@define(eq=False)
class Follower:
    """Follows the log from where it was when the law began.

    Attributes:
        page: how many events are read at once.
        events: what it has read of the things of the law, in the order of the log.
    """

    log: EventLog
    asker: Asker
    cursor: str
    page: int = 50
    events: list[Event] = field(factory=list[Event])

    async def read(self) -> None:
        """Read on, until the log has no more."""
        is_last = False
        while not is_last:
            with acting_as(ANYBODY):
                page = await self.asker.get(self.log.changes_page(self.cursor, limit=self.page))
            self.cursor, is_last = page.cursor, page.is_last
            self.events += [event for event in page.events if self.asker.space in event.target]

    async def read_all(self, count: int) -> None:
        """Read on until *count* events are there: somebody else's transaction may hold them back for a while."""
        with anyio.move_on_after(self.asker.patience_seconds):
            while True:
                await self.read()
                if len(self.events) >= count:
                    return
                await anyio.sleep(PAUSE_SECONDS)

    async def expect(self, *expected: Told) -> None:
        """Break the law unless the log tells exactly this, in this order."""
        await self.read_all(len(expected))
        expect(self.told(), list(expected), "what the log tells")

    def told(self) -> list[Told]:
        """Return what it has read in the form in which laws compare it."""
        return [
            Told(
                event.action,
                event.target.replace(self.asker.space, ""),
                event.version,
                event.by and event.by.replace(self.asker.space, ""),
                event.reason,
            )
            for event in self.events
        ]


async def follower(laws: UnderTest, asker: Asker, repository: object, *, page: int = 50) -> Follower:
    """Return a follower of the log that *repository* keeps.

    Args:
        laws: what tests it; it skips a law when it says that no log is kept.
        asker: whose things the law is about; it has changed nothing yet.
        repository: what is tested.
        page: how many events it reads at once.
    """
    if not laws.keeps_log:
        pytest.skip("keeps_log is False: nothing is promised of events")
    log: EventLog | None = getattr(repository, "log", None)
    if log is None:
        msg = f"{type(repository).__name__} has no log: give it one, or say keeps_log = False"
        raise LawBrokenError(msg)
    with acting_as(ANYBODY):
        return Follower(log, asker, await asker.get(log.end()), page)
