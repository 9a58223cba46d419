"""The bundled rows and glosses as files: the name of the model, the paths, and how they are mapped into memory.

``benchmarks/make_static_rows.py`` makes the rows, ``static_minilm_l6_v2/NOTICE`` names their source; ``composite.py`` reads
them with numpy, ``plain_rows.py`` without it.  ``benchmarks/make_chinese_glosses.py`` makes the glosses of Chinese words,
``cc_cedict/NOTICE`` names their source; ``chinese_glosses.py`` reads them.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import Final, NamedTuple

MODEL: Final = "chatmemory-static-2"
"""The name of the model; vectors of other rows, features or shares get another version number."""

# Paths as text: importing pathlib takes 4 ms.
_HERE: Final = os.path.dirname(__file__)
_FOLDER: Final = os.path.join(_HERE, "static_minilm_l6_v2")
ROWS: Final = os.path.join(_FOLDER, "rows.npy")
SCALES: Final = os.path.join(_FOLDER, "scales.npy")
VOCABULARY: Final = os.path.join(_FOLDER, "vocabulary.txt")


class GlossFiles(NamedTuple):
    """The paths of the glosses of Chinese words.

    Attributes:
        words: UTF-8, sorted; a line holds the words that begin with the same character, separated by spaces.
        lines: uint32, shape ``(lines + 1, 2)``: the byte at which a line begins, and the number of its first word.
        starts: uint32, shape ``(words + 1,)``: the pieces of word i are ``starts[i]`` to ``starts[i + 1]``.
        pieces: uint16: positions in the vocabulary.
        weights: uint8: the factor for the row of each piece; ``WEIGHT_ONE`` means 1.
    """

    words: str
    lines: str
    starts: str
    pieces: str
    weights: str


_GLOSSES: Final = os.path.join(_HERE, "cc_cedict")
GLOSSES: Final = GlossFiles(
    os.path.join(_GLOSSES, "words.txt"),
    os.path.join(_GLOSSES, "lines.npy"),
    os.path.join(_GLOSSES, "starts.npy"),
    os.path.join(_GLOSSES, "pieces.npy"),
    os.path.join(_GLOSSES, "weights.npy"),
)
WEIGHT_ONE: Final = 64

_HEADER: Final = struct.Struct(
    "<6sBBH"
)  # of a .npy file, version 1: magic, version, length of the description


def vocabulary() -> list[str]:
    """Return the pieces in the order of the rows, which is the order of their code points."""
    with open(VOCABULARY, encoding="utf-8") as file:
        return file.read().split("\n")


def mapped(path: str) -> memoryview[int]:
    """Return the bytes of a file, mapped into memory: only the used parts are read."""
    with open(path, "rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def mapped_numbers(path: str) -> memoryview[int]:
    """Return the bytes after the header of a .npy file, mapped into memory."""
    whole = mapped(path)
    *_, length = _HEADER.unpack_from(whole)
    return whole[_HEADER.size + length :]
