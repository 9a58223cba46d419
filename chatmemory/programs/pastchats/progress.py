"""``ProgressLine``: the progress of an index run on a terminal; it prints nothing if stderr is not a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self, TextIO, final
from unicodedata import east_asian_width

from chatmemory.text.shown_text import shown

if TYPE_CHECKING:
    from datetime import datetime

    from chatmemory.pastchats.past_chats import IndexProgress

ERASE: Final = "\r\x1b[K"
GAP: Final = "  "
CUT: Final = "..."
BAR: Final = 10  # characters
LEAST_SECONDS: Final = 0.1  # between two lines: a terminal is slower than the index


@final
class ProgressLine:
    """Rewrites one line, and erases it at the end."""

    def __init__(self, now: Callable[[], datetime], stream: TextIO | None = None) -> None:
        """Write to *stream*, stderr unless it is given, if that is a terminal."""
        self._stream = sys.stderr if stream is None else stream
        self._is_seen = self._stream.isatty()
        self._now = now
        self._began = now()
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_seen:
            self._stream.write(ERASE)
            self._stream.flush()

    def indexed(self, progress: IndexProgress) -> None:
        """Show how many files and turns are done, the rate, and the time left."""
        seconds = self._seconds_if_due()
        if seconds is None:
            return
        rate = progress.turns / seconds
        left = (
            (progress.files - progress.files_done) * seconds / progress.files_done
            if progress.files_done
            else None
        )
        remaining = "" if left is None else f", {duration(left)} left"
        self._show(
            f"{bar(progress.files_done, progress.files)} {progress.files_done}/{progress.files} files, "
            f"{progress.turns} turns, {rate:.0f}/s{remaining}",
            progress.source,
        )

    def counted(self, done: int, whole: int) -> None:
        """Show how many of *whole* things are done."""
        seconds = self._seconds_if_due()
        if seconds is not None:
            left = f", {duration((whole - done) * seconds / done)} left" if done else ""
            self._show(f"{bar(done, whole)} {done}/{whole}, {done / seconds:.0f}/s{left}")

    def _seconds_if_due(self) -> float | None:
        if not self._is_seen:
            return None
        seconds = (self._now() - self._began).total_seconds()
        if seconds - self._last < LEAST_SECONDS:
            return None
        self._last = seconds
        return seconds

    def _show(self, said: str, source: str = "") -> None:
        columns = shutil.get_terminal_size().columns - 1
        room = columns - len(said) - len(GAP)
        self._stream.write(ERASE + said[:columns] + (GAP + ending(source, room) if room > 0 else ""))
        self._stream.flush()


def bar(done: int, whole: int) -> str:
    """Return a bar that shows how many of *whole* things are *done*.

    >>> bar(1, 2)
    '[#####-----]'
    """
    return f"[{'#' * (BAR * done // max(whole, 1)):-<{BAR}}]"


def ending(path: str, columns: int) -> str:
    """Return the end of *path*, its most informative part, in at most *columns* terminal columns.

    >>> ending("/home/dev/.claude/projects/-app/0b7d.jsonl", 20), ending("/聊天/记录.md", 9)
    ('...s/-app/0b7d.jsonl', '...录.md')
    """
    text = shown(path).replace("\n", " ")
    widths = [2 if east_asian_width(character) in "WF" else 1 for character in text]
    if sum(widths) <= columns:
        return text
    left = columns - len(CUT)
    start = len(text)
    while start and widths[start - 1] <= left:
        start -= 1
        left -= widths[start]
    return (CUT + text[start:])[: max(columns, 0)]


def duration(seconds: float) -> str:
    """Format *seconds* for reading.

    >>> duration(7.2), duration(95), duration(7_300)
    ('7 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
