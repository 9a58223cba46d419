"""``endings``: finds the known attributes that a text says are over.  All functions are pure.

The words of a language are in its table (``ended`` and ``ends`` of ``AttributeGrammar``).  This module decides which of the
known attributes a clause means, and leaves out wishes, questions and clauses about other people.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve

from chatmemory.longterm.extraction.attributes.grammar import (
    AttributeGrammar,
    attribute_grammar_of,
    in_any_language,
)
from chatmemory.longterm.extraction.attributes.names import is_named, telling_words
from chatmemory.longterm.extraction.attributes.statements import (
    STATED_ATTRIBUTE,
    clause_around,
    is_of_another,
)
from chatmemory.longterm.extraction.memory_extractor import Evidence, Language, ProposedMemory
from chatmemory.longterm.extraction.statements import Passage, passages
from chatmemory.longterm.extraction.word_rules import shows
from chatmemory.longterm.memories import Memory

LONGEST_ENDING: Final = 200  # characters; what is longer says more than that something is over

_ABOUT_OTHERS: Final = frozenset({"pet", "roommate", "boss", "doctor", "school", "age", "relationship"})
"""What ends when somebody else does something."""

OF_MANY: Final = frozenset({"like", "allergy", "spoken language"})
"""What one has many of: it ends only where the words say that just this is no more."""

_SUBJECT: Final = re.compile(r"\w")


def endings(text: str, known: Mapping[str, Memory]) -> Iterator[ProposedMemory]:
    """Yield what *text* says is over, of what is known."""
    if not known:
        return
    found = list(passages(text))
    seen: set[str] = set()
    for passage in found:
        grammar = attribute_grammar_of(passage.grammar.language)
        clauses = list(_ended(passage, grammar)) if grammar else []
        if grammar is None or not clauses or not passage.is_plain:
            continue
        over = _over(passage, clauses, grammar, known)
        if over is None or (over.partition(":")[0] not in _ABOUT_OTHERS and _is_of_others(clauses, grammar)):
            continue
        if over == "relationship" and any(map(in_any_language("no_partner").search, clauses)):
            continue
        memory = known[over]
        if all(_is_done_by_another(clause, memory) for clause in clauses):
            continue
        if not grammar.leaves_out and not any(_is_mine(clause, over, memory, grammar) for clause in clauses):
            continue
        if over not in seen:
            seen.add(over)
            # With what was said beside it: the reason, or what came instead.
            beside = ". ".join(one.said for one in found)
            at = Evidence(passage.start, passage.start + len(passage.text))
            one = ending(over, memory, passage.grammar.language, passage.said, at)
            yield evolve(one, content=beside) if len(beside) <= LONGEST_ENDING else one


def _ended(passage: Passage, grammar: AttributeGrammar) -> Iterator[str]:
    """Yield the clauses of *passage* that say that something is over."""
    for cue in grammar.ended.finditer(passage.text):
        clause = clause_around(passage.text, cue.start(), cue.end(), grammar)
        if not shows(
            passage.grammar.language,
            ("past", "clause", clause),
            ("planned", "clause", clause),
            ("unsure", "ending", clause),
            ("unsure", "opening", clause.partition(cue[0])[0]),
        ):
            cut = grammar.cut.search(passage.text, cue.end())
            said = passage.text[: cut.start()] if cut else passage.text
            # A clause without a subject has the one before it.
            yield said if is_of_another(said, grammar) else clause


def _is_of_others(clauses: Iterable[str], grammar: AttributeGrammar) -> bool:
    """Return whether each of *clauses* is about another person; a person who only receives a thing of mine is left out."""
    return all(grammar.other.search(in_any_language("taker").sub(" ", clause)) for clause in clauses)


def _is_mine(clause: str, over: str, memory: Memory, grammar: AttributeGrammar) -> bool:
    """Return whether *clause* is about me, names no subject (``Sold the Panda``), or names what *memory* speaks of."""
    family = over.partition(":")[0]
    cue = grammar.ended.search(clause)
    before = clause[: cue.start()] if cue else ""
    subject = in_any_language("beside").sub(" ", before)
    if in_any_language("own").search(clause) or not _SUBJECT.search(subject):
        return True
    noun = grammar.ends.get(over, grammar.ends.get(family))
    named = clause if family in {"relationship", "work"} else before
    if noun is not None and noun.search(named):
        return True
    return not set(telling_words(memory.content)).isdisjoint(telling_words(before.replace("'s", " ")))


def _is_done_by_another(clause: str, memory: Memory) -> bool:
    """Return whether *clause* tells what a person did whom *memory* does not name, and not to me: ``Kim quit Zara``."""
    doer = in_any_language("doer").match(clause)
    if doer is None:
        return False
    who = (doer["who"] or doer["谁"]).casefold()
    return who not in memory.content.casefold()


def _over(
    passage: Passage, clauses: Sequence[str], grammar: AttributeGrammar, known: Mapping[str, Memory]
) -> str | None:
    """Return the attribute that is over; None when the words fit none, or several."""
    known = {name: memory for name, memory in known.items() if name.partition(":")[0] not in OF_MANY}
    named = [name for name, memory in known.items() if is_named(memory, passage.text)]
    if len(named) == 1 and _is_parted(named[0], clauses, grammar):
        return named[0]
    meant = [
        name
        for name in known
        for attribute, pattern in grammar.ends.items()
        if (name == attribute or name.partition(":")[0] == attribute)
        and any(pattern.search(clause) for clause in clauses)
    ]
    # Who resigns leaves the job that he lives on, if one is known.
    meant = [name for name in meant if not name.startswith("side job")] or meant
    both = [name for name in meant if name in named]
    return both[0] if len(both) == 1 else meant[0] if len(meant) == 1 else None


def _is_parted(name: str, clauses: Iterable[str], grammar: AttributeGrammar) -> bool:
    """Return whether *clauses* say that the attribute *name* is over, and not only what a person or a pet did."""
    parting = grammar.parting.get(name.partition(":")[0])
    return parting is None or any(parting.search(clause) for clause in clauses)


def ending(attribute: str, memory: Memory, language: Language, said: str, at: Evidence) -> ProposedMemory:
    """Return the memory that *attribute* is over, which ends *memory*; *said* says so at the place *at*."""
    return ProposedMemory(
        key=memory.key or attribute,
        value=said,
        content=said,
        category=memory.category or "fact",
        confidence=STATED_ATTRIBUTE,
        language=language,
        evidence=at,
        attribute=attribute,
    )
