"""Vectors without a model: words and character n-grams, hashed into a fixed number of places with a sign.

Texts that share words, beginnings, endings or typing slips come near each other; meaning is not known.  Chinese,
Japanese and Korean text is taken by characters, pairs and triples, since nothing there parts the words.
"""

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from chatmemory.contracts import Matrix, Vector
from chatmemory.longterm.embedding_rows import unit_rows
from chatmemory_layers.skills.transcript import CJK

DIM: Final = 512
LONGEST_READ: Final = (
    8_192  # characters from the beginning of a text; a mean over more says nothing in particular
)
LONGEST_WORD: Final = 32  # characters of a word: base64 and the like are known by their beginning
CJK_GRAMS: Final = (1, 2, 3)
WORD_GRAMS: Final = (3, 4)
GRAM_WEIGHT: Final = 0.35  # beside 1 for a whole word: "cat" is in "concatenate", and means nothing there

_GRAM: Final = 1 << 32  # marks a feature as part of a word; the 32 bits below are its hash
_WORD: Final = re.compile(f"(?P<cjk>[{CJK}]+)|[^\\W_{CJK}]+(?:['’][^\\W_{CJK}]+)*")


def hashed_rows(texts: Sequence[str]) -> Matrix:
    """Return a row of length 1 for each text, shape ``(count, DIM)``; all zero for one without letters and digits."""
    rows = np.zeros((len(texts), DIM), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        features = Counter(_features(text[:LONGEST_READ]))
        if features:
            row[:] = _row(features)
    return unit_rows(rows)


def _row(features: Counter[int]) -> Vector:
    """Add up *features*, each with its weight, its sign, and the logarithm of how often it occurs."""
    codes = np.fromiter(features, np.int64, len(features))
    times = np.fromiter(features.values(), np.float64, len(features))
    weights = np.where(codes & _GRAM, GRAM_WEIGHT, 1.0) * np.where(codes & 1, 1.0, -1.0)
    return np.bincount((codes >> 1) % DIM, weights * (1 + np.log(times)), DIM).astype(np.float32)


def _features(text: str) -> Iterator[int]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for word in _WORD.finditer(text.lower()):
        run = word["cjk"]
        if run is None:
            yield from _word_features(word[0][:LONGEST_WORD].replace("’", "'"))
        else:
            for size in CJK_GRAMS:
                for start in range(len(run) - size + 1):
                    yield _hash(run[start : start + size])


@lru_cache(maxsize=1 << 14)
def _word_features(word: str) -> tuple[int, ...]:
    marked = f"<{word}>"
    grams = [marked[start : start + size] for size in WORD_GRAMS for start in range(len(marked) - size + 1)]
    return _hash(f"={word}"), *(_hash(gram) | _GRAM for gram in grams)


@lru_cache(maxsize=1 << 15)
def _hash(feature: str) -> int:
    return zlib.crc32(feature.encode())
