"""Instants as people write them on a command line."""

import re
from datetime import datetime, timedelta
from typing import Final

_AGO: Final = re.compile(r"(\d{1,4})([hdwmy])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def instant(text: str, now: datetime) -> datetime:
    """Return what *text* means: a date, an instant of ISO 8601, or a time ago (``12h``, ``7d``, ``2w``, ``3m``, ``1y``).

    What names no time zone is in that of *now*; a date begins at midnight.

    Raises:
        ValueError: it means nothing.
    """
    ago = _AGO.fullmatch(text.strip().lower())
    if ago is not None:
        return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        msg = f"{text!r} is no instant: write 2026-03-01, 2026-03-01T14:30, or 7d for seven days ago (h, d, w, m, y)"
        raise ValueError(msg) from None
    return found if found.tzinfo else found.replace(tzinfo=now.tzinfo)
