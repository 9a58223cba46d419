"""``is_single_valued``, ``one_spelling``, ``asked_by``: names of attributes; ``is_named``, ``is_one``: what two texts name.

The name of an attribute may contain its subject: ``age:son``, ``favourite:book``, ``database:relay``.  ``statements.py``
finds statements about attributes.  The words are in ``words/attribute_words.toml``.

``is_named`` and ``is_one`` compare texts by their words alone, never by what they mean: ``order system`` and ``orders``,
订单系统 and 订单.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction.attributes.grammar import in_any_language
from chatmemory.longterm.extraction.grammar import table
from chatmemory.longterm.extraction.statements import FOLD
from chatmemory.longterm.memories import Memory
from chatmemory.text.stop_words import HAN

LEAST_LETTERS: Final = 5  # of a word in small letters; shorter ones are too common
LEAST_LATIN: Final = 3  # of one among Chinese characters, where few words are too common
LEAST_PLURAL: Final = 4  # letters

_WORDS: Final = re.compile(rf"[^\W{HAN}_]+|[{HAN}]+")


@final
@frozen
class Words:
    """The content of ``words/attribute_words.toml``, which explains the fields."""

    several_valued: frozenset[str]
    common: frozenset[str]
    common_pairs: frozenset[str]
    children: frozenset[str]
    spellings: Mapping[str, str]
    asked_by: Mapping[str, str]


@cache
def words() -> Words:
    """Return the words; the first use reads them."""
    content = table("attribute_words")
    return Words(
        several_valued=frozenset(content["several_valued"]),
        common=frozenset(content["common"].split()),
        common_pairs=frozenset(content["common_pairs"].split()),
        children=frozenset(content["children"].split()),
        spellings=content["spellings"],
        asked_by=content["asked_by"],
    )


def is_single_valued(attribute: str) -> bool:
    """Return whether a newer statement about *attribute* ends the older ones.

    >>> is_single_valued("residence"), is_single_valued("pet"), is_single_valued("pet:otto")
    (True, False, True)
    """
    return attribute not in words().several_valued


def one_spelling(of: str) -> str:
    """Return what is named by *of* in the spelling of the names of attributes: the British one, of one thing, and of words for the same the first.

    >>> one_spelling("color"), one_spelling("movies"), one_spelling("tennis")
    ('colour', 'film', 'tennis')
    >>> one_spelling("deadline for the grant")
    'grant deadline'
    """
    of = in_any_language("now").sub("", of)
    of = in_any_language("of_what").sub(r"\g<what> \g<of>", of)
    one = (
        of
        if of.endswith(("ss", "us", "is", "series", "news")) or len(of) < LEAST_PLURAL
        else of.removesuffix("s")
    )
    return words().spellings.get(one, one)


def asked_by(attribute: str) -> str:
    """Return the words by which people ask for *attribute*, in English and Chinese; none for an unknown attribute.

    A statement seldom has them: people do not say "I live in the city of Leeds".
    """
    family, _, of = attribute.partition(":")
    asked = words().asked_by.get(family)
    return "" if asked is None else f"{asked} {of}"


def is_one(one: str, other: str) -> bool:
    """Return whether two phrases name the same thing: ``order system`` and ``orders``, 订单系统 and 订单."""
    places = in_any_language("places")
    if {found[0] for found in places.finditer(one)} != {found[0] for found in places.finditer(other)}:
        return False
    first, second = telling_words(one), telling_words(other)
    return any(a.startswith(b) or b.startswith(a) for a in first for b in second)


def telling_words(phrase: str) -> list[str]:
    """Return the words of *phrase* in small letters, without those that name nothing: ``the``, ``company``."""
    common = words().common
    return [word for word in _WORDS.findall(phrase.casefold()) if word not in common]


def is_named(memory: Memory, text: str) -> bool:
    """Return whether *text* names the value of *memory*: one of its proper names, or two characters of it."""
    value = memory.value if isinstance(memory.value, str) else ""
    value = value.translate(FOLD)
    said = text.casefold()
    spoken = set(_WORDS.findall(said))
    least = LEAST_LATIN if re.search(f"[{HAN}]", value) else LEAST_LETTERS
    for word in _WORDS.findall(value):
        if re.match(f"[{HAN}]", word):
            pairs = {word[at : at + 2] for at in range(len(word) - 1)} - words().common_pairs
            if any(pair in said for pair in pairs):
                return True
        elif (
            (
                word.casefold() in spoken
                or word.removesuffix("ing") in spoken
                or word.removesuffix("s") in spoken
            )
            and word.casefold() not in words().common
            and (len(word) >= least or word != word.lower())
        ):
            return True
    return False


def names_more(content: str, value: str) -> bool:
    """Return whether *content* lists something beside *value*, which does not end with it.

    >>> names_more("I'm allergic to nuts and eggs", "nuts"), names_more("I'm allergic to nuts", "nuts")
    (True, False)
    """
    before, _, after = content.casefold().partition(value.casefold())
    return in_any_language("list").search(f"{before}|{after}") is not None
