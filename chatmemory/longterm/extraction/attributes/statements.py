"""Which attributes of the user a text states: ``attribute_statements``, in English and Chinese, without any model.

This is only the engine.  ``extraction/statements.py`` defines a passage, ``words/`` has the tables, and ``names.py`` says
which attributes have several values.  ``links.py`` compares a statement with what is known, and decides what it ends.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.longterm.extraction.attributes.grammar import (
    UNKNOWN,
    AttributeGrammar,
    AttributeRule,
    attribute_grammar_of,
)
from chatmemory.longterm.extraction.attributes.names import one_spelling
from chatmemory.longterm.extraction.grammar import EDGES
from chatmemory.longterm.extraction.memory_extractor import Evidence, ProposedMemory
from chatmemory.longterm.extraction.statements import Passage, passages
from chatmemory.longterm.extraction.word_rules import shows

STATED_ATTRIBUTE: Final = 0.8  # the confidence in what these rules alone have read


@final
@frozen
class AttributeStatement:
    """What a passage says of an attribute.

    Attributes:
        family: the name of the attribute, without its subject.
        of: the subject of the attribute; ``""``: the user; ``UNKNOWN``: the words do not name it.
        key: the key of the memory.
        value: what is true now.
        at: the position of the value in the text.
        passage: the passage that says it.
        implied: whether it is only implied: a person who speaks of a girlfriend has one.
        added: whether it adds to what is true already: "I also work at the zoo".
    """

    family: str
    of: str
    key: str
    value: str
    at: Evidence
    passage: Passage
    implied: bool
    added: bool

    @property
    def attribute(self) -> str:
        """The name of the attribute, with its subject if the words name it."""
        return name_of_attribute(self.family, "" if self.of == UNKNOWN else self.of)


def name_of_attribute(family: str, of: str) -> str:
    """Return the name of an attribute: ``age:son``, or ``age`` of the user's own."""
    return f"{family}:{of}" if of and ":" not in family else family


def statements_of(text: str) -> tuple[AttributeStatement, ...]:
    """Return what the user says of himself in *text*, in order; no two have a word in common."""
    found: list[AttributeStatement] = []
    all_of_them = list(passages(text))
    for number, passage in enumerate(all_of_them):
        grammar = attribute_grammar_of(passage.grammar.language)
        if grammar is not None and passage.is_plain:
            behind = all_of_them[number + 1] if number + 1 < len(all_of_them) else None
            found += [_told_further(one, behind, grammar) for one in _stated(passage, grammar)]
    return tuple(sorted(found, key=lambda one: one.at.start))


def with_attributes(text: str, proposals: Sequence[ProposedMemory]) -> tuple[ProposedMemory, ...]:
    """Return *proposals* with the attributes that they state, and what *text* states of attributes beside them."""
    left = list(statements_of(text))
    known: list[ProposedMemory] = []
    for proposal in proposals:
        inside = [one for one in left if _stands_in(one, proposal)]
        # "I live in Boston and work at Google": only the proposal has the subject of the second clause.
        read = inside if inside or proposal.content in text else statements_of(proposal.content)
        stated = next((one.attribute for one in read if proposal.attribute is None), proposal.attribute)
        known.append(evolve(proposal, attribute=stated))
    covered = [one for one in left if any(_stands_in(one, proposal) for proposal in proposals)]
    taken = {one.attribute for one in known} - {None}
    beside = [
        proposal_of(one)
        for one in left
        if one not in covered
        and one.attribute not in taken
        and not (one.implied and any(_shares_passage(one, proposal) for proposal in proposals))
    ]
    return (*known, *beside)


def _shares_passage(statement: AttributeStatement, proposal: ProposedMemory) -> bool:
    start = statement.passage.start
    return start <= proposal.evidence.start < start + len(statement.passage.text)


def proposal_of(statement: AttributeStatement) -> ProposedMemory:
    """Return the memory that *statement* is, in the words of its passage."""
    passage = statement.passage
    return ProposedMemory(
        key=statement.key,
        value=statement.value,
        content=passage.said,
        category="fact",
        confidence=STATED_ATTRIBUTE,
        language=passage.grammar.language,
        evidence=Evidence(passage.start, passage.start + len(passage.text)),
        attribute=statement.attribute,
    )


def _stands_in(statement: AttributeStatement, proposal: ProposedMemory) -> bool:
    return proposal.evidence.start <= statement.at.start < proposal.evidence.end


def _told_further(
    statement: AttributeStatement, behind: Passage | None, grammar: AttributeGrammar
) -> AttributeStatement:
    """Return *statement* with the sentence behind it, if that goes on about the same: ``His name is Tomas``."""
    if behind is None or not grammar.further.match(behind.text):
        return statement
    passage = statement.passage
    return evolve(statement, passage=evolve(passage, said=f"{passage.said}. {behind.said}"))


def _stated(passage: Passage, grammar: AttributeGrammar) -> Iterator[AttributeStatement]:
    """Yield what the clauses of *passage* state, each at most one thing, in the words of that clause."""
    found: dict[int, AttributeStatement] = {}
    families: set[str] = set()
    for rule in sorted(grammar.stated, key=lambda rule: rule.implied):
        one = None if rule.family in families else _matched(passage, rule, grammar)
        if one is None:
            continue
        clause = _start_of_clause(one, grammar)
        if clause not in found and not (one.implied and found):
            found[clause] = one
            families.add(rule.family)
    places = sorted(found)
    for place, behind in pairwise([*places, len(passage.text)]):
        begin = place if place != places[0] else 0
        said = passage.said[begin:behind].strip(EDGES + "-–—")
        yield evolve(found[place], passage=evolve(passage, said=said))


def _start_of_clause(statement: AttributeStatement, grammar: AttributeGrammar) -> int:
    passage = statement.passage
    return max(
        (cut.end() for cut in grammar.cut.finditer(passage.text, 0, statement.at.start - passage.start)),
        default=0,
    )


def _matched(passage: Passage, rule: AttributeRule, grammar: AttributeGrammar) -> AttributeStatement | None:
    for pattern in rule.patterns:
        found = pattern.search(passage.text)
        while found is not None:
            value = _trimmed(found["value"], grammar)
            if value and _counts(passage, found, rule, grammar):
                of = rule.of or _qualifier(found, value, rule)
                clause = clause_around(passage.text, found.start("value"), found.end("value"), grammar)
                added = grammar.added.search(clause.replace(value, " ")) is not None
                of = value.casefold() if added else of
                start = passage.start + found.start("value")
                at = Evidence(start, start + len(found["value"]))
                return AttributeStatement(rule.family, of, rule.key, value, at, passage, rule.implied, added)
            # Not behind it: what counts may stand within what does not.
            found = pattern.search(passage.text, found.start() + 1)
    return None


def _trimmed(value: str, grammar: AttributeGrammar) -> str:
    tail = grammar.tail.search(value)
    return (value[: tail.start()] if tail and tail.start() else value).strip(EDGES)


def clause_around(text: str, start: int, end: int, grammar: AttributeGrammar) -> str:
    """Return *text* from *start* to *end*, with the text before and after it in its clause."""
    before = max((cut.end() for cut in grammar.cut.finditer(text, 0, start)), default=0)
    cut = grammar.cut.search(text, end)
    return text[before : cut.start() if cut else len(text)]


def _counts(passage: Passage, found: re.Match[str], rule: AttributeRule, grammar: AttributeGrammar) -> bool:
    """Return whether the clause of *found* says what is so now, of the user himself."""
    text, language = passage.text, passage.grammar.language
    clause = clause_around(text, found.start(), found.end(), grammar)
    if left := found.groupdict().get("was"):
        clause = clause.replace(left, " ")
    at = found.start("value")
    before = clause_around(text[:at], at, at, grammar)
    if shows(
        language,
        ("past", "clause", clause),
        ("unsure", "around", clause.replace(found["value"], " ")),
        ("unsure", "before", before),
        ("unsure", "opening", before),
    ):
        return False
    if not rule.wished and shows(language, ("planned", "clause", clause)):
        return False
    if rule.wished and grammar.shown.search(clause):
        return False
    if rule.owned and not grammar.owner.search(text):
        return False
    if rule.others:
        return True
    # A person whom the text names after the value is not its subject.
    before = clause_around(text[:at], found.start(), at, grammar)
    return not (grammar.other.search(before) or is_of_another(text[:at], grammar))


def is_of_another(before: str, grammar: AttributeGrammar) -> bool:
    """Return whether *before*, the text before the value, last names another person."""
    others = [one.end() for one in grammar.other.finditer(before)]
    own = [one.end() for one in grammar.own.finditer(before)]
    return bool(others) and (not own or own[-1] < others[-1])


def _qualifier(found: re.Match[str], value: str, rule: AttributeRule) -> str:
    of = (found.groupdict().get("of") or "").strip(EDGES).casefold().removesuffix("'s")
    if rule.named:
        return value.casefold()
    return one_spelling(of)
