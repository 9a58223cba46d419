"""The terms by which past turns are found: the terms of a query, and the additional index terms of a turn.

The index is FTS5 (``porter unicode61``), which splits English into words and stems them.  It treats a whole run of Chinese
as one word, so runs are indexed and searched as overlapping pairs of characters; a name such as ``PoolTimeout`` is also
indexed and searched by its parts.  Nothing here stems words or loads data, because a search before a task must be fast.
``search_terms.py`` defines the terms of long-term memories.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice, pairwise
from typing import Final

from chatmemory.text.stop_words import CJK_RUN, PARTICLES, STOP_CHARACTERS, STOP_WORDS

MAX_QUERY_TERMS: Final = 256
"""The most terms of a query; of a longer text, only the beginning is used."""

READ_CHARACTERS: Final = 16_384
"""The number of characters read of a query."""

_PAIR: Final = 2
EXTRA_CHARACTERS: Final = 262_144
"""The number of characters of a turn that are read for its pairs and names."""

_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905  twelve quotes say no more
)
_STOP_WORDS: Final = frozenset(part for word in STOP_WORDS for part in (word, *word.split("'")))
# Split as unicode61 does: underscores, apostrophes and points separate words.
_WORD: Final = r"[^\W_]+(?:['’][^\W_]+)*"
_CAMEL_CASE: Final = r"(?<![A-Za-z])[A-Z]*[a-z]+[A-Z][A-Za-z]*"
_CAMEL_PART: Final = r"[A-Z]+[a-z]*|[a-z]+"


def prompt_terms(query: str) -> tuple[str, ...]:
    """Return the distinct terms of *query*, without stop words unless it has no other words.

    >>> prompt_terms("What did we decide about the Retry-After header?")
    ('decide', 'retry', 'header')
    >>> prompt_terms("Who are you?")
    ('who', 'are', 'you')
    >>> prompt_terms("数据库被锁 error")
    ('数据', '据库', '库被', '被锁', 'error')
    >>> prompt_terms("QueuePool limit")
    ('queuepool', 'limit', 'queue', 'pool')
    """
    text = query[:READ_CHARACTERS]
    every = list(dict.fromkeys(chain(_words(text), map(str.lower, _parts_of_names(text)))))
    telling = [word for word in every if not _is_stop(word)]
    return tuple(islice(telling or every, MAX_QUERY_TERMS))


def search_terms_of(content: str, *, timestamp: datetime | None, speaker: str | None) -> str:
    """Return the terms that are indexed in addition to *content*: day, speaker, parts of names, pairs of CJK characters.

    None: it is unknown when the turn was said, or by whom.

    >>> search_terms_of("我的狗叫Max", timestamp=datetime(2023, 5, 8), speaker="王芳")
    '8 May 2023 王芳 我的 的狗 狗叫'
    >>> search_terms_of("raise PoolTimeout", timestamp=None, speaker=None)
    'Pool Timeout'
    """
    parts: list[str] = []
    if timestamp is not None:
        parts.append(f"{timestamp.day} {_MONTHS[timestamp.month - 1]} {timestamp.year}")
    if speaker:
        parts.append(speaker)
        parts += [pair for run in re.findall(CJK_RUN, speaker) if len(run) > _PAIR for pair in _pairs(run)]
    read = content[:EXTRA_CHARACTERS]
    parts += _parts_of_names(read)
    if not content.isascii():
        parts += [pair for run in re.findall(CJK_RUN, read) for pair in _pairs(run)]
    return " ".join(parts)


def _words(text: str) -> Iterator[str]:
    lowered = text.lower()
    # English does not need the CJK pattern, which takes 2 ms to compile.
    for place, part in enumerate([lowered] if lowered.isascii() else re.split(CJK_RUN, lowered)):
        if place % 2:
            yield from _pairs(part)
            continue
        words: list[str] = re.findall(_WORD, part)
        for word in words:
            if word in _STOP_WORDS:  # whole, for what its parts would be: can't, we're
                yield word
            else:
                yield from word.replace("’", "'").split("'")


def _parts_of_names(text: str) -> list[str]:
    """Return the distinct parts of the camel-case names in *text*."""
    names: dict[str, None] = dict.fromkeys(re.findall(_CAMEL_CASE, text))
    return list(dict.fromkeys(part for name in names for part in re.findall(_CAMEL_PART, name)))


def _pairs(run: str) -> Iterator[str]:
    """Yield the overlapping pairs of *run*, or its only character."""
    return map("".join, pairwise(run)) if len(run) > 1 else iter(run)


def _is_stop(word: str) -> bool:
    return word in _STOP_WORDS or STOP_CHARACTERS.issuperset(word) or not PARTICLES.isdisjoint(word)
