"""Write the bundled static rows: ``python benchmarks/make_static_rows.py static_minilm_l6_v2_256_int8.npz``.

The archive holds ``rows`` (int8, one per piece of the vocabulary), ``scale`` (float32, one per row) and ``vocab`` (UTF-8,
a piece a line).  It was made with model2vec 0.10.0, ``distill(model_name="sentence-transformers/all-MiniLM-L6-v2",
pca_dims=256)``, whose rows were divided by a 127th of their largest number and rounded.

Here the rows are put in the order of the pieces (code points), so that a piece can be found by bisection, and written
as files that can be mapped into memory: ``.npy`` is a header of 128 bytes, then the numbers, row by row.
"""

import sys
from pathlib import Path

import numpy as np

from chatmemory_layers.embedding.bundled import ROWS, SCALES, VOCABULARY


def main(archive: Path) -> None:
    with np.load(archive) as distilled:
        rows, scales = distilled["rows"], distilled["scale"]
        pieces = bytes(distilled["vocab"]).decode().split("\n")
    order = sorted(range(len(pieces)), key=pieces.__getitem__)
    np.save(ROWS, rows[order])
    np.save(SCALES, scales[order])
    text = "\n".join(pieces[place] for place in order)
    Path(VOCABULARY).write_bytes(text.encode())  # not write_text: lines end in one byte on every system
    print(f"{len(pieces)} pieces of {rows.shape[1]} numbers")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
