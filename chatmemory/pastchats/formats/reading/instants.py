"""``instant_of``: reads the time of a turn in the many forms of histories; UTC, or None when the time is unknown."""

from datetime import UTC, datetime, timedelta
from typing import Final

from chatmemory.input.json_value import Json

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (1e8, 1.0))
"""The least number that is a count of nanoseconds, microseconds, milliseconds or seconds since 1970: within 5,000 years
the ranges do not overlap.  A number below 1e8 seconds (1973) is a counter, not an instant."""


def instant_of(value: Json) -> datetime | None:
    """Return the instant that *value* names.

    ISO 8601 with or without a zone (then UTC), and seconds, milliseconds, microseconds or nanoseconds since 1970, as
    a number or as digits in a string.  Any other text, such as a localised date, gives None instead of a guess.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            # More digits than "20250919", which is a date of ISO 8601.
            is_number = text.replace(".", "", 1).isdecimal() and len(text) > len("20250919")
            if is_number:
                return _since_1970(float(text))
            instant = datetime.fromisoformat(text)
            return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
        except (ValueError, OverflowError):  # no date, or the year 1 or 9999 and a zone that leads out of it
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _since_1970(value)
    return None


def _since_1970(number: float) -> datetime | None:
    try:
        for least, per_second in _UNITS:
            if number >= least:
                # Whole microseconds: a float of seconds has about as many digits.
                return _EPOCH + timedelta(microseconds=round(number / per_second * 1_000_000))
    except (OverflowError, ValueError):  # beyond the year 9999, infinite, or an integer of 400 digits
        return None
    return None
