"""Damage of histories: they are cut off, overwritten, or written by unknown versions of a tool."""

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias, cast

from chatmemory.input.json_value import Json

DEBRIS: Final[Mapping[str, bytes]] = {
    "bytes that are no UTF-8": b"\xff\xfe\xc3",
    "an empty block": b"\x00" * 64,
    "a record that does not end": b'\n{"type": "user", "message": {"content": "',
    "brackets, nested too deeply": b"\n" + b"[" * 100_000 + b"\n",
    "a lone surrogate, NaN and an integer of 5,000 digits": b'\n{"a": "\\ud83e", "b": NaN, "c": '
    + b"9" * 5000
    + b"}\n",
}
"""The bytes that crashed and foreign writers leave behind, by name."""

ODD_VALUES: Final[Sequence[Json]] = (
    None,
    True,
    -1,
    1e300,
    10**30,
    "",
    "x",
    "2025-02-30T25:00:00Z",
    [],
    [[]],
    [None],
    {},
    {"type": 1},
)
"""Values that a member may have in another version."""

_Place: TypeAlias = tuple[str | int, ...]


def cuts(content: bytes, *, count: int) -> Iterator[int]:
    """Yield up to *count* positions to cut *content* at, from the beginning to the last byte."""
    step = max(1, len(content) // count)
    yield from range(0, len(content), step)
    yield from range(max(0, len(content) - 3), len(content))


def is_amid_a_record(content: bytes, end: int) -> bool:
    """Return whether *content*, cut at *end*, ends within a JSON document or a JSON line; False for a text."""
    records, separator = _records(content)
    kept = content[:end].removeprefix(codecs.BOM_UTF8)
    last = kept.rpartition(separator.encode())[2] if separator else kept
    if not records or not last.strip():
        return False
    try:
        json.loads(last)
    except (ValueError, RecursionError):
        return True
    return False


def with_debris(content: bytes, debris: bytes, *, count: int) -> Iterator[bytes]:
    """Yield *content* with *debris* inserted, once for each of *count* positions."""
    for place in cuts(content, count=count):
        yield content[:place] + debris + content[place:]


def from_other_versions(content: bytes, *, count: int, seed: int) -> Iterator[bytes]:
    """Yield *content* with a member of its JSON replaced by an odd value, or left out; nothing for a text."""
    records, separator = _records(content)
    if not records:
        return
    random = Random(seed)  # noqa: S311  no secret: the same members each time
    for _ in range(count):
        which = random.randrange(len(records))
        place = random.choice(_places(records[which]))
        odd = random.choice(ODD_VALUES)
        changed = _replaced(records[which], place, odd, is_left_out=random.random() < 0.2)  # noqa: PLR2004  now and then
        lines = [json.dumps(changed if number == which else record) for number, record in enumerate(records)]
        yield separator.join(lines).encode()


def _records(content: bytes) -> tuple[list[Json], str]:
    text = content.decode("utf-8-sig", "replace")
    try:
        return [cast("Json", json.loads(text))], ""
    except (ValueError, RecursionError):
        pass
    try:
        return [cast("Json", json.loads(line)) for line in text.split("\n") if line.strip()], "\n"
    except (ValueError, RecursionError):
        return [], ""


def _places(value: Json) -> list[_Place]:
    found: list[_Place] = [()]
    if isinstance(value, dict):
        found += [(key, *place) for key, member in value.items() for place in _places(member)]
    elif isinstance(value, list):
        found += [(index, *place) for index, member in enumerate(value) for place in _places(member)]
    return found


def _replaced(value: Json, place: _Place, odd: Json, *, is_left_out: bool) -> Json:
    if not place:
        return odd
    step, *rest = place
    copy = cast(
        "dict[str | int, Json]", {**value} if isinstance(value, dict) else [*cast("list[Json]", value)]
    )
    if not rest and is_left_out and isinstance(value, dict):
        del copy[step]
    else:
        copy[step] = _replaced(copy[step], tuple(rest), odd, is_left_out=is_left_out)
    return cast("Json", copy)
