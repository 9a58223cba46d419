"""Turns a text into numbers: its words and their parts, hashed, and the pieces of its words in a vocabulary.

Texts that share words, beginnings, endings or typing slips share hashed features, which know nothing of meaning.  Chinese,
Japanese and Korean text is read by characters, pairs and triples, since nothing separates the words.  A piece (``WordPiece``)
has a static row, which represents its meaning; a Chinese word has the pieces of its English glosses (``static_pieces``).
``composite.py`` makes vectors of both with numpy, ``plain_rows.py`` without it.

``hashed_share`` returns the share of the features in a vector.  Static rows make up the rest, if they know the script: they
know only Latin letters and Han characters, not Japanese kana or Korean.
Measured on labelled conversations: features alone lose a fifth of what is found in English.

The patterns are compiled at their first use: the one for CJK takes 2 ms, and English does not need it.
"""

import re
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, final

from chatmemory.effect.lazy import unicodedata
from chatmemory.text.stop_words import CJK_RUN, HAN

# Powers of two: the bits above a hash do not change its position.
WORD_DIM: Final = 512
GRAM_DIM: Final = 256
DIM: Final = WORD_DIM + GRAM_DIM
"""Words and CJK grams have separate positions, so that an English and a Chinese text, which share no features, are compared
by their rows alone: with shared positions, chance would lose 1 to 3 of 100 answers."""

# Characters from the beginning of a text; a mean over more of them is too general to be useful.
LONGEST_READ: Final = 8_192
LONGEST_HASHED_WORD: Final = 32  # characters of a word: of base64 and the like, the beginning is enough
CJK_GRAMS: Final = (1, 2, 3)
WORD_GRAMS: Final = (3, 4)
# The weight of a part of a word ("cat" in "concatenate") and of hiragana, which mostly writes grammar.
LIGHT: Final = 0.35

_IS_HIRAGANA: Final = "[\u3041-\u309f]+"
_WORD: Final = r"[^\W_]+(?:'[^\W_]+)*"

# A feature is a number: its hash in 32 bits, above them whether it weighs less, above that which text it belongs to.  The
# lowest bit is its sign, those above it its position: below WORD_DIM for words and their parts, above for CJK grams.
PLACES: Final = 1023
_UPPER: Final = WORD_DIM << 1
IS_LIGHT: Final = 1 << 32

HASHED_SHARE: Final = 0.3
"""Share in the cosine of two English texts; the rows have the rest.  Measured: English recall is flat from 0.2 to 0.5."""
HAN_SHARE: Final = 0.5
"""Share in the cosine of two Chinese texts.  With 0.3, questions in other words find a tenth more
(``benchmarks/paraphrases.py``), but Chinese memories rank above the answers to English questions, and questions about
nothing that is remembered find half as many memories again (``tests/recall/test_recall_quality.py``)."""

# Compiled at their first use: English does not need them.
_LETTERS: Final = r"[^\W_]+"
# With accents, up to Latin Extended-B; the signs of multiplication and division in that range are not letters.
_LATIN: Final = "[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+"

_HAN_RUN: Final = f"[{HAN}]+"

LONGEST_WORD: Final = 100  # characters; BertTokenizer ignores longer words
_MEMO: Final = 1 << 14  # words; 2,760 turns of chat between friends have 3,749

_HAN: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""The characters that BertTokenizer reads as words of one character."""

_SYMBOLS: Final = frozenset("$+<=>^`|~")  # punctuation for BertTokenizer, but not for Unicode

_ASCII: Final[dict[int, str | None]] = {
    **dict.fromkeys((*range(32), 127)),  # control characters: nothing
    **{ord(character): " " for character in "\t\n\r"},
    **{ord(character): f" {character} " for character in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"},
}
"""What ``_spaced`` returns for ASCII characters that it does not leave unchanged."""


def text_features(text: str) -> list[int]:
    """Return the features of *text*, each as often as it occurs."""
    found: list[int] = []
    for place, part in enumerate(_parts(text)):
        if place % 2:
            for size in CJK_GRAMS:
                found += [_gram_feature(part[start : start + size]) for start in range(len(part) - size + 1)]
        else:
            for word in re.findall(_WORD, part):
                found += _word_features(word[:LONGEST_HASHED_WORD])
    return found


def _parts(text: str) -> list[str]:
    """Return *text* in lower case, split: CJK text at the odd positions, other text at the even ones."""
    if text.isascii():
        return [text.lower()]
    return re.split(CJK_RUN, unicodedata.normalize("NFKC", text).replace("’", "'").lower())


@lru_cache(maxsize=1 << 14)
def _word_features(word: str) -> tuple[int, ...]:
    marked = f"<{word}>"
    parts = [marked[start : start + size] for size in WORD_GRAMS for start in range(len(marked) - size + 1)]
    return _hash(f"={word}") & ~_UPPER, *(_hash(part) & ~_UPPER | IS_LIGHT for part in parts)


@lru_cache(maxsize=1 << 15)
def _gram_feature(gram: str) -> int:
    upper = _hash(gram) & ~(GRAM_DIM << 1) | _UPPER
    return upper | IS_LIGHT if re.fullmatch(_IS_HIRAGANA, gram) else upper


def _hash(feature: str) -> int:
    return zlib.crc32(feature.encode())


def hashed_share(text: str) -> float:
    """Return the share of the features in the cosine: small for Latin, half for Chinese, 1 for other scripts."""
    if text.isascii():
        return HASHED_SHARE
    letters = sum(map(len, re.findall(_LETTERS, text)))
    if not letters:
        return HASHED_SHARE
    latin = sum(map(len, re.findall(_LATIN, text)))
    han = sum(map(len, re.findall(_HAN_RUN, text)))
    return 1 - ((1 - HASHED_SHARE) * latin + (1 - HAN_SHARE) * han) / letters


@final
class WordPiece:
    """Cuts texts into the pieces of BERT's uncased vocabulary; several threads may use it at once.

    The pieces equal the pieces of Hugging Face's ``BertTokenizer(do_lower_case=True)``, without its markers.  Pure Python
    with two caches takes a quarter of the time of a compiled tokenizer, since a message is short and its words occur again.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Use the pieces *vocabulary*, sorted by code points; one that continues a word begins with ``##``.

        A binary search finds them: building a dict of them takes longer than embedding a query.
        """
        self._vocabulary = vocabulary
        self._of_word = lru_cache(maxsize=_MEMO)(self._cut)

    def places(self, text: str) -> list[int]:
        """Return the positions in the vocabulary of the pieces of *text*, in order; unknown words have none."""
        return [place for word in words(text) for place in self._of_word(word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the pieces of *word*, the longest first at each position; none if a part of the word is unknown."""
        if len(word) > LONGEST_WORD:
            return ()
        found: list[int] = []
        start = 0
        while start < len(word):
            longest = self._longest_piece(word, start)
            if longest is None:
                return ()
            place, start = longest
            found.append(place)
        return tuple(found)

    def _longest_piece(self, word: str, start: int) -> tuple[int, int] | None:
        """Return the position and the end of the longest piece that begins at *start*."""
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = prefix + word[start:end]
            place = bisect_left(self._vocabulary, piece)
            if place < len(self._vocabulary) and self._vocabulary[place] == piece:
                return place, end
        return None


def words(text: str) -> list[str]:
    """Return the words of *text* in lower case, without accents; each mark and each Han character is a word."""
    if text.isascii():
        return text.lower().translate(_ASCII).split()
    return "".join(map(_spaced, unicodedata.normalize("NFD", text.lower()))).split()


@lru_cache(maxsize=1 << 12)
def _spaced(character: str) -> str:
    """Return the replacement of *character*: itself, itself between spaces, a space, or nothing."""
    category = unicodedata.category(character)
    if character in "\t\n\r" or category == "Zs":
        return " "
    if category == "Mn" or category.startswith("C") or character == "\ufffd":
        return ""
    stands_alone = category.startswith("P") or character in _SYMBOLS or _is_han(ord(character))
    return f" {character} " if stands_alone else character


def _is_han(code_point: int) -> bool:
    return any(first <= code_point <= last for first, last in _HAN)


def static_pieces(pieces: WordPiece, text: str) -> tuple[list[int], list[float] | None]:
    """Return the positions in the vocabulary of the rows of *text*, each as often as it occurs, and their weights.

    The weights are None if all of them are 1.  *pieces* cuts the text that is not Chinese.
    """
    if text.isascii():
        return pieces.places(text), None
    # Imported late: a process that reads only English does not need it.
    from chatmemory_layers.embedding.chinese_glosses import chinese_glosses

    places = pieces.places(re.sub(CJK_RUN, " ", text))
    glossed, weights = chinese_glosses().pieces(text)
    return places + glossed, [1.0] * len(places) + weights
