"""``PromptVectors``: finds the turns that are most similar to a query, and says how similar any turn is.

Codes show which turns may be near (``prompt_scans.py``); the stored vectors show how near.  The similarity is the dot
product of integers divided by the two lengths: the same number for each scan, with and without numpy.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, final

from chatmemory_layers.sqlite.prompts.prompt_driver import load_vec
from chatmemory_layers.sqlite.prompts.vectors.packed_vectors import PackedVector, cosines
from chatmemory_layers.sqlite.prompts.vectors.prompt_codes import quantised, query_code
from chatmemory_layers.sqlite.prompts.vectors.prompt_scans import (
    CodeScan,
    IntegerScan,
    NumpyScan,
    VecScan,
    nearest_of,
)

ScanName: TypeAlias = Literal["integers", "numpy", "vec"]

FEW_CODES: Final = 120_000
"""With more codes than this, loading numpy takes less time than comparing without it."""

WORTH_KEEPING: Final = 5_000
"""The number of codes that a process keeps in memory from its second search on."""

FIRST_PORTION: Final = 140
"""How many of the nearest by codes have their vectors compared; they hold 98 % of the ten nearest, three times as many all."""

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

    def __init__(self, *, use_sqlite_vec: bool, scan: ScanName | None = None) -> None:
        """Use *scan* for every search; None: choose the scan for each search."""
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
            return nearest_of(connection, query.model_key, query.code, ids=among, portion=FIRST_PORTION)
        scan = self._chosen(connection)
        return scan.nearest_first(connection, query.model_key, query.code, portion=FIRST_PORTION)

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
            return self._numpy
        if scan == "vec" and not self._can_use_vec(connection):
            scan = "integers"
        return VecScan() if scan == "vec" else IntegerScan()

    def _can_use_vec(self, connection: sqlite3.Connection) -> bool:
        if self._has_vec is None:
            self._has_vec = load_vec(connection)
        return self._has_vec


def has_other_models(connection: sqlite3.Connection, model: str) -> bool:
    """Return whether any turn has a vector of another model, or none."""
    (has_others,) = connection.execute(SELECT_OTHERS, {"model": model}).fetchone()
    return bool(has_others)
