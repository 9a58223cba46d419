"""``WordPiece``: cuts text into the pieces that BERT's uncased vocabulary knows.

The pieces are those of Hugging Face's ``BertTokenizer(do_lower_case=True)`` without its markers.  Pure Python with two
memos takes a quarter of the time of a compiled tokenizer here, since a message is short and its words come again.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, final

UNKNOWN: Final = "[UNK]"
LONGEST_WORD: Final = 100  # characters; BertTokenizer knows no longer word
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
"""What BertTokenizer takes for a word of one character."""

_SYMBOLS: Final = frozenset("$+<=>^`|~")  # no punctuation to Unicode, but to BertTokenizer

_ASCII: Final[dict[int, str | None]] = {
    **dict.fromkeys((*range(32), 127)),  # control characters: nothing
    **{ord(character): " " for character in "\t\n\r"},
    **{ord(character): f" {character} " for character in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"},
}
"""What ``_spaced`` says of ASCII, where it does not leave a character as it is."""


@final
class WordPiece:
    """Cuts texts into pieces of one vocabulary; from any thread, from several at once."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the pieces, in the order of their code points; one that goes on within a word begins with ``##``.

        They are looked for where they must stand: to make a dict of them takes longer than to embed a query.
        """
        self._vocabulary = vocabulary
        self._of_word = lru_cache(maxsize=_MEMO)(self._cut)

    def places(self, text: str) -> list[int]:
        """Return the places in the vocabulary of the pieces of *text*, in order, without those that it lacks."""
        return [place for word in words(text) for place in self._of_word(word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Cut *word* greedily, the longest piece first; a word with a part that is no piece has none."""
        if len(word) > LONGEST_WORD:
            return ()
        found: list[int] = []
        start = 0
        while start < len(word):
            longest = next(self._pieces_at(word, start), None)
            if longest is None:
                return ()
            place, start = longest
            found.append(place)
        return tuple(found)

    def _pieces_at(self, word: str, start: int) -> Iterator[tuple[int, int]]:
        """Yield the place and the end of every piece that begins at *start*, the longest first."""
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = prefix + word[start:end]
            place = bisect_left(self._vocabulary, piece)
            if place < len(self._vocabulary) and self._vocabulary[place] == piece:
                yield place, end


def words(text: str) -> list[str]:
    """Return the words of *text*: in lower case, without accents, each mark and each Han character by itself."""
    if text.isascii():
        return text.lower().translate(_ASCII).split()
    import unicodedata

    return "".join(map(_spaced, unicodedata.normalize("NFD", text.lower()))).split()


@lru_cache(maxsize=1 << 12)
def _spaced(character: str) -> str:
    """Return what stands for *character*: itself, itself between spaces, a space, or nothing."""
    import unicodedata

    category = unicodedata.category(character)
    if character in "\t\n\r" or category == "Zs":
        return " "
    if category == "Mn" or category.startswith("C") or character == "\ufffd":
        return ""
    stands_alone = category.startswith("P") or character in _SYMBOLS or _is_han(ord(character))
    return f" {character} " if stands_alone else character


def _is_han(code_point: int) -> bool:
    return any(first <= code_point <= last for first, last in _HAN)
