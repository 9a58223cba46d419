"""``Follower``: reads the events of a repository about the data of one law."""

from typing import Final, NamedTuple, final

import anyio
import pytest
from attrs import define, field

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.events.event import Event, EventAction
from chatmemory.events.event_log import EventLog
from chatmemory.laws.kit.law import Asker, LawBrokenError, UnderTest, expect

PAUSE_SECONDS: Final = 0.02


@final
class Logged(NamedTuple):
    """The parts of an event that laws compare: *target* is without the prefix of the law."""

    action: EventAction
    target: str
    version: int | None = None
    by: str | None = None
    reason: str | None = None


@final
@define(eq=False)
class Follower:
    """Follows the log from its end at the beginning of the law.

    Attributes:
        page: the number of events in one read.
        events: the events about the data of the law so far, in the order of the log.
    """

    log: EventLog
    asker: Asker
    cursor: str
    page: int = 50
    events: list[Event] = field(factory=list[Event])

    async def read(self) -> None:
        """Read until the end of the log."""
        is_last = False
        while not is_last:
            with acting_as(EVERYBODY):
                page = await self.asker.get(self.log.changes_page(self.cursor, limit=self.page))
            self.cursor, is_last = page.cursor, page.is_last
            self.events += [event for event in page.events if self.asker.space in event.target]

    async def read_all(self, count: int) -> None:
        """Read until there are *count* events: the transaction of another writer may delay them."""
        with anyio.move_on_after(self.asker.patience_seconds):
            while True:
                await self.read()
                if len(self.events) >= count:
                    return
                await anyio.sleep(PAUSE_SECONDS)

    async def expect(self, *expected: Logged) -> None:
        """Break the law unless the log has exactly these events, in this order."""
        await self.read_all(len(expected))
        expect(self.logged(), list(expected), "what the log tells")

    def logged(self) -> list[Logged]:
        """Return the events so far in the form that laws compare."""
        return [
            Logged(
                event.action,
                event.target.replace(self.asker.space, ""),
                event.version,
                event.by and event.by.replace(self.asker.space, ""),
                event.reason,
            )
            for event in self.events
        ]


async def follower(laws: UnderTest, asker: Asker, repository: object, *, page: int = 50) -> Follower:
    """Return a follower of the log that *repository* keeps; a law is skipped when *laws* promise no log.

    *asker* has changed nothing yet.  *page* is the number of events in one read.
    """
    if not laws.keeps_log:
        pytest.skip("keeps_log is False: nothing is promised of events")
    log: EventLog | None = getattr(repository, "log", None)
    if log is None:
        msg = f"{type(repository).__name__} has no log: give it one, or say keeps_log = False"
        raise LawBrokenError(msg)
    with acting_as(EVERYBODY):
        return Follower(log, asker, await asker.get(log.end()), page)
