"""What needs no server: the wishes of a ``Retry-After``."""

from datetime import UTC, datetime
from typing import Final

from chatmemory_layers.endpoint_answer import retry_after_seconds

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


WISHES: Final[dict[str | None, float | None]] = {
    None: None,
    "0": 0.0,
    " 30 ": 30.0,
    "1.5": 1.5,
    "Sun, 01 Mar 2026 12:01:00 GMT": 60.0,
    "Sun, 01 Mar 2026 13:01:00 +0100": 60.0,
    "Sun, 01 Mar 2026 12:01:00 -0000": 60.0,
    "Sun, 01 Mar 2026 11:00:00 GMT": 0.0,
    "Sun, 99 Mar 2026 11:00:00 GMT": None,
    "soon": None,
    "-1": None,
    "nan": None,
    "infinity": None,
    "٣": None,
    "9" * 5000: None,
    "": None,
}


def test_a_retry_after_is_seconds_or_a_date_or_nothing() -> None:
    assert {header: retry_after_seconds(header, NOW) for header in WISHES} == WISHES
