"""The words by which a text is found: the same on every backend, for what is stored and for what is asked.

A term is letters and digits only (``str.isalnum``), folded, stemmed and at most 64 characters long; terms are separated
by single spaces.  So an index has nothing to understand: any tokenizer that splits at spaces, and takes for a letter
whatever is not ASCII, keeps every term whole (FTS5's ``ascii``).  How well texts match the terms of a query is said by
BM25 (Robertson and Zaragoza, 2009).  The stop words and the character classes of Chinese, Japanese and Korean serve others that read texts too.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import fsum, log
from typing import Final, NamedTuple, cast

from chatmemory.input.json_value import AS_GIVEN, Json

STOP_WORDS: Final = frozenset(
    """a about above after again all also am an and any are aren't as at be because been before being both but by can
    can't cannot could couldn't did didn't do does doesn't doing don't down each even ever few for from get gets getting
    go goes going gonna got had has hasn't have haven't having he he's her here hers him his how i i'd i'll i'm i've if
    in into is isn't it it's its itself just kind kinda know let let's like ll lot lots made make makes many may maybe me
    might more most much must my myself need needs no nor not now of off oh ok okay on one only or other our ours out
    over own please put really re right said same say see she she's should so some something still such sure take
    than thank thanks that that's the their them then there there's these they they're thing things think this those
    though through to too try under until up us use ve very want wants was wasn't way we we'd we'll we're we've well
    were what what's when where which while who why will with won't would wouldn't wow yeah yes yep you you'd you'll
    you're you've your yours""".split()  # noqa: SIM905  a list of quoted words is hard to read
)

STOP_CHARACTERS: Final = frozenset(
    "的了是我你他她它们在有和就不都也很到说要去会着没看好这那个一为与及或之而其吗吧呢啊哦呀嗯么什怎可以能但被把对从让给还更最再又哪谁"
)
"""A pair of two of these is a pair of grammar; beside another character they may be half of a word."""

PARTICLES: Final = frozenset("的了吗呢吧啊么什怎哪谁")
"""A pair with one of these is cut across words, or asks: 时的, 锁了, 怎么."""

# Each is the inside of a character class: re.compile(f"[{HAN}]").
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Every block of ideographs, Unicode 16; the hexagrams between the first two are no writing."""

KANA_AND_HANGUL: Final = "\u3040-\u30ff\uac00-\ud7af"

CJK: Final = HAN + KANA_AND_HANGUL

CJK_RUN: Final = f"([{CJK}]+)"
"""A pattern.  Such a class takes 2 ms to compile: whoever uses this one, as text, shares what ``re`` remembers of it.
``re.split(CJK_RUN, text)`` has the runs at its odd places."""


READ_CHARACTERS: Final = 65_536
"""How far a text is read; what stands behind is not found by its words."""

MAX_TERM_CHARACTERS: Final = 64  # a longer run is a key, a hash or base64: its beginning tells it apart
UNSTEMMED_CHARACTERS: Final = 2  # Porter leaves words this short alone; the stemmer would make "" of "s"
MAX_QUERY_TERMS: Final = (
    256  # who asks with a whole page means its beginning; 65 Chinese characters have 128 terms
)

K1: Final = 1.2  # how soon a word said again adds nothing; the usual value, and FTS5's
B: Final = 0.75  # how much a long text has to say a word more often; the usual value, and FTS5's
LEAST_SHARE: Final = 0.05
"""Of the weight of a query's words: with less, a text shares no more than a character that everybody says.

It halves what idle Chinese questions bring up, and loses no answer; 0.08 loses one in twelve (``tests/recall``).
"""

_STOP_WORDS: Final = frozenset(word.partition("'")[0] for word in STOP_WORDS)  # as _words cuts them

# Scripts without spaces between words, or with endings grown to them: Thai and Lao, Myanmar, Khmer, Hangul, kana, Han.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u318f\u31a0-\u31ff"
    f"\ua960-\ua97f\uac00-\ud7ff{HAN}"
)
_HAN: Final = re.compile(f"[{HAN}]")
_LETTER: Final = rf"[^\W_{_UNSPACED}]"
_RUN: Final = re.compile(
    rf"((?:(?!\W)[{_UNSPACED}])+)"
    rf"|({_LETTER}+(?:[-._]{_LETTER}+)*)"  # one word behind a joint: e-mail, node.js, foo_bar, v1.2
    rf"(\+\+?(?!{_LETTER})|\#(?!{_LETTER}))?"  # a sign that belongs to a name: C++, C#, Disney+
    rf"(?:['’](?:d|ll|m|re|s|t|ve)(?!{_LETTER}))?"  # nobody asks for it
)
_JOINT: Final = re.compile("[-._]")
_SPELLED: Final = {"+": "plus", "++": "plusplus", "#": "sharp"}
_DIACRITICS: Final = re.compile("[\u0300-\u036f]+")  # of Latin, Greek and Cyrillic
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
    """Return the terms that a query looks for: none twice, at most 256, no stop words unless there is nothing else.

    >>> query_terms("What is my favourite language?")
    ('favourit', 'languag')
    >>> query_terms("Who are you?")
    ('who', 'ar', 'you')
    """
    telling = (word for word in _words(text) if not _is_stop(word))
    return _first_terms(telling) or _first_terms(_words(text))


def _first_terms(words: Iterator[str]) -> tuple[str, ...]:
    """Return the first distinct terms that a query may have, and look at no word behind them."""
    terms: dict[str, None] = {}
    for word in words:
        terms[_term(word)] = None
        if len(terms) == MAX_QUERY_TERMS:
            break
    return tuple(terms)


def memory_terms(
    content: str, *, key: str | None = None, value: Json = None, tags: Sequence[str] = ()
) -> str:
    """Return the terms of a memory: those of its content, then what its key, tags and value say besides.

    >>> memory_terms("我用Python", key="语言", value="Python")
    '我用 我 用 python 语言 语 言'
    """
    terms = list(_terms(content))
    said = set(terms)
    labels = "\n".join([key or "", *tags, *_texts(value)])
    return " ".join(terms + [term for term in _terms(labels) if term not in said])


def lexical_scores(query: Sequence[str], texts: Sequence[str], *, least_share: float = 0.0) -> list[float]:
    """Return how well each of *texts* matches *query*, from 0 to 1, the best match.

    Args:
        query: terms, none twice.
        texts: the terms of each text, separated by single spaces.
        least_share: the share of the weight of the query's words that a text has to have; one with less gets 0.

    Returns:
        shape ``(count,)``: the BM25 scores, divided by the best of them, and multiplied by the share of the weight of the
        query's words that the text has: the best of texts that share one character each with a sentence is no match.
        The statistics of words are those of *texts*, not of a store: the same on every backend, without a query of their
        own, and silent about what other users say.
    """
    matches = bm25(query, [text.split() for text in texts])
    scores = [match.score if match.share >= least_share else 0.0 for match in matches]
    best = max(scores, default=0.0)
    if not best:
        return scores
    return [score / best * match.share for score, match in zip(scores, matches, strict=True)]


class Match(NamedTuple):
    """How a text matches a query.

    Attributes:
        score: BM25, not scaled; 0 without a word in common.
        share: of the weight of all words of the query, that of those which the text has; 0 to 1.
    """

    score: float
    share: float


def bm25(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Match]:
    """Match each of *texts* with *query*.

    ``score(text) = sum over words of idf(word) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean length))``,
    ``idf(word) = ln(1 + (count - df + 0.5) / (df + 0.5))``: always above 0, unlike the one without ``1 +``.

    Args:
        query: terms, none twice.
        texts: shape ``(count, any)``, the terms of each.

    Returns:
        shape ``(count,)``.
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


def _terms(text: str) -> Iterator[str]:
    return map(_term, _words(text))


def _words(text: str) -> Iterator[str]:
    """Yield the words of *text*, folded but not stemmed.

    A run of an unspaced script is taken as its overlapping pairs, and each Han character by itself: 我的狗 shares no pair
    with 小狗.  Without them 34 instead of 47 of 48 Chinese questions find their memory among the first five.
    """
    for run in _RUN.finditer(_folded(text)):
        unspaced, word, sign = run.groups()
        if unspaced is not None:
            yield from map("".join, pairwise(unspaced))
            yield from _HAN.findall(unspaced) if len(unspaced) > 1 else unspaced
            continue
        if not word.isalnum():
            parts = _JOINT.split(word)
            yield from parts
            word = "".join(parts)
        yield word
        if sign is not None:
            yield word + _SPELLED[sign]


def _folded(text: str) -> str:
    """Return the beginning of *text* without the differences that nobody who asks should have to know."""
    text = text[:READ_CHARACTERS]
    if text.isascii():
        return text.lower()
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFKD", text).casefold())
    # Composed again for Hangul and kana.  What marks remain would split the words of Hindi, Thai or Arabic.
    return unicodedata.normalize("NFC", bare).translate(_VISIBLE)[:READ_CHARACTERS]


class _Visible(dict[int, int | None]):
    """For ``str.translate``: a mark or an invisible character goes, any other stays."""

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
    # Porter's stemmer is frozen, so that every later version finds what this one stored.  It is taken from its module,
    # because the package prefers PyStemmer where that is installed, and when it is needed, because it takes 15 ms.
    from snowballstemmer import porter_stemmer  # type: ignore[import-untyped]  # it says no types

    return cast("Callable[[str], str]", porter_stemmer.PorterStemmer().stemWord)


def _texts(value: Json) -> Iterator[str]:
    """Yield every text and number in *value*, the names of its fields among them, but ``AS_GIVEN``.

    Iterative: depth is an attack.
    """
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, Mapping):
            told = {name: part for name, part in here.items() if name != AS_GIVEN}
            waiting.extend(told.keys())
            waiting.extend(told.values())
        elif isinstance(here, Sequence):
            waiting.extend(here)
        elif isinstance(here, int | float) and not isinstance(here, bool):
            yield str(here)
