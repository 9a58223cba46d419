"""Extraction by rules: ``extract_by_rules`` finds lasting facts in English and Chinese texts, without a model.

This is only the engine: ``statements.py`` finds the statements of a text, ``grammar.py`` has the rules of each language.
The topic of a value gives a memory its key; ``words/topics.toml`` has the words that show a topic.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction.grammar import EDGES, Grammar, Rule, table
from chatmemory.longterm.extraction.memory_extractor import Evidence, Language, ProposedMemory, Speaker
from chatmemory.longterm.extraction.statements import Clause, statements

MAX_PROPOSALS: Final = 16
LONGEST_VALUE: Final = 80  # characters; a longer value was not understood
UNSURE: Final = 0.3  # subtracted when the speaker says "maybe"; 0.9 becomes 0.6
NO_TOPIC: Final = 0.1  # subtracted when the topic of the value is not known

_ANY: Final = r"(?P<t{number}>(?<![A-Za-z0-9])(?:{topic.latin})(?![A-Za-z0-9]){chinese})"


def extract_by_rules(text: str, *, role: Speaker = "user") -> tuple[ProposedMemory, ...]:
    """Return the lasting facts of a message, the one with the highest confidence first; at most ``MAX_PROPOSALS``, none twice.

    For the role ``user`` these are statements about the user, for ``assistant`` its advice.
    """
    found: dict[tuple[str, object], ProposedMemory] = {}
    for clause in statements(text):
        for proposal in _proposals(text, clause, role):
            found.setdefault((proposal.key, proposal.value), proposal)
    return tuple(sorted(found.values(), key=lambda proposal: -proposal.confidence)[:MAX_PROPOSALS])


def _proposals(text: str, clause: Clause, role: Speaker) -> list[ProposedMemory]:
    """Return what the rules find in *clause*, with the first subject with which a rule matches."""
    grammar = clause.grammar
    if grammar.passing.search(clause.text):
        return []
    because = grammar.reason.search(clause.text)
    said = clause.text[: because.start()] if because else clause.text
    # An assistant gives another reason every time: with the reason, the same advice would be a new one each time.
    end = clause.start + len(clause.text if role == "user" else said)
    for subject in _subjects(clause):
        offset = clause.start - len(subject)
        proposals = [
            ProposedMemory(
                key=key,
                value=text[offset + words.start : offset + words.stop],
                content=subject + text[clause.start : end],
                category=rule.category,
                confidence=_confidence(rule, key, clause),
                language=grammar.language,
                evidence=Evidence(clause.start, end),
            )
            for rule, key, words in _matches(subject + said, clause, role)
        ]
        if proposals:
            return proposals
    return []


def _matches(read: str, clause: Clause, role: Speaker) -> Iterator[tuple[Rule, str, range]]:
    """Yield the rules that match *read*, each with its key and the place of its value; the values do not overlap."""
    grammar = clause.grammar
    taken: list[range] = []
    for rule in grammar.statements if role == "user" else grammar.advice:
        found = rule.match(read)
        if found is None:
            continue
        words = _trimmed(found, grammar)
        value = read[words.start : words.stop]
        key = _key(rule, value, clause)
        if (
            key
            and value
            and not grammar.vague.fullmatch(value)
            and not any(words.start < one.stop and one.start < words.stop for one in taken)
        ):
            taken.append(words)
            yield rule, key, words


def _subjects(clause: Clause) -> Sequence[str]:
    if clause.joint is None:
        return ("",)
    return [subject.words for subject in clause.grammar.subjects if subject.joint.match(clause.joint)]


def _trimmed(found: re.Match[str], grammar: Grammar) -> range:
    """Return the place of the value in the text that was read, without its tail and without punctuation at its ends."""
    start, stop = found.span("value")
    value = found["value"]
    if tail := grammar.tail.search(value):
        value = value[: tail.start()]
    value = value[:LONGEST_VALUE].rstrip(EDGES)
    stop = start + len(value)
    return range(start + len(value) - len(value.lstrip(EDGES)), stop)


def _key(rule: Rule, value: str, clause: Clause) -> str:
    if "{topic}" not in rule.key:
        return rule.key
    topic = topic_of(value, clause.text)
    if topic is None or (rule.topics and topic.en not in rule.topics):
        return rule.otherwise
    return rule.key.format(topic=topic.name(clause.grammar.language))


def _confidence(rule: Rule, key: str, clause: Clause) -> float:
    confidence = rule.confidence
    if clause.grammar.hedge.search(clause.text):
        confidence -= UNSURE
    if key == rule.otherwise:
        confidence -= NO_TOPIC
    return round(confidence, 2)


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


def topic_of(value: str, clause: str) -> Topic | None:
    """Return the topic of a value, or of the *clause* around it when the value shows none; None when neither does."""
    for topics, pattern in _tables():
        for text in (value, clause):
            if found := pattern.search(text):
                return topics[int(str(found.lastgroup)[1:])]
    return None


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
