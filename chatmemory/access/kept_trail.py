"""``KeptTrail``: the entries of an audit trail, in a list; the plainest trail that there can be."""

from collections.abc import Iterable
from datetime import datetime
from typing import final

from attrs import define, field

from chatmemory.access.audit import AuditEntry, AuditQuery, Deed
from chatmemory.access.principal import principal
from chatmemory.effect.services.clock import Clock, SystemClock


@final
@define(eq=False)
class KeptTrail:
    """The entries, in the order in which they were written."""

    kept: list[AuditEntry] = field(factory=list[AuditEntry])
    clock: Clock = field(factory=SystemClock)
    _number: int = 0

    def note(self, deeds: Iterable[Deed]) -> None:
        """Keep an entry for each of *deeds*, if somebody with a name acts."""
        if (who := principal()).name:
            now = self.clock.now()
            for deed in deeds:
                self._number += 1
                self.kept.append(AuditEntry(self._number, now, who.name, who.namespace.user, *deed))

    def entries(self, query: AuditQuery, /) -> tuple[AuditEntry, ...]:
        """See ``AuditTrail.entries``."""
        found = [
            entry
            for entry in self.kept
            if query.who in {None, entry.who}
            and query.target in {None, entry.target}
            and (query.since is None or entry.at >= query.since)
            and (query.after is None or _place(entry) < query.after)
        ]
        return tuple(sorted(found, key=_place, reverse=True)[: query.limit])

    def prune(self, before: datetime, /) -> int:
        """See ``AuditTrail.prune``."""
        count_before = len(self.kept)
        self.kept = [entry for entry in self.kept if entry.at >= before]
        return count_before - len(self.kept)


def _place(entry: AuditEntry) -> tuple[datetime, int]:
    return entry.at, entry.number
