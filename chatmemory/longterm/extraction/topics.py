"""The topics of values, which give a memory its key; ``words/topics.toml`` has the words that show them."""

import re
from functools import cache
from itertools import groupby
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction.proposals import Language
from chatmemory.longterm.extraction.tables import table


@final
@frozen
class Topic:
    """A topic of values, and the words that show it.

    Attributes:
        en: the name of the topic in English.
        zh: the name of the topic in Chinese.
        latin: a regular expression of whole words in Latin letters.
        chinese: a regular expression of parts of a Chinese text; ``""``: no part shows the topic.
        general: whether it counts only when no particular topic is found: green tea is a drink and not a colour.
    """

    en: str
    zh: str
    latin: str
    chinese: str = ""
    general: bool = False

    def name(self, language: Language) -> str:
        """Return the name of the topic in keys of *language*."""
        return self.zh if language == "zh" else self.en


_ANY: Final = r"(?P<t{number}>(?<![A-Za-z0-9])(?:{topic.latin})(?![A-Za-z0-9]){chinese})"


@cache
def _tables() -> list[tuple[list[Topic], re.Pattern[str]]]:
    """Return the particular and the general topics, each with a pattern that has a group for each topic, in order."""
    found = [Topic(**entry) for entry in table("topics")["topic"]]
    tables: list[tuple[list[Topic], re.Pattern[str]]] = []
    for _, group in groupby(found, key=lambda topic: topic.general):
        topics = [*group]
        ways = [
            _ANY.format(number=number, topic=topic, chinese=f"|{topic.chinese}" if topic.chinese else "")
            for number, topic in enumerate(topics)
        ]
        tables.append((topics, re.compile("|".join(ways), re.IGNORECASE)))
    return tables


def topic_of(value: str, clause: str) -> Topic | None:
    """Return the topic of a value.

    Args:
        value: the value.
        clause: the clause around it, which is searched when the value shows no topic.

    Returns:
        the topic; None when neither shows one.
    """
    for topics, pattern in _tables():
        for text in (value, clause):
            if found := pattern.search(text):
                return topics[int(str(found.lastgroup)[1:])]
    return None
