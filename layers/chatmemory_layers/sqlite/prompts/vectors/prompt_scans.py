"""Three ways to find which codes differ least from that of a query; all give the same rows in the same order.

``VecScan`` lets sqlite-vec count inside SQLite.  ``IntegerScan`` reads the codes as integers of Python, which for a small
store is done before numpy would be loaded.  ``NumpyScan`` keeps the codes in memory, for large stores and for processes
that go on.  Which one serves is chosen in ``prompt_vectors.py``, which also looks at the real vectors.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from struct import iter_unpack
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, final

from chatmemory_layers.sqlite.prompts.vectors.prompt_code_blocks import stored_codes

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    import numpy as np
    from numpy.typing import NDArray

    Integers: TypeAlias = NDArray[np.int64]
    Words: TypeAlias = NDArray[np.uint64]
    Distances: TypeAlias = NDArray[np.uint16]

SELECT_CODES_OF = """
SELECT prompt_id, code FROM prompt_codes
WHERE model_key = :model_key AND length(code) = :size
AND prompt_id IN (SELECT value FROM json_each(:ids))
"""
SELECT_NEAREST = """
SELECT prompt_id FROM prompt_codes
WHERE model_key = :model_key AND length(code) = :size
ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(:code)), prompt_id DESC
LIMIT :portion OFFSET :seen
"""
SELECT_GENERATION = "SELECT number FROM prompt_generation"

GROWTH_OF_PORTION: Final = 4
_ROWS: Final = 1 << 44
"""A place is ``distance * _ROWS - row``: of equal distances the newest comes first.  Row ids stay below it."""

_COMPARED_AT_ONCE: Final = 32_768
"""Words that stay near the processor from one step to the next: a million codes take 15 ms instead of 21."""

_BYTES_PER_WORD: Final = 8


class CodeScan(Protocol):
    """One of the three."""

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        """Yield all rows whose code is of that model, nearest first, in ever larger portions."""
        ...


@final
class VecScan:
    """Counts inside SQLite, by sqlite-vec."""

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        """See ``CodeScan``."""
        parameters = {"model_key": model_key, "size": len(code), "code": code}
        seen = 0
        while True:
            limits = {"portion": portion, "seen": seen}
            found = [row for (row,) in connection.execute(SELECT_NEAREST, parameters | limits).fetchall()]
            if not found:
                return
            yield found
            seen += len(found)
            portion *= GROWTH_OF_PORTION


@final
class IntegerScan:
    """Counts in Python."""

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        """See ``CodeScan``."""
        places: list[int] = []
        for rows, codes in stored_codes(connection, model_key, len(code)):
            places += _places(rows, codes, code)
        yield from _portions(places, portion)


def nearest_of(
    connection: sqlite3.Connection, model_key: int, code: bytes, *, ids: Sequence[int], portion: int
) -> Iterator[list[int]]:
    """Yield those of *ids* that have a code of that model, as ``CodeScan`` does; quick for the few of a conversation."""
    parameters = {"model_key": model_key, "size": len(code), "ids": json.dumps(ids)}
    found = connection.execute(SELECT_CODES_OF, parameters).fetchall()
    yield from _portions(
        _places([row for row, _ in found], b"".join([other for _, other in found]), code), portion
    )


def _places(rows: Sequence[int], codes: bytes, code: bytes) -> list[int]:
    """Return the place of each of *rows*, whose *codes* stand end to end, by its distance from *code*."""
    asked = int.from_bytes(code, "big")
    read = int.from_bytes
    each = iter_unpack(f"{len(code)}s", codes)
    return [
        (read(other, "big") ^ asked).bit_count() * _ROWS - row
        for row, (other,) in zip(rows, each, strict=True)
    ]


def _portions(places: list[int], portion: int) -> Iterator[list[int]]:
    if not places:
        return
    yield [-place % _ROWS for place in nsmallest(portion, places)]
    seen = portion
    if seen < len(places):
        places.sort()
    while seen < len(places):
        portion *= GROWTH_OF_PORTION
        yield [-place % _ROWS for place in places[seen : seen + portion]]
        seen += portion


@final
class NumpyScan:
    """Keeps the codes of one model in memory, and reads what is new before each search."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._kept: tuple[int, int, int] | None = None  # model, bytes of a code, generation
        self._count = 0
        self._rows: Integers | None = None
        self._codes: Words | None = None
        self._counter: ThreadPoolExecutor | None = None

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        """See ``CodeScan``; counting begins at once, beside what the caller does before it asks for the first portion."""
        from concurrent.futures import ThreadPoolExecutor

        rows, codes = self._refreshed(connection, model_key, len(code))
        if self._counter is None:
            self._counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="codes")
        return _counted(rows, self._counter.submit(_distances, codes, code), portion)

    def _refreshed(self, connection: sqlite3.Connection, model_key: int, size: int) -> tuple[Integers, Words]:
        """Return rows and codes, one code per column, with all that is there now."""
        import numpy as np

        (generation,) = connection.execute(SELECT_GENERATION).fetchone()
        rows, codes = self._rows, self._codes
        if rows is None or codes is None or self._kept != (model_key, size, generation):
            self._kept = model_key, size, int(generation)
            self._count = 0
            rows = np.zeros(0, np.int64)
            codes = np.zeros((size // _BYTES_PER_WORD, 0), np.uint64)
        last = int(rows[self._count - 1]) if self._count else 0
        for found, packed in stored_codes(connection, model_key, size, after=last):
            end = self._count + len(found)
            if end > rows.size:
                missing = max(end, 2 * rows.size) - rows.size
                rows = np.pad(rows, (0, missing))
                # One code per column: numpy adds up rows of words many times as quickly as words within a row.
                codes = np.pad(codes, ((0, 0), (0, missing)))
            rows[self._count : end] = found
            codes[:, self._count : end] = np.frombuffer(packed, np.uint64).reshape(len(found), -1).T
            self._count = end
        self._rows, self._codes = rows, codes
        return rows[: self._count], codes[:, : self._count]


def _distances(codes: Words, code: bytes) -> Distances:
    """Return how many bits of *code* and of each column of *codes* differ; numpy lets other threads run meanwhile."""
    import numpy as np

    query = np.frombuffer(code, np.uint64)
    distances = np.zeros(codes.shape[1], np.uint16)
    for start in range(0, distances.size, _COMPARED_AT_ONCE):
        compared = slice(start, start + _COMPARED_AT_ONCE)
        for words, word in zip(codes[:, compared], query, strict=True):
            distances[compared] += _count_bits(words ^ word)
    return distances


def _counted(rows: Integers, counting: Future[Distances], portion: int) -> Iterator[list[int]]:
    import numpy as np

    distances = counting.result()
    within = np.bincount(distances).cumsum()  # how many lie at that distance, or nearer
    seen = 0
    while seen < rows.size:
        end = min(seen + portion, rows.size)
        first = int(np.searchsorted(within, seen, side="right"))
        last = int(np.searchsorted(within, end))
        reached = np.flatnonzero((distances >= first) & (distances <= last))
        places = distances[reached].astype(np.int64) * _ROWS - rows[reached]
        places.sort()
        before = int(within[first - 1]) if first else 0
        yield (-places[seen - before : end - before] % _ROWS).tolist()
        seen = end
        portion *= GROWTH_OF_PORTION


def _count_bits(words: Words) -> NDArray[np.uint8]:
    import numpy as np

    counts: NDArray[np.uint8]
    if hasattr(np, "bitwise_count"):
        counts = np.bitwise_count(words)
    else:  # numpy before 2.0
        bits = np.unpackbits(words.view(np.uint8).reshape(words.size, -1), axis=1)
        counts = bits.sum(axis=1, dtype=np.uint8)
    return counts
