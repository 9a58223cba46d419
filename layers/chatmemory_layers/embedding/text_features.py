"""The features of a text: its words and their parts, hashed into numbers.

Texts that share words, beginnings, endings or typing slips share features; meaning is not known.  Chinese, Japanese and
Korean text is taken by characters, pairs and triples, since nothing there parts the words.  How vectors are made of
features is said in ``hashed_features.py`` and ``plain_rows.py``, with numpy and without.

The patterns are compiled by their first use: those with CJK take 5 ms, and English does without them.
"""

import re
import zlib
from functools import lru_cache
from typing import Final

from chatmemory.cjk import CJK

DIM: Final = 512  # a power of two: the bits above a hash do not change its place
# Characters from the beginning of a text; a mean over more says nothing in particular.
LONGEST_READ: Final = 8_192
LONGEST_WORD: Final = 32  # characters of a word: base64 and the like are known by their beginning
CJK_GRAMS: Final = (1, 2, 3)
WORD_GRAMS: Final = (3, 4)
# The weight of a part of a word ("cat" in "concatenate") and of hiragana, which mostly writes grammar.
LIGHT: Final = 0.35

_IS_CJK: Final = f"[{CJK}]"
_IS_HIRAGANA: Final = "[\u3041-\u309f]+"
_WORD: Final = f"[{CJK}]+|[^\\W_{CJK}]+(?:'[^\\W_{CJK}]+)*"
_ASCII_WORD: Final = r"[^\W_]+(?:'[^\W_]+)*"

# A feature is a number: its hash in 32 bits, above them whether it weighs less, above that whose text's it is.
IS_LIGHT: Final = 1 << 32


def text_features(text: str) -> list[int]:
    """Return the features of *text*, each as often as it occurs."""
    found: list[int] = []
    for word in _words(text):
        if not word.isascii() and re.match(_IS_CJK, word):
            for size in CJK_GRAMS:
                found += [_gram_feature(word[start : start + size]) for start in range(len(word) - size + 1)]
        else:
            found += _word_features(word[:LONGEST_WORD])
    return found


def _words(text: str) -> list[str]:
    if text.isascii():
        return re.findall(_ASCII_WORD, text.lower())
    import unicodedata  # noqa: PLC0415  English does without it

    return re.findall(_WORD, unicodedata.normalize("NFKC", text).replace("’", "'").lower())


@lru_cache(maxsize=1 << 14)
def _word_features(word: str) -> tuple[int, ...]:
    marked = f"<{word}>"
    parts = [marked[start : start + size] for size in WORD_GRAMS for start in range(len(marked) - size + 1)]
    return _hash(f"={word}"), *(_hash(part) | IS_LIGHT for part in parts)


@lru_cache(maxsize=1 << 15)
def _gram_feature(gram: str) -> int:
    return _hash(gram) | (IS_LIGHT if re.fullmatch(_IS_HIRAGANA, gram) else 0)


def _hash(feature: str) -> int:
    return zlib.crc32(feature.encode())
