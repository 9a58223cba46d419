"""``Watching``: when a watched history is to be indexed again.

A tool writes a line, and another one a second later.  To read the file after each would read it a hundred times; to wait
until it is quiet would wait for the end of a long session.  So a change waits for quiet, and not forever.
"""

from collections.abc import Iterable
from typing import Final, final

from attrs import define, field

from chatmemory.histories import HistoryFile

QUIET_SECONDS: Final = 2.0
LONGEST_WAIT_SECONDS: Final = 30.0


@final
@define
class Watching:
    """What has been seen of the files, look by look; time is whatever monotonic seconds the caller counts.

    Attributes:
        quiet_seconds: without a change, before what changed is indexed.
        longest_wait_seconds: after which it is indexed although it goes on changing.
    """

    quiet_seconds: float = QUIET_SECONDS
    longest_wait_seconds: float = LONGEST_WAIT_SECONDS
    _seen: dict[str, tuple[int, int]] | None = field(default=None, init=False)
    _first_change: float | None = field(default=None, init=False)
    _last_change: float = field(default=0.0, init=False)

    def is_due(self, files: Iterable[HistoryFile], now: float) -> bool:
        """Look at *files* and tell whether to index now; the first look always is one to index after."""
        looks = {file.source: (file.size, file.modified_ns) for file in files}
        before, self._seen = self._seen, looks
        if before is None:
            return True
        if looks != before:
            self._last_change = now
            if self._first_change is None:
                self._first_change = now
        if self._first_change is None:
            return False
        is_quiet = now - self._last_change >= self.quiet_seconds
        if is_quiet or now - self._first_change >= self.longest_wait_seconds:
            self._first_change = None
            return True
        return False
