"""Vectors without a model: words and character n-grams, hashed into a fixed number of places with a sign.

Texts that share words, beginnings, endings or typing slips come near each other; meaning is not known.  Chinese,
Japanese and Korean text is taken by characters, pairs and triples, since nothing there parts the words.
"""

import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from chatmemory.cjk import CJK
from chatmemory.contracts import Matrix
from chatmemory.longterm.unit_vectors import unit_rows

DIM: Final = 512  # a power of two: the bits above a hash do not change its place
# Characters from the beginning of a text; a mean over more says nothing in particular.
LONGEST_READ: Final = 8_192
LONGEST_WORD: Final = 32  # characters of a word: base64 and the like are known by their beginning
CJK_GRAMS: Final = (1, 2, 3)
WORD_GRAMS: Final = (3, 4)
# The weight of a part of a word ("cat" in "concatenate") and of hiragana, which mostly writes grammar.
LIGHT: Final = 0.35
BATCH: Final = 32  # texts that numpy works on at once: twice as fast as each by itself, and bounded

_IS_CJK: Final = re.compile(f"[{CJK}]")
_IS_HIRAGANA: Final = re.compile("[\u3041-\u309f]+")
_WORD: Final = re.compile(f"[{CJK}]+|[^\\W_{CJK}]+(?:'[^\\W_{CJK}]+)*")

# A feature is a number: its hash in 32 bits, above them whether it weighs less, above that whose text's it is.
_IS_LIGHT: Final = 1 << 32
_OWNER_BITS: Final = 33
_WEIGHTS: Final = np.array([-1.0, 1.0, -LIGHT, LIGHT])  # by lightness and by sign, the lowest bit of the hash


def hashed_rows(texts: Sequence[str]) -> Matrix:
    """Return a row of length 1 for each text, shape ``(count, DIM)``; all zero for one without letters and digits."""
    rows = np.zeros((len(texts), DIM), dtype=np.float32)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        rows[start : start + BATCH] = _sums([_features(text[:LONGEST_READ]) for text in batch])
    return unit_rows(rows)


def _sums(features: Sequence[Sequence[int]]) -> Matrix:
    """Add up the features of each text: each with its weight, its sign, and the logarithm of how often it occurs."""
    owners = np.repeat(np.arange(len(features)), [len(of_text) for of_text in features])
    codes = np.array([feature for of_text in features for feature in of_text], dtype=np.int64)
    codes, times = np.unique(owners << _OWNER_BITS | codes, return_counts=True)
    places = (codes >> _OWNER_BITS) * DIM + (codes >> 1) % DIM
    weights = _WEIGHTS[(codes & _IS_LIGHT != 0) * 2 + (codes & 1)] * (1 + np.log(times))
    return np.bincount(places, weights, len(features) * DIM).reshape(-1, DIM).astype(np.float32)


def _features(text: str) -> list[int]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    found: list[int] = []
    for word in _WORD.findall(text.lower()):
        if _IS_CJK.match(word):
            for size in CJK_GRAMS:
                found += [_gram_feature(word[start : start + size]) for start in range(len(word) - size + 1)]
        else:
            found += _word_features(word[:LONGEST_WORD])
    return found


@lru_cache(maxsize=1 << 14)
def _word_features(word: str) -> tuple[int, ...]:
    marked = f"<{word}>"
    parts = [marked[start : start + size] for size in WORD_GRAMS for start in range(len(marked) - size + 1)]
    return _hash(f"={word}"), *(_hash(part) | _IS_LIGHT for part in parts)


@lru_cache(maxsize=1 << 15)
def _gram_feature(gram: str) -> int:
    return _hash(gram) | (_IS_LIGHT if _IS_HIRAGANA.fullmatch(gram) else 0)


def _hash(feature: str) -> int:
    return zlib.crc32(feature.encode())
