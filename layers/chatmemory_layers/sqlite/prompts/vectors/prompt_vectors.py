"""``PromptVectors``: which turns are the most similar to a query, and how similar any turn is.

Codes say who may be near (``prompt_scans.py``), the stored vectors say how near: the product of integers over the two
lengths, the same number whichever scan was taken and whether numpy is there or not.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from operator import itemgetter, mul
from typing import Final, Literal, NamedTuple, TypeAlias, final

from chatmemory_layers.sqlite.prompts.prompt_driver import load_vec
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
"""With more, loading numpy takes less time than counting without it."""

WORTH_KEEPING: Final = 5_000
"""Codes that a process keeps in memory from its second search on."""

FIRST_PORTION: Final = 140
"""Of the nearest by codes, whose vectors are looked at; it holds 98 % of the ten nearest, three times as many hold all."""

SELECT_MODEL = "SELECT model_key FROM prompt_models WHERE model = :model AND dim = :dim"
LAST_CODE = "SELECT max(prompt_id) FROM prompt_codes"
SELECT_VECTORS = """
SELECT prompt_id, vector FROM prompt_embeddings
WHERE prompt_id IN (SELECT value FROM json_each(:ids)) AND model = :model AND dim = :dim
"""
SELECT_OTHERS = """
SELECT EXISTS (SELECT 1 FROM prompt_embeddings WHERE model < :model)
    OR EXISTS (SELECT 1 FROM prompt_embeddings WHERE model > :model)
"""

_SIGNED: Final = "b"  # of array and memoryview: int8
_SQUARES: Final = tuple((value - 256 if value > 127 else value) ** 2 for value in range(256))  # noqa: PLR2004  int8


class QueryVector(NamedTuple):
    """A query as stored vectors are.

    Attributes:
        model_key: of its model; None: no turn has ever had a vector of it.
        values: int8.
        code: empty for a vector of zeros.
    """

    model: str
    model_key: int | None
    values: bytes
    code: bytes


@final
class PromptVectors:
    """Compares a query with the vectors of a store; keeps codes from one search to the next."""

    def __init__(self, *, use_sqlite_vec: bool, scan: ScanName | None = None) -> None:
        """Choose the scan anew for each search, or use *scan*."""
        self._scan = scan
        self._has_vec = None if use_sqlite_vec else False
        self._has_searched = False
        self._numpy = NumpyScan()

    def query(self, connection: sqlite3.Connection, vector: Sequence[float], model: str) -> QueryVector:
        """Return what stored vectors are compared with."""
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
        """Yield rows, all of them or those of *among*, nearest first as far as codes can tell, in growing portions."""
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
        parameters = {"ids": json.dumps(ids), "model": query.model, "dim": len(query.values)}
        found = dict(connection.execute(SELECT_VECTORS, parameters).fetchall())
        return cosines(query.values, found)

    def _chosen(self, connection: sqlite3.Connection) -> CodeScan:
        scan = self._scan
        if scan is None:
            # The greatest row says enough, and is read in no time.
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
    """Tell whether any turn has a vector of another model, or none."""
    (has_others,) = connection.execute(SELECT_OTHERS, {"model": model}).fetchone()
    return bool(has_others)


def cosines(query: bytes, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosine of *query* and each of *vectors*, all int8; 0 where one is all zero or of another length."""
    sound = {row: vector for row, vector in vectors.items() if len(vector) == len(query)}
    similarities = dict.fromkeys(vectors, 0.0)
    if sound and any(query):
        squares = sum(map(_SQUARES.__getitem__, query))
        products = _numpy_products if "numpy" in sys.modules else _products
        for row, (product, square) in zip(sound, products(query, list(sound.values())), strict=True):
            similarities[row] = product / sqrt(squares * square) if square else 0.0
    return similarities


def _products(query: bytes, vectors: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield, for each of *vectors*, its product with *query* and its square."""
    values = array(_SIGNED, query)
    places = [place for place, value in enumerate(values) if value]
    asked = [values[place] for place in places]
    # itemgetter of a single place gives no tuple; a second time the same place, with the weight of 0, does no harm.
    taken: Callable[[memoryview], tuple[int, ...]] = itemgetter(*places, places[0])
    asked.append(0)
    for vector in vectors:
        product = sum(map(mul, asked, taken(memoryview(vector).cast(_SIGNED))))
        yield product, sum(map(_SQUARES.__getitem__, vector.replace(b"\0", b"")))


def _numpy_products(query: bytes, vectors: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Do the same at once: float64 holds every sum exactly."""
    import numpy as np

    rows = np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1).astype(np.float64)
    found = rows @ np.frombuffer(query, np.int8).astype(np.float64)
    squares = np.einsum("ij,ij->i", rows, rows)
    return zip(found.astype(np.int64).tolist(), squares.astype(np.int64).tolist(), strict=True)
