"""Ids as a service: ``Ids``, unique ids in the order of time, and numbered ids for tests."""

from __future__ import annotations

import os
import sys
import time
from itertools import count
from threading import Lock
from typing import Protocol, final

from chatmemory.effect.key import Reference

LAST_COUNT = 0xFFFF_FFFF  # eight hexadecimal digits


class Ids(Protocol):
    """Makes ids.  No two ids are equal, and later ids of one process sort after earlier ones."""

    def message_id(self) -> str:
        """Return an id for a new message."""
        ...

    def next_id(self) -> str:
        """Return an id for anything else that is new."""
        ...


class IdsTag(Reference[Ids]):
    """The tag of ``Ids``; by default time-ordered ids."""

    @classmethod
    def default(cls) -> Ids:
        """Return time-ordered ids."""
        return TimeOrderedIds()


@final
class TimeOrderedIds:
    """UUIDs of version 7 as text: they sort by their millisecond, then by a counter (RFC 9562, 6.2, method 1).

    ``0193f0c2-6ab1-7d3e-9c41-5b2f0a6e1c07``: 48 bits of time, 42 random bits and the random start of a 32-bit counter,
    all drawn once per millisecond.  Unique across processes and forks; an id is a name, not a secret.
    Safe to use from many threads.
    """

    __slots__ = ("__weakref__", "_count", "_lock", "_millisecond", "_prefix")

    def __init__(self) -> None:
        self._forget()
        if sys.platform != "win32":
            os.register_at_fork(after_in_child=self._forget)

    def next_id(self) -> str:
        """Return a new id, 36 characters; it takes less than a microsecond."""
        with self._lock:
            millisecond = time.time_ns() // 1_000_000
            # If the clock was set back, keep the later millisecond and go on counting.
            if millisecond > self._millisecond or self._count == LAST_COUNT:
                self._begin(max(millisecond, self._millisecond + 1))
            self._count += 1
            return f"{self._prefix}{self._count:08x}"

    message_id = next_id

    def _begin(self, millisecond: int) -> None:
        """Set the part that all ids of *millisecond* share, and the start of their counter."""
        random = int.from_bytes(os.urandom(10), "big")
        stamp, high, low, middle = (
            f"{millisecond:012x}",
            random & 0xFFF,
            random >> 12 & 0x3FFF,
            random >> 26 & 0xFFFF,
        )
        self._millisecond = millisecond
        self._prefix = f"{stamp[:8]}-{stamp[8:]}-7{high:03x}-{0x8000 | low:04x}-{middle:04x}"
        self._count = random >> 42 & LAST_COUNT >> 1  # the highest bit is 0: the upper half is for counting

    def _forget(self) -> None:
        """Start anew in a forked child: its parent continues with the same prefix, and may have held the lock."""
        self._lock = Lock()
        self._millisecond = self._count = 0
        self._prefix = ""


@final
class SequentialIds:
    """Ids that a test can predict: ``message-0001``, ``message-0002``."""

    def __init__(self) -> None:
        self._messages = count(1)
        self._others = count(1)

    def message_id(self) -> str:
        """Return the id of the next message."""
        return f"message-{next(self._messages):04}"

    def next_id(self) -> str:
        """Return the next id for anything else."""
        return f"id-{next(self._others):04}"
