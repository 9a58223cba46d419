"""Instants as people write them on a command line."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_AGO: Final = re.compile(r"(\d{1,4})([hdwmy])")
_BEGINNING: Final = re.compile(r"\d{4}(-\d{2})?")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def instant(text: str, now: datetime) -> datetime:
    """Return what *text* means: a date, an instant of ISO 8601, or a time ago (``12h``, ``7d``, ``2w``, ``3m``, ``1y``).

    What names no time zone is in that of *now*; a year, a month and a day begin with their first midnight.

    >>> now = datetime.fromisoformat("2026-05-04T12:00:00+02:00")
    >>> [str(instant(text, now)) for text in ("2026-03", "2026-03-01T14:30Z", "7d")]
    ['2026-02-28 22:00:00+00:00', '2026-03-01 14:30:00+00:00', '2026-04-27 12:00:00+02:00']

    Raises:
        ValueError: it means nothing.
    """
    written = text.strip()
    try:
        if ago := _AGO.fullmatch(written.lower()):
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        if _BEGINNING.fullmatch(written):
            written = f"{written}-01-01"[: len("2026-03-01")]
        found = datetime.fromisoformat(written)
        return (found if found.tzinfo else found.replace(tzinfo=now.tzinfo)).astimezone(UTC)
    except (ValueError, OverflowError):
        msg = f"{text!r} is no instant: write 2026-03-01, 2026-03-01T14:30, or 7d for seven days ago (h, d, w, m, y)"
        raise ValueError(msg) from None
