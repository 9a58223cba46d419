"""Converts values to columns and back: instants as microseconds, vectors as float32."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Vector
    from chatmemory.input.rules import Place

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
US_PER_SECOND: Final = 1_000_000
BEGINNING_US: Final = -(2**63)
END_US: Final = 2**63 - 1
"""Later than every instant, and behind every place."""


def to_us(instant: datetime) -> int:
    """Return *instant* as microseconds since 1970, exact from year 1 to 9999, which a float of seconds would not be."""
    return (instant - EPOCH) // MICROSECOND


def from_us(us: int) -> datetime:
    """Return the instant in UTC; *us* is in microseconds since 1970."""
    return EPOCH + us * MICROSECOND


def place_columns(after: "Place | None") -> tuple[int, str]:
    """Return the place after which a list from the newest on continues; None: it begins."""
    return (END_US, "") if after is None else (to_us(after[0]), after[1])


def vector_column(vector: "Vector") -> bytes:
    """Return *vector* as the column stores it: float32, little endian."""
    return vector.astype("<f4", copy=False).tobytes()
