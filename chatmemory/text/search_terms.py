"""Search terms of texts and queries, the same on every backend, and BM25 scores.

A term is letters and digits only (``str.isalnum``), folded, stemmed and at most 64 characters long; terms are separated
by single spaces.  So an index needs no knowledge of languages: any tokenizer that splits at spaces, and treats
characters outside of ASCII as letters, keeps every term whole (FTS5's ``ascii``).  BM25 (Robertson and Zaragoza, 2009)
scores how well texts match the terms of a query.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import fsum, log
from typing import Final, NamedTuple, cast

from chatmemory.text.stop_words import HAN, STOP_CHARACTERS, STOP_WORDS

READ_CHARACTERS: Final = 65_536
"""The number of characters of a text that are indexed; words after them are not found."""

MAX_TERM_CHARACTERS: Final = (
    64  # a longer run is a key, a hash or base64; its beginning is enough to distinguish it
)
MAX_SHORT_CHARACTERS: Final = 16  # longer pieces rarely occur again
MAX_SHORT_UNSPACED: Final = 4  # the same for scripts without spaces, where a piece is a part of a sentence
UNSTEMMED_CHARACTERS: Final = 2  # Porter does not stem shorter words; the stemmer would turn "s" into ""
MAX_QUERY_TERMS: Final = (
    256  # of a longer text only the beginning is used; 65 Chinese characters have 128 terms
)

K1: Final = 1.2  # how fast repetitions of a word stop adding to the score; the usual value, and FTS5's
B: Final = 0.75  # how strongly the length of a text reduces the score; the usual value, and FTS5's
FEWEST_WORDS: Final = 2  # a shorter sentence ("Thanks!") says too little to be about anything
MAX_SENTENCES: Final = 8  # of a query
MAX_SENTENCE_CHARACTERS: Final = 4096  # of a query that are read for sentences
PIECE: Final = (
    0.25  # of a word is a term of an unspaced script: a Chinese word of two characters has some four terms
)
PIECE_CHARACTERS: Final = 2

LEAST_SHARE: Final = 0.05
"""The least share of the weight of a query's words that a text must have; with less, it shares only very common characters.

It halves the hits of Chinese questions that have no answer, and loses no answer; 0.08 loses one in twelve (``tests/recall``).
"""

_STOP_WORDS: Final = frozenset(word.partition("'")[0] for word in STOP_WORDS)  # split as by _words

# Scripts without spaces between words, or with attached endings: Thai and Lao, Myanmar, Khmer, Hangul, kana, Han.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u318f\u31a0-\u31ff"
    f"\ua960-\ua97f\uac00-\ud7ff{HAN}"
)
_HAN: Final = re.compile(f"[{HAN}]")
_LETTER: Final = rf"[^\W_{_UNSPACED}]"
_RUN: Final = re.compile(
    rf"((?:(?!\W)[{_UNSPACED}])+)"
    rf"|({_LETTER}+(?:[-._]{_LETTER}+)*)"  # joined words: e-mail, node.js, foo_bar, v1.2
    rf"(\+\+?(?!{_LETTER})|\#(?!{_LETTER}))?"  # a sign that belongs to a name: C++, C#, Disney+
    rf"(?:['’](?:d|ll|m|re|s|t|ve)(?!{_LETTER}))?"  # endings that are not searched for
)
_END_OF_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_JOINT: Final = re.compile("[-._]")
_SPELLED: Final = {"+": "plus", "++": "plusplus", "#": "sharp"}
_DIACRITICS: Final = re.compile("[\u0300-\u036f]+")  # of Latin, Greek and Cyrillic
# Text that only needs lower case: ASCII, ideographs that are not composed, and their punctuation.
_LATIN_AND_HAN: Final = re.compile("[\0-\x7f\u3001\u3002\u4e00-\u9fff\uff01\uff0c\uff1f]*")
_INVISIBLE: Final = frozenset({"Mn", "Mc", "Me", "Cf"})


def search_terms(text: str) -> str:
    """Return the terms of *text*, in order and with repetitions.

    >>> search_terms("She prefers Café-style interfaces in C++")
    'she prefer cafe style cafestyl interfac in c cplusplu'
    >>> search_terms("小狗叫Max")
    '小狗 狗叫 小 狗 叫 max'
    """
    return " ".join(_terms(text))


def query_terms(text: str) -> tuple[str, ...]:
    """Return the distinct terms of a query, at most 256; stop words are left out unless the query has only these.

    >>> query_terms("What is my favourite language?")
    ('favourit', 'languag')
    >>> query_terms("Who are you?")
    ('who', 'ar', 'you')
    """
    telling = (word for word in _words(text) if not _is_stop(word))
    return _first_terms(telling) or _first_terms(_words(text))


def _first_terms(words: Iterator[str]) -> tuple[str, ...]:
    """Return the first distinct terms of a query, without reading the remaining words."""
    terms: dict[str, None] = {}
    for word in words:
        terms[_term(word)] = None
        if len(terms) == MAX_QUERY_TERMS:
            break
    return tuple(terms)


def count_words(query: str, terms: Sequence[str]) -> float:
    """Return about how many words the *terms* of *query* are; 0 if it has only stop words.

    >>> count_words("the keyset page", ["keyset", "page"])
    2.0
    >>> count_words("端口", ["端口", "端", "口"]), count_words("who are you?", ["who", "ar", "you"])
    (0.75, 0.0)
    """
    if all(map(_is_stop, _words(query))):
        return 0.0
    return sum([1.0 if term.isascii() or len(term) > PIECE_CHARACTERS else PIECE for term in terms])


def sentence_terms(query: str) -> list[tuple[str, ...]]:
    """Return the terms of each sentence of *query* that has enough words, when there are several sentences.

    >>> sentence_terms("Thanks! Which port do the tests need? Write it down for Tom.")
    [('port', 'test'), ('write', 'tom')]
    """
    parts = _END_OF_SENTENCE.split(query[:MAX_SENTENCE_CHARACTERS])
    spoken = [part for part in parts if part and not part.isspace()]
    if len(spoken) == 1:
        return []
    terms = [(part, query_terms(part)) for part in spoken[:MAX_SENTENCES]]
    return [found for part, found in terms if count_words(part, found) >= FEWEST_WORDS]


class Match(NamedTuple):
    """How a text matches a query.

    Attributes:
        score: BM25, not scaled; 0 without a word in common.
        share: the weight of the query words that the text has, divided by the weight of all query words; 0 to 1.
    """

    score: float
    share: float


def lexical_scores(query: Sequence[str], texts: Sequence[str], *, least_share: float = 0.0) -> list[float]:
    """Return how well each of *texts* matches *query*: 0 means that it does not match, 1 is the best possible score.

    Args:
        query: distinct terms.
        texts: the terms of each text, separated by single spaces.
        least_share: the share of the weight of the query's words that a text must have; a text with less scores 0.

    Returns:
        shape ``(count,)``: the BM25 scores, divided by the best of them and multiplied by the share of the weight of the
        query's words that the text has.  So a text that shares only one character with a sentence scores low even if it
        is the best.  The word statistics come from *texts*, not from a store: they are the same on every backend, need
        no extra query, and reveal nothing about the texts of other users.
    """
    return scaled_scores(bm25(query, [text.split() for text in texts]), least_share=least_share)


def scaled_scores(matches: Sequence[Match], *, least_share: float = 0.0) -> list[float]:
    """Return the scores of the *matches* of one query, scaled as by ``lexical_scores``."""
    scores = [match.score if match.share >= least_share else 0.0 for match in matches]
    best = max(scores, default=0.0)
    if not best:
        return scores
    return [score / best * match.share for score, match in zip(scores, matches, strict=True)]


def bm25(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Match]:
    """Match each of *texts* with the distinct terms of *query*.

    ``score(text) = sum over words of idf(word) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean length))``,
    ``idf(word) = ln(1 + (count - df + 0.5) / (df + 0.5))``: always above 0, unlike the one without ``1 +``.

    *texts*, shape ``(count, any)``, has the terms of each text; the matches have the shape ``(count,)``.
    """
    wanted = frozenset(query)
    frequencies = [{term: text.count(term) for term in wanted.intersection(text)} for text in texts]
    containing = Counter(chain.from_iterable(frequencies))
    idf = {term: log(1 + (len(texts) - containing[term] + 0.5) / (containing[term] + 0.5)) for term in wanted}
    whole = fsum(idf.values())
    mean_length = sum(map(len, texts)) / max(1, len(texts))
    matches: list[Match] = []
    for text, found in zip(texts, frequencies, strict=True):
        damping = K1 * (1 - B + B * len(text) / mean_length) if found else 0.0
        score = fsum([idf[term] * (K1 + 1) * times / (times + damping) for term, times in found.items()])
        matches.append(Match(score, fsum([idf[term] for term in found]) / whole if found else 0.0))
    return matches


def covered_shares(query: str, matches: Sequence[Match], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the share, 0 to 1, of the weight of the query's words that each text has, or of one sentence's if that is more.

    *query* is as the caller wrote it; *matches*, shape ``(count,)``, say how each text matches all of it; *texts*,
    shape ``(count, any)``, has the terms of each.  The shares have the shape ``(count,)``.
    """
    of_sentences = [bm25(terms, texts) for terms in sentence_terms(query)]
    return [max([match.share for match in found]) for found in zip(matches, *of_sentences, strict=True)]


def _terms(text: str) -> list[str]:
    # A space ends every run, and most pieces between two spaces are already in the cache.
    return [
        term
        for piece in _folded(text).split()
        for term in (
            _terms_of_short(piece)
            if len(piece) <= MAX_SHORT_UNSPACED or (len(piece) <= MAX_SHORT_CHARACTERS and piece.isascii())
            else _terms_of(piece)
        )
    ]


def _terms_of(piece: str) -> Iterator[str]:
    return map(_term, chain.from_iterable(map(_words_of, _RUN.finditer(piece))))


@lru_cache(maxsize=32_768)
def _terms_of_short(piece: str) -> tuple[str, ...]:
    return tuple(_terms_of(piece))


def _words(text: str) -> Iterator[str]:
    """Yield the words of *text*, folded but not stemmed."""
    return chain.from_iterable(map(_words_of, _RUN.finditer(_folded(text))))


def _words_of(run: re.Match[str]) -> Iterator[str]:
    """Yield the words of one run.

    A run of an unspaced script is split into its overlapping pairs, and each single Han character is added, because 我的狗
    shares no pair with 小狗.  With single characters, 47 of 48 Chinese questions find their memory among the first five;
    without them, 34.
    """
    unspaced, word, sign = run.groups()
    if unspaced is not None:
        yield from map("".join, pairwise(unspaced))
        yield from _HAN.findall(unspaced) if len(unspaced) > 1 else unspaced
        return
    if not word.isalnum():
        parts = _JOINT.split(word)
        yield from parts
        word = "".join(parts)
    yield word
    if sign is not None:
        yield word + _SPELLED[sign]


def _folded(text: str) -> str:
    """Return the beginning of *text* in lower case, without accents and other variants of letters."""
    text = text[:READ_CHARACTERS]
    if _LATIN_AND_HAN.fullmatch(text):
        return text.lower()
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFKD", text).casefold())
    # Composed again for Hangul and kana.  The remaining marks would split words of Hindi, Thai or Arabic, so remove them.
    return unicodedata.normalize("NFC", bare).translate(_VISIBLE)[:READ_CHARACTERS]


class _Visible(dict[int, int | None]):
    """A table for ``str.translate`` that removes marks and invisible characters."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)) in _INVISIBLE else code
        return self[code]


_VISIBLE: Final = _Visible()


def _is_stop(word: str) -> bool:
    return word in _STOP_WORDS or STOP_CHARACTERS.issuperset(word)


def _term(word: str) -> str:
    term = word[:MAX_TERM_CHARACTERS]
    return _stem(term) if term.isascii() and len(term) > UNSTEMMED_CHARACTERS else term


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return _porter()(word)


@cache
def _porter() -> Callable[[str], str]:
    # Porter's stemmer never changes, so every later version finds what this one stored.  It is imported from its module,
    # because the package prefers PyStemmer if that is installed, and only here, because the import takes 15 ms.
    from snowballstemmer import porter_stemmer  # type: ignore[import-untyped]  # it says no types

    return cast("Callable[[str], str]", porter_stemmer.PorterStemmer().stemWord)
