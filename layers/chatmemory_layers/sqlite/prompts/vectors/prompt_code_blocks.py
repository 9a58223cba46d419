"""Blocks of codes: fetching a row of ``prompt_codes`` takes longer than comparing its code.

For 100,000 turns, reading the rows takes 60 ms, reading blocks of them 2 ms.  A block is a copy of all codes of one model
between two rows.  Triggers delete it when one of these codes is replaced or deleted; the end of the next index run creates
it again.  Codes outside the blocks are read row by row.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

CODES_OF_A_BLOCK: Final = 2048

_READ_AT_ONCE: Final = 10_000
_LAST: Final = (1 << 63) - 1  # the greatest row id of SQLite

SELECT_BLOCKS = """
SELECT first_id, last_id, ids, codes FROM prompt_code_blocks
WHERE first_id > :after AND model_key = :model_key AND size = :size
ORDER BY first_id
"""
SELECT_CODES_BETWEEN = """
SELECT prompt_id, code FROM prompt_codes
WHERE prompt_id > :after AND prompt_id < :before AND model_key = :model_key AND length(code) = :size
ORDER BY prompt_id
"""
SELECT_RANGES = "SELECT first_id, last_id FROM prompt_code_blocks ORDER BY first_id"
SELECT_UNPACKED = """
SELECT prompt_id, model_key, code FROM prompt_codes
WHERE prompt_id > :after AND prompt_id < :before AND code <> x''
ORDER BY prompt_id
"""
INSERT_BLOCK = """
INSERT INTO prompt_code_blocks (first_id, last_id, model_key, size, ids, codes)
VALUES (:first_id, :last_id, :model_key, :size, :ids, :codes)
"""


def stored_codes(
    connection: sqlite3.Connection, model_key: int, size: int, *, after: int = 0
) -> Iterator[tuple[Sequence[int], bytes]]:
    """Yield the rows after *after* that have a code of *size* bytes of that model, in order, with their codes concatenated.

    Call it within one transaction: blocks and rows must be of the same snapshot.
    """
    kind = {"model_key": model_key, "size": size}
    for first, last, ids, codes in connection.execute(SELECT_BLOCKS, {**kind, "after": after}).fetchall():
        if first > after + 1:
            yield from _loose(connection, {**kind, "after": after, "before": first})
        yield _integers(ids), codes
        after = last
    yield from _loose(connection, {**kind, "after": after, "before": _LAST})


def pack_codes(connection: sqlite3.Connection) -> None:
    """Copy codes that are in no block into full blocks, in the caller's transaction; the rest stays outside."""
    after = 0
    for first, last in [*connection.execute(SELECT_RANGES).fetchall(), (_LAST, _LAST)]:
        if first > after + CODES_OF_A_BLOCK:
            _pack_between(connection, after, first)
        after = max(after, last)


def _pack_between(connection: sqlite3.Connection, after: int, before: int) -> None:
    pending: dict[tuple[int, int], list[tuple[int, bytes]]] = {}
    for prompt_id, model_key, code in connection.execute(SELECT_UNPACKED, {"after": after, "before": before}):
        kind = model_key, len(code)
        rows = pending.setdefault(kind, [])
        rows.append((prompt_id, code))
        if len(rows) == CODES_OF_A_BLOCK:
            _insert(connection, kind, rows)
            rows.clear()


def _insert(connection: sqlite3.Connection, kind: tuple[int, int], rows: list[tuple[int, bytes]]) -> None:
    model_key, size = kind
    ids = array("q", [prompt_id for prompt_id, _ in rows])
    if sys.byteorder == "big":  # pragma: no cover
        ids.byteswap()
    block = {
        "first_id": rows[0][0],
        "last_id": rows[-1][0],
        "model_key": model_key,
        "size": size,
        "ids": ids.tobytes(),
        "codes": b"".join([code for _, code in rows]),
    }
    connection.execute(INSERT_BLOCK, block)


def _loose(
    connection: sqlite3.Connection, parameters: dict[str, int]
) -> Iterator[tuple[Sequence[int], bytes]]:
    cursor = connection.execute(SELECT_CODES_BETWEEN, parameters)
    while rows := cursor.fetchmany(_READ_AT_ONCE):
        yield [row for row, _ in rows], b"".join([code for _, code in rows])


def _integers(little_endian: bytes) -> array[int]:
    integers = array("q", little_endian)
    if sys.byteorder == "big":  # pragma: no cover
        integers.byteswap()
    return integers
