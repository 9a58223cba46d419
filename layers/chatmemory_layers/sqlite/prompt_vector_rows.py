"""How vectors become columns of ``prompt_embeddings`` and ``prompt_codes``, many at once.

numpy is loaded when the first vector is written; nothing that only reads comes here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, final

from attrs import frozen

from chatmemory_layers.sqlite.prompt_codes import code_of, quantised_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatmemory.contracts.embedder import Matrix, Vector

    Int8Rows: TypeAlias = NDArray[np.int8]

NO_MODEL: Final = "none"
"""The model of a turn without a vector: nobody has made one yet, or nobody will."""

_LEAST: Final = -128  # of int8
_NUMBERS: Final = 256
_WIDEST: Final = 5  # "-128,"


@final
@frozen(slots=False)
class VectorRow:
    """The columns of one vector."""

    dim: int
    vector: bytes
    vector_json: str
    code: bytes


def vector_rows(vectors: Matrix | Sequence[Vector]) -> list[VectorRow]:
    """Return the columns of *vectors*, which are all of one dimension."""
    import numpy as np  # noqa: PLC0415  see above

    if not len(vectors):
        return []
    rows = quantised_rows(np.asarray(vectors, np.float32))
    dim = rows.shape[1]
    return [
        VectorRow(dim, row.tobytes(), text, code)
        for row, text, code in zip(rows, json_arrays(rows), code_of(rows), strict=True)
    ]


def json_arrays(rows: Int8Rows) -> list[str]:
    """Return each row as a JSON array, without spaces.

    All rows are written as one text of fields of equal width, out of which the filling is taken: a sixth of the time that
    ``json.dumps`` takes.
    """
    import numpy as np  # noqa: PLC0415  see above

    count, dim = rows.shape
    if not dim:
        return ["[]"] * count
    written = [f"{number + _LEAST}," for number in range(_NUMBERS)]
    letters = np.frombuffer("".join(text.ljust(_WIDEST, "\0") for text in written).encode(), np.uint8)
    numbers = rows.astype(np.int16) - _LEAST
    fields = letters.reshape(_NUMBERS, _WIDEST)[numbers]
    text = fields[fields != 0].tobytes().decode()
    lengths = np.array([len(text) for text in written])[numbers].sum(axis=1)
    ends = lengths.cumsum().tolist()
    starts = [0, *ends[:-1]]
    return [f"[{text[start : end - 1]}]" for start, end in zip(starts, ends, strict=True)]
