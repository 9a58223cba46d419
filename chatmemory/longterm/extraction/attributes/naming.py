"""Whether two texts name the same thing: ``is_named``, ``is_one``: pure functions.

By their words alone, never by what they mean: ``order system`` and ``orders``, 订单系统 and 订单.
"""

import re
from typing import Final

from chatmemory.longterm.extraction.statements import FOLD
from chatmemory.longterm.memories import Memory
from chatmemory.text.stop_words import HAN

LEAST_LETTERS: Final = 5  # of a word in small letters; shorter ones are too common
LEAST_LATIN: Final = 3  # of one among Chinese characters, where few words are too common

_PLACES: Final = re.compile(
    r"\b(production|prod|staging|test(s|ing)?|unit tests?|dev(elopment)?)\b|生产|线上|测试|压测|开发|预发"
)
"""What is kept apart though all else is the same: nobody tests in production."""

_WORDS: Final = re.compile(rf"[^\W{HAN}_]+|[{HAN}]+")
_COMMON: Final = frozenset(
    """the and with for from that this work works working called named our my his her about since now just team called dr mr mrs ms again
    street road school house company small large office place""".split()  # noqa: SIM905  a list of quoted words is hard to read
)
_COMMON_PAIRS: Final = frozenset(
    {
        "公司",
        "我们",
        "一个",
        "一家",
        "现在",
        "每天",
        "我的",
        "上班",
        "工作",
        "医生",
        "老师",
        "自己",
        "今年",
        "目前",
        "小学",
        "银行",
    }
)


def is_one(one: str, other: str) -> bool:
    """Return whether two phrases name the same thing: ``order system`` and ``orders``, 订单系统 and 订单."""
    if {found[0] for found in _PLACES.finditer(one)} != {found[0] for found in _PLACES.finditer(other)}:
        return False
    first, second = telling_words(one), telling_words(other)
    return any(a.startswith(b) or b.startswith(a) for a in first for b in second)


def telling_words(phrase: str) -> list[str]:
    """Return the words of *phrase* in small letters, without those that name nothing: ``the``, ``company``."""
    return [word for word in _WORDS.findall(phrase.casefold()) if word not in _COMMON]


def is_named(memory: Memory, text: str, *, least: int = LEAST_LETTERS) -> bool:
    """Return whether *text* names the value of *memory*: one of its proper names, or two characters of it.

    Args:
        memory: what is known.
        text: what is said.
        least: the letters that a word in small letters must have.
    """
    value = memory.value if isinstance(memory.value, str) else ""
    value = value.translate(FOLD)
    said = text.casefold()
    words = set(_WORDS.findall(said))
    if re.search(f"[{HAN}]", value):
        least = min(least, LEAST_LATIN)
    for word in _WORDS.findall(value):
        if re.match(f"[{HAN}]", word):
            pairs = {word[at : at + 2] for at in range(len(word) - 1)} - _COMMON_PAIRS
            if any(pair in said for pair in pairs):
                return True
        elif (
            (word.casefold() in words or word.removesuffix("ing") in words or word.removesuffix("s") in words)
            and word.casefold() not in _COMMON
            and (len(word) >= least or word != word.lower())
        ):
            return True
    return False
