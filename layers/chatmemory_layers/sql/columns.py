"""How values become columns and come back: instants as microseconds."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
US_PER_SECOND: Final = 1_000_000
END_US: Final = 2**63 - 1
"""Behind every instant."""


def to_us(instant: datetime) -> int:
    """Return microseconds since 1970, exact from year 1 to 9999; a float of seconds would not be."""
    return (instant - EPOCH) // MICROSECOND


def from_us(us: int) -> datetime:
    """Return the instant, in UTC."""
    return EPOCH + us * MICROSECOND
