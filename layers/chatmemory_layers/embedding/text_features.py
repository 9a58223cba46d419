"""The features of a text: its words and their parts, hashed into numbers.

Texts that share words, beginnings, endings or typing slips share features; meaning is not known.  Chinese, Japanese and
Korean text is taken by characters, pairs and triples, since nothing there parts the words.  How vectors are made of
features is said in ``composite.py`` and ``plain_rows.py``, with numpy and without.

``hashed_share`` says how much of a vector the features have; static rows have the rest, as far as they know the script:
in Chinese, Japanese, Korean and whatever else is not written in Latin letters the English rows are silent.  Measured on
labelled conversations: rows alone lose two thirds of what is found in Chinese, features alone a fifth of what is found
in English.

The patterns are compiled by their first use: the one of CJK takes 2 ms, and English does without it.
"""

import re
import zlib
from functools import lru_cache
from typing import Final

from chatmemory.text.search_terms import CJK_RUN

DIM: Final = 512  # a power of two: the bits above a hash do not change its place
# Characters from the beginning of a text; a mean over more says nothing in particular.
LONGEST_READ: Final = 8_192
LONGEST_WORD: Final = 32  # characters of a word: base64 and the like are known by their beginning
CJK_GRAMS: Final = (1, 2, 3)
WORD_GRAMS: Final = (3, 4)
# The weight of a part of a word ("cat" in "concatenate") and of hiragana, which mostly writes grammar.
LIGHT: Final = 0.35

_IS_HIRAGANA: Final = "[\u3041-\u309f]+"
_WORD: Final = r"[^\W_]+(?:'[^\W_]+)*"

# A feature is a number: its hash in 32 bits, above them whether it weighs less, above that whose text's it is.
IS_LIGHT: Final = 1 << 32


def text_features(text: str) -> list[int]:
    """Return the features of *text*, each as often as it occurs."""
    found: list[int] = []
    for place, part in enumerate(_parts(text)):
        if place % 2:
            for size in CJK_GRAMS:
                found += [_gram_feature(part[start : start + size]) for start in range(len(part) - size + 1)]
        else:
            for word in re.findall(_WORD, part):
                found += _word_features(word[:LONGEST_WORD])
    return found


def _parts(text: str) -> list[str]:
    """Return *text* in lower case, what is CJK at the odd places and what is not at the even ones."""
    if text.isascii():
        return [text.lower()]
    import unicodedata

    return re.split(CJK_RUN, unicodedata.normalize("NFKC", text).replace("’", "'").lower())


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


HASHED_SHARE: Final = 0.3
"""Of the cosine of two English texts; the rest is the rows'.  Measured: recall is flat from 0.2 to 0.5."""

# Compiled by their first use: English does without them.
_LETTERS: Final = r"[^\W_]+"
# With accents, up to Latin Extended-B; the signs of multiplication and division among them are no letters.
_LATIN: Final = "[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+"


def static_part(text: str) -> str:
    """Return *text* without what the rows know nothing of."""
    return text if text.isascii() else re.sub(CJK_RUN, " ", text)


def hashed_share(text: str) -> float:
    """Return how much of the cosine the features have: ``HASHED_SHARE`` for Latin letters, all for other scripts."""
    if text.isascii():
        return HASHED_SHARE
    letters = sum(map(len, re.findall(_LETTERS, text)))
    latin = sum(map(len, re.findall(_LATIN, text)))
    return 1 - (1 - HASHED_SHARE) * latin / letters if letters else HASHED_SHARE
