"""Chinese words as weighted rows of English words: the words of their glosses, the definitions in a dictionary.

A run of characters is cut greedily, the longest word first; a character that begins no word is skipped.  Grammatical and
interrogative words are known and have weight zero.  ``benchmarks/make_chinese_glosses.py`` decided the rows and their
weights.  Simplified and traditional words are known; of Japanese, only the kanji that Chinese has too.

The files are mapped at the first Chinese text.  Words are looked up by their first character, which has one line of
``GLOSSES.words``.  That line is read once and cached, so only a small part of the file is ever read.
"""

import re
from bisect import bisect_left
from functools import cache, lru_cache
from typing import Final, TypeAlias, final

from chatmemory.text.stop_words import HAN
from chatmemory_layers.embedding.bundled import GLOSSES, WEIGHT_ONE, mapped, mapped_numbers

_HAN_RUN: Final = f"[{HAN}]+"
_LINES: Final = 1 << 12  # cached first characters; a newspaper uses some 3,500
_WORDS: Final = 1 << 14


_Line: TypeAlias = tuple[dict[str, int], int]
"""The words that begin with one character, each with its number; and the length of the longest, in characters."""

_Weighed: TypeAlias = tuple[list[int], list[float]]
"""Positions in the vocabulary, and the weights of their rows."""


@final
class ChineseGlosses:
    """Returns the rows and weights for a Chinese text; several threads may use it at once."""

    def __init__(self) -> None:
        self._words = mapped(GLOSSES.words)
        self._lines = mapped_numbers(GLOSSES.lines).cast("I")
        self._starts = mapped_numbers(GLOSSES.starts).cast("I")
        self._pieces = mapped_numbers(GLOSSES.pieces).cast("H")
        self._weights = mapped_numbers(GLOSSES.weights)
        self._line_of = lru_cache(maxsize=_LINES)(self._read_line)
        self._word = lru_cache(maxsize=_WORDS)(self._read_word)

    def pieces(self, text: str) -> _Weighed:
        """Return the positions in the vocabulary of the pieces of all Chinese words in *text*, and the weights of their rows."""
        places: list[int] = []
        weights: list[float] = []
        for run in re.findall(_HAN_RUN, text):
            start = 0
            while start < len(run):
                words, longest = self._line_of(run[start])
                for end in range(min(start + longest, len(run)), start, -1):
                    number = words.get(run[start:end])
                    if number is not None:
                        of_word = self._word(number)
                        places += of_word[0]
                        weights += of_word[1]
                        start = end
                        break
                else:
                    start += 1
        return places, weights

    def _read_word(self, number: int) -> _Weighed:
        start, end = self._starts[number : number + 2]
        return self._pieces[start:end].tolist(), [weight / WEIGHT_ONE for weight in self._weights[start:end]]

    def _read_line(self, head: str) -> _Line:
        """Read the words that begin with *head*."""
        wanted = head.encode()
        count = len(self._lines) // 2 - 1

        def beginning(line: int) -> bytes:
            start = self._lines[2 * line]
            return bytes(self._words[start : start + len(wanted)])

        line = bisect_left(range(count), wanted, key=beginning)
        if line == count or beginning(line) != wanted:
            return {}, 0
        start, first, end = self._lines[2 * line : 2 * line + 3]
        words = str(self._words[start : end - 1], "utf-8").split(" ")
        return {word: first + place for place, word in enumerate(words)}, max(map(len, words))


@cache
def chinese_glosses() -> ChineseGlosses:
    """Return the glosses that ship with the package, mapped once."""
    return ChineseGlosses()
