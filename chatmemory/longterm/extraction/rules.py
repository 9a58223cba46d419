"""Extraction by rules: ``extract_by_rules`` finds what lasts in a text, in English and Chinese, without any model.

The engine only: what a statement is stands in ``statements.py``, the rules of each language in
``english.py`` and ``chinese.py``, and what values are about in ``topics.py``.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from chatmemory.longterm.extraction.grammar import Grammar, Rule
from chatmemory.longterm.extraction.proposals import Language, ProposedMemory, Span, Speaker
from chatmemory.longterm.extraction.statements import Clause, statements
from chatmemory.longterm.extraction.topics import topic_of

MAX_PROPOSALS: Final = 16
LONGEST_VALUE: Final = 80  # characters; what is longer was not understood
UNSURE: Final = 0.3  # taken off when the speaker says "maybe"; 0.9 comes to 0.6
NO_TOPIC: Final = 0.1  # taken off when nothing tells what the value is about

_EDGES: Final = " \t,.，。、:：;；!！?？\"'“”「」《》()（）`"


def extract_by_rules(text: str, *, role: Speaker = "user") -> tuple[ProposedMemory, ...]:
    """Return what *text* says that lasts, surest first; at most ``MAX_PROPOSALS``, and none twice.

    Of a user's text these are statements about himself; of an assistant's, its advice.
    """
    found: dict[tuple[str, object], ProposedMemory] = {}
    for clause in statements(text, grammar_of):
        for proposal in _proposals(text, clause, role):
            found.setdefault((proposal.key, proposal.value), proposal)
    return tuple(sorted(found.values(), key=lambda proposal: -proposal.confidence)[:MAX_PROPOSALS])


def grammar_of(language: Language) -> Grammar | None:
    """Return the grammar of a language that the rules know.  It takes 0.1 s to compile, once it is needed."""
    match language:
        case "en":
            from chatmemory.longterm.extraction.english import ENGLISH

            return ENGLISH
        case "zh":
            from chatmemory.longterm.extraction.chinese import CHINESE

            return CHINESE
        case "other":
            return None
        case _:
            assert_never(language)


def _proposals(text: str, clause: Clause, role: Speaker) -> list[ProposedMemory]:
    """Return what the rules find in *clause*, with the first subject that makes a statement of it."""
    grammar = clause.grammar
    if grammar.passing.search(clause.text):
        return []
    because = grammar.reason.search(clause.text)
    said = clause.text[: because.start()] if because else clause.text
    # An assistant gives another reason every time: with it, the same advice would be new in every round.
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
                evidence=Span(clause.start, end),
            )
            for rule, key, words in _matches(subject + said, clause, role)
        ]
        if proposals:
            return proposals
    return []


def _matches(read: str, clause: Clause, role: Speaker) -> Iterator[tuple[Rule, str, range]]:
    """Yield the rules that fit *read*, each with its key and the place of its value; no two have a word in common."""
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
            and not any(_overlap(words, one) for one in taken)
        ):
            taken.append(words)
            yield rule, key, words


def _subjects(clause: Clause) -> Sequence[str]:
    if clause.joint is None:
        return ("",)
    return [subject.words for subject in clause.grammar.subjects if subject.joint.match(clause.joint)]


def _trimmed(found: re.Match[str], grammar: Grammar) -> range:
    """Return where the value stands in what was read, without its tail and without punctuation at its ends."""
    start, stop = found.span("value")
    value = found["value"]
    if tail := grammar.tail.search(value):
        value = value[: tail.start()]
    value = value[:LONGEST_VALUE].rstrip(_EDGES)
    stop = start + len(value)
    return range(start + len(value) - len(value.lstrip(_EDGES)), stop)


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


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
