"""``PromptVectors``: finds the turns that are most similar to a query, and says how similar any turn is.

Codes show which turns may be near; the stored vectors show how near.  The similarity is the dot product of integers divided
by the two lengths: the same number for each scan, with and without numpy.

There are three ways to find the codes that differ least from a query's code; all give the same rows in the same order.
``scan_by_vec`` lets sqlite-vec count inside SQLite.  ``scan_by_integers`` reads the codes as Python integers, which for a small store
is finished before numpy would be loaded.  ``NumpyScan`` keeps the codes in memory, for large stores and for processes that
search again.  ``PromptVectors`` chooses one, and compares the real vectors.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from struct import iter_unpack
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, final

from chatmemory.effect.lazy import LazyModule, np
from chatmemory_layers.sqlite.prompts.packed_vectors import PackedVector, cosines
from chatmemory_layers.sqlite.prompts.prompt_codes import quantised, query_code, stored_codes
from chatmemory_layers.sqlite.prompts.prompt_store import load_vec

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from chatmemory_layers.embedding import code_index
    from chatmemory_layers.embedding.code_index import CodeIndex, Distances
else:
    code_index = LazyModule("chatmemory_layers.embedding.code_index")

ScanName: TypeAlias = Literal["integers", "numpy", "vec"]

FEW_CODES: Final = 120_000
"""With more codes than this, loading numpy takes less time than comparing without it."""

WORTH_KEEPING: Final = 5_000
"""The number of codes that a process keeps in memory from its second search on."""

FIRST_PORTION: Final = 140
"""How many of the nearest by codes have their vectors compared; they hold 98 % of the ten nearest, three times as many all."""

GROWTH_OF_PORTION: Final = 4
_ROWS: Final = 1 << 44
"""A sort key is ``distance * _ROWS - row``: of equal distances the newest comes first.  Row ids are less than it."""

_BYTES_PER_WORD: Final = 8

SELECT_MODEL = "SELECT model_key FROM prompt_models WHERE model = :model AND dim = :dim"
LAST_CODE = "SELECT max(prompt_id) FROM prompt_codes"
SELECT_VECTORS = """
SELECT prompt_id, dense, squares, vector FROM prompt_vectors
WHERE prompt_id IN (SELECT value FROM json_each(:ids)) AND model_key = :model_key
"""
SELECT_OTHERS = """
SELECT EXISTS (
    SELECT 1 FROM prompt_models CROSS JOIN prompt_vectors ON prompt_vectors.model_key = prompt_models.model_key
    WHERE prompt_models.model <> :model
)
"""
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


class QueryVector(NamedTuple):
    """A query in the form of stored vectors.

    Attributes:
        model_key: the key of its model; None: no turn has ever had a vector of that model.
        values: int8.
        code: empty for a vector of zeros.
    """

    model: str
    model_key: int | None
    values: bytes
    code: bytes


@final
class PromptVectors:
    """Compares a query with the vectors of a store; keeps codes in memory from one search to the next."""

    def __init__(self, *, use_sqlite_vec: bool = True, scan: ScanName | None = None) -> None:
        """Use sqlite-vec if it can be loaded and *use_sqlite_vec*; *scan*: for every search, None: chosen for each."""
        self._scan = scan
        self._has_vec = None if use_sqlite_vec else False
        self._has_searched = False
        self._numpy = NumpyScan()

    def query(self, connection: sqlite3.Connection, vector: Sequence[float], model: str) -> QueryVector:
        """Return the query in the form that is compared with stored vectors."""
        values = quantised(vector)
        row = connection.execute(SELECT_MODEL, {"model": model, "dim": len(values)}).fetchone()
        return QueryVector(model, None if row is None else row[0], values, query_code(values))

    def nearest_first(
        self,
        connection: sqlite3.Connection,
        query: QueryVector,
        *,
        among: Sequence[int] | None,
    ) -> Iterator[list[int]]:
        """Yield rows nearest first by their codes, in growing portions; only rows of *among* unless it is None."""
        if query.model_key is None or not query.code:
            return iter(())
        if among is not None:
            return nearest_of(connection, query.model_key, query.code, ids=among)
        scan = self._chosen(connection)
        return scan(connection, query.model_key, query.code)

    def similarities(
        self, connection: sqlite3.Connection, query: QueryVector, ids: Sequence[int]
    ) -> dict[int, float]:
        """Return the cosine of *query* and each of *ids* that has a vector of its model."""
        if query.model_key is None:
            return {}
        parameters = {"ids": json.dumps(ids), "model_key": query.model_key}
        found = connection.execute(SELECT_VECTORS, parameters).fetchall()
        return cosines(query.values, {row: PackedVector(*columns) for row, *columns in found})

    def _chosen(self, connection: sqlite3.Connection) -> CodeScan:
        scan = self._scan
        if scan is None:
            # The greatest row is a good enough estimate of the count, and is read at once.
            (rows,) = connection.execute(LAST_CODE).fetchone()
            most = WORTH_KEEPING if self._has_searched else FEW_CODES
            scan = "numpy" if "numpy" in sys.modules or (rows or 0) > most else "vec"
        self._has_searched = True
        if scan == "numpy":
            return self._numpy.nearest_first
        if scan == "vec" and not self._can_use_vec(connection):
            scan = "integers"
        return scan_by_vec if scan == "vec" else scan_by_integers

    def _can_use_vec(self, connection: sqlite3.Connection) -> bool:
        if self._has_vec is None:
            self._has_vec = load_vec(connection)
        return self._has_vec


def has_other_models(connection: sqlite3.Connection, model: str) -> bool:
    """Return whether any turn has a vector of another model, or none."""
    (has_others,) = connection.execute(SELECT_OTHERS, {"model": model}).fetchone()
    return bool(has_others)


CodeScan: TypeAlias = Callable[[sqlite3.Connection, int, bytes], Iterator[list[int]]]
"""Yields all rows that have a code of a model, those nearest to a code first, in growing portions.

Its arguments are the connection, the key of the model and the code of the query."""


def scan_by_vec(connection: sqlite3.Connection, model_key: int, code: bytes) -> Iterator[list[int]]:
    """Count inside SQLite, with sqlite-vec; see ``CodeScan``."""
    parameters = {"model_key": model_key, "size": len(code), "code": code}
    seen, portion = 0, FIRST_PORTION
    while True:
        limits = {"portion": portion, "seen": seen}
        found = [row for (row,) in connection.execute(SELECT_NEAREST, parameters | limits).fetchall()]
        if not found:
            return
        yield found
        seen += len(found)
        portion *= GROWTH_OF_PORTION


def scan_by_integers(connection: sqlite3.Connection, model_key: int, code: bytes) -> Iterator[list[int]]:
    """Count in Python; see ``CodeScan``."""
    places: list[int] = []
    for rows, codes in stored_codes(connection, model_key, len(code)):
        places += _places(rows, codes, code)
    yield from _portions(places)


def nearest_of(
    connection: sqlite3.Connection, model_key: int, code: bytes, *, ids: Sequence[int]
) -> Iterator[list[int]]:
    """Yield the *ids* that have a code of that model, as ``CodeScan`` does; quick for the few ids of a conversation."""
    parameters = {"model_key": model_key, "size": len(code), "ids": json.dumps(ids)}
    found = connection.execute(SELECT_CODES_OF, parameters).fetchall()
    yield from _portions(_places([row for row, _ in found], b"".join([other for _, other in found]), code))


def _places(rows: Sequence[int], codes: bytes, code: bytes) -> list[int]:
    """Return the sort key of each of *rows*, whose *codes* are concatenated, by its distance from *code*."""
    asked = int.from_bytes(code, "big")
    read = int.from_bytes
    each = iter_unpack(f"{len(code)}s", codes)
    return [
        (read(other, "big") ^ asked).bit_count() * _ROWS - row
        for row, (other,) in zip(rows, each, strict=True)
    ]


def _portions(places: list[int]) -> Iterator[list[int]]:
    if not places:
        return
    seen = portion = FIRST_PORTION
    yield [-place % _ROWS for place in nsmallest(portion, places)]
    if seen < len(places):
        places.sort()
    while seen < len(places):
        portion *= GROWTH_OF_PORTION
        yield [-place % _ROWS for place in places[seen : seen + portion]]
        seen += portion


@final
class NumpyScan:
    """Keeps the codes of one model in memory, and reads new ones before each search."""

    def __init__(self) -> None:
        """Start without codes."""
        self._kept: tuple[int, int, int] | None = None  # model, bytes of a code, generation
        self._index: CodeIndex | None = None
        self._counter: ThreadPoolExecutor | None = None

    def nearest_first(
        self, connection: sqlite3.Connection, model_key: int, code: bytes
    ) -> Iterator[list[int]]:
        """Yield rows as ``CodeScan`` does."""
        from concurrent.futures import ThreadPoolExecutor

        index = self._refreshed(connection, model_key, len(code))
        if self._counter is None:
            self._counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="codes")
        return _counted(index, self._counter.submit(index.distances, np.frombuffer(code, np.uint64)))

    def _refreshed(self, connection: sqlite3.Connection, model_key: int, size: int) -> CodeIndex:
        """Return the codes, including those that were added since the last search."""
        (generation,) = connection.execute(SELECT_GENERATION).fetchone()
        index = self._index
        if index is None or self._kept != (model_key, size, generation):
            self._kept = model_key, size, int(generation)
            self._index = index = code_index.CodeIndex(size // _BYTES_PER_WORD)
        for rows, packed in stored_codes(connection, model_key, size, after=index.last_key):
            index.append(rows, np.frombuffer(packed, np.uint64).reshape(len(rows), -1))
        return index


def _counted(index: CodeIndex, counting: Future[Distances]) -> Iterator[list[int]]:
    yield from index.nearest_first(counting.result(), portion=FIRST_PORTION)
