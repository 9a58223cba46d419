"""How vectors become columns of ``prompt_embeddings`` and ``prompt_codes``, many at once.

numpy is loaded when the first vector is written; nothing that only reads comes here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, final

from attrs import frozen

from chatmemory_layers.sqlite.prompts.vectors.prompt_codes import code_of, quantised_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatmemory.embedding.embedder import Matrix, Vector

    Int8Rows: TypeAlias = NDArray[np.int8]

NO_MODEL: Final = "none"
"""The model of a turn without a vector: nobody has made one yet, or nobody will."""

_FILLING: Final = b"\0"
_WIDTH: Final = 8  # of the integers by which numpy looks a field up; "-128," would be five
# By the number as it stands in a byte: 0 to 127, then -128 to -1.
_FIELDS: Final = b"".join(
    f"{number},".encode().ljust(_WIDTH, _FILLING) for number in (*range(128), *range(-128, 0))
)


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
    import numpy as np

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

    Every number is a field of equal width, and the filling is taken out of the whole row at once: a fifth of the time
    that ``json.dumps`` takes.
    """
    import numpy as np

    fields = np.frombuffer(_FIELDS, np.uint64)[rows.view(np.uint8)]
    return [f"[{row.tobytes().translate(None, _FILLING)[:-1].decode()}]" for row in fields]
