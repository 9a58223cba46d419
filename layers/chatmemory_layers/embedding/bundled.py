"""The bundled rows as files: their name, where they lie, and the words that they stand for.

How the rows were made is said in ``benchmarks/make_static_rows.py``, where they come from in
``static_minilm_l6_v2/NOTICE``; ``composite.py`` and ``plain_rows.py`` read them, with numpy and without.
"""

import os
from typing import Final

MODEL: Final = "chatmemory-static-1"
"""Vectors of other rows, features or shares get another number."""

# Paths as text: pathlib takes 4 ms to import.
_FOLDER: Final = os.path.join(os.path.dirname(__file__), "static_minilm_l6_v2")
ROWS: Final = os.path.join(_FOLDER, "rows.npy")
SCALES: Final = os.path.join(_FOLDER, "scales.npy")
VOCABULARY: Final = os.path.join(_FOLDER, "vocabulary.txt")


def vocabulary() -> list[str]:
    """Return the pieces, in the order of the rows, which is that of their code points."""
    with open(VOCABULARY, encoding="utf-8") as file:
        return file.read().split("\n")
