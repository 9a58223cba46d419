"""Three ways to find the codes that differ least from a query's code; all give the same rows in the same order.

``VecScan`` lets sqlite-vec count inside SQLite.  ``IntegerScan`` reads the codes as Python integers, which for a small store
is finished before numpy would be loaded.  ``NumpyScan`` keeps the codes in memory, for large stores and for processes that
search again.  ``prompt_vectors.py`` chooses one, and compares the real vectors.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from struct import iter_unpack
from typing import TYPE_CHECKING, Final, Protocol, final

from chatmemory_layers.sqlite.prompts.vectors.prompt_code_blocks import stored_codes

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from chatmemory_layers.embedding.code_index import CodeIndex, Distances

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
"""A sort key is ``distance * _ROWS - row``: of equal distances the newest comes first.  Row ids are less than it."""

_BYTES_PER_WORD: Final = 8


class CodeScan(Protocol):
    """One of the three ways."""

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        """Yield all rows that have a code of that model, nearest first, in growing portions."""
        ...


@final
class VecScan(CodeScan):
    """Counts inside SQLite, with sqlite-vec."""

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
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
class IntegerScan(CodeScan):
    """Counts in Python."""

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        places: list[int] = []
        for rows, codes in stored_codes(connection, model_key, len(code)):
            places += _places(rows, codes, code)
        yield from _portions(places, portion)


def nearest_of(
    connection: sqlite3.Connection, model_key: int, code: bytes, *, ids: Sequence[int], portion: int
) -> Iterator[list[int]]:
    """Yield the *ids* that have a code of that model, as ``CodeScan`` does; quick for the few ids of a conversation."""
    parameters = {"model_key": model_key, "size": len(code), "ids": json.dumps(ids)}
    found = connection.execute(SELECT_CODES_OF, parameters).fetchall()
    yield from _portions(
        _places([row for row, _ in found], b"".join([other for _, other in found]), code), portion
    )


def _places(rows: Sequence[int], codes: bytes, code: bytes) -> list[int]:
    """Return the sort key of each of *rows*, whose *codes* are concatenated, by its distance from *code*."""
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
class NumpyScan(CodeScan):
    """Keeps the codes of one model in memory, and reads new ones before each search."""

    def __init__(self) -> None:
        """Start without codes."""
        self._kept: tuple[int, int, int] | None = None  # model, bytes of a code, generation
        self._index: CodeIndex | None = None
        self._counter: ThreadPoolExecutor | None = None

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes, *, portion: int
    ) -> Iterator[list[int]]:
        from concurrent.futures import ThreadPoolExecutor

        import numpy as np

        index = self._refreshed(connection, model_key, len(code))
        if self._counter is None:
            self._counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="codes")
        return _counted(index, self._counter.submit(index.distances, np.frombuffer(code, np.uint64)), portion)

    def _refreshed(self, connection: sqlite3.Connection, model_key: int, size: int) -> CodeIndex:
        """Return the codes, including those that were added since the last search."""
        import numpy as np

        from chatmemory_layers.embedding.code_index import CodeIndex

        (generation,) = connection.execute(SELECT_GENERATION).fetchone()
        index = self._index
        if index is None or self._kept != (model_key, size, generation):
            self._kept = model_key, size, int(generation)
            self._index = index = CodeIndex(size // _BYTES_PER_WORD)
        for rows, packed in stored_codes(connection, model_key, size, after=index.last_key):
            index.append(rows, np.frombuffer(packed, np.uint64).reshape(len(rows), -1))
        return index


def _counted(index: CodeIndex, counting: Future[Distances], portion: int) -> Iterator[list[int]]:
    yield from index.nearest_first(counting.result(), portion=portion)
