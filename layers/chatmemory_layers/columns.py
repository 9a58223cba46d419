"""How values become columns and come back: instants as microseconds, metadata and values as JSON text."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from chatmemory.json_value import Json

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_PER_DAY: Final = 86_400
US_PER_SECOND: Final = 1_000_000
# dumps would make an encoder each time, and loads look for space around the value: twice the time.
_write_json: Final = json.JSONEncoder(ensure_ascii=False, default=dict).encode
_read_json: Final = json.JSONDecoder().raw_decode
END_US: Final = 2**63 - 1
"""Behind every instant."""


def to_us(instant: datetime) -> int:
    """Return microseconds since 1970, exact from year 1 to 9999; a float of seconds would not be."""
    since = instant - EPOCH
    return (since.days * _SECONDS_PER_DAY + since.seconds) * US_PER_SECOND + since.microseconds


def from_us(us: int) -> datetime:
    """Return the instant, in UTC."""
    return EPOCH + timedelta(0, 0, us)


def to_json(value: Json) -> str | None:
    """Write *value*, whatever mappings it is made of, with Chinese readable; None stays None."""
    return None if value is None else _write_json(value)


def from_json(text: str | None) -> Any:
    """Read a value back."""
    if text is None:
        return None
    value, end = _read_json(text)
    return value if end == len(text) else json.loads(text)


def folded(text: str) -> str:
    """Return *text* with ``A`` to ``Z`` in lower case and nothing else changed, as ``lower`` does it in the stores."""
    return text.encode().lower().decode()  # of bytes, lower knows ASCII alone


def same_json(one: str | None, other: str | None) -> bool:
    """Tell whether two texts mean one value: the order of keys does not matter, ``1``, ``1.0`` and ``true`` differ."""
    if one is None or other is None or one == other:
        return one == other
    return json.dumps(json.loads(one), sort_keys=True) == json.dumps(json.loads(other), sort_keys=True)
