"""``Retention``: decides which checkpoints of a thread are kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, final

from attrs import field, frozen

from chatmemory.integrations.langgraph.kept_checkpoints import KeptCheckpoint

EVERY_PUTS: Final = 64
"""Without a limit on their number, checkpoints that are too old are removed after every this many puts."""


def _is_at_least_1(_: object, __: object, value: int | None) -> None:
    if value is not None and value < 1:
        msg = f"keep_last is the number of checkpoints that stay, 1 or more, not {value}"
        raise ValueError(msg)


def _is_above_0(_: object, attribute: object, value: timedelta | None) -> None:
    if value is not None and value <= timedelta():
        msg = f"{getattr(attribute, 'name', 'a span')} is a time above 0, not {value}"
        raise ValueError(msg)


@final
@frozen
class Retention:
    """How long checkpoints are kept.  The newest one of the graph, and of each subgraph, is kept as long as its thread.

    A checkpoint with writes from which a newer one is rebuilt (``DeltaChannel``) is kept with that one.

    Attributes:
        keep_last: the number of checkpoints of the graph, and of each subgraph, that are kept; for a while there may
            be up to twice as many.  None: any number.
        keep_for: how long a checkpoint is kept after it was put; None: forever.
        thread_ttl: how long a thread is kept after the last checkpoint of its graph was put; then it is gone at once,
            and ``sweep`` removes its rows.  None: forever.
    """

    keep_last: int | None = field(default=None, validator=_is_at_least_1)
    keep_for: timedelta | None = field(default=None, validator=_is_above_0)
    thread_ttl: timedelta | None = field(default=None, validator=_is_above_0)

    @property
    def bounds_lines(self) -> bool:
        """Whether checkpoints may be removed while their thread is kept."""
        return self.keep_last is not None or self.keep_for is not None

    def is_due(self, puts: int) -> bool:
        """Return whether surplus checkpoints are to be removed after this many *puts*."""
        return self.bounds_lines and puts >= (self.keep_last or EVERY_PUTS)

    def is_over(self, last_put_at: datetime, now: datetime) -> bool:
        """Return whether a thread has expired.

        Args:
            last_put_at: when the last checkpoint of its graph was put.
            now: the present time, UTC.
        """
        return self.thread_ttl is not None and last_put_at + self.thread_ttl <= now

    def surplus(self, kept: Mapping[str, tuple[KeptCheckpoint, datetime]], now: datetime) -> set[str]:
        """Return the ids of the checkpoints to remove.

        Args:
            kept: the checkpoints of a line by their ids, and when they were put.
            now: the present time, UTC.
        """
        ids = sorted(kept, reverse=True)
        staying = ids if self.keep_last is None else ids[: self.keep_last]
        if self.keep_for is not None:
            begin = now - self.keep_for
            staying = [each for place, each in enumerate(staying) if place == 0 or kept[each][1] > begin]
        needed = set(staying)
        for each in staying:
            needed |= _ancestors(each, {id_: checkpoint for id_, (checkpoint, _) in kept.items()})
        return set(ids) - needed


def _ancestors(checkpoint_id: str, kept: Mapping[str, KeptCheckpoint]) -> set[str]:
    """Return the ids of the checkpoints before *checkpoint_id* from which the values of its channels are rebuilt."""
    found: set[str] = set()
    missing = {channel for channel in kept[checkpoint_id].rebuilt if channel not in kept[checkpoint_id].held}
    before = kept[checkpoint_id].parent
    while missing and before is not None and before in kept and before not in found:
        found.add(before)
        missing -= kept[before].held.keys()
        before = kept[before].parent
    return found
