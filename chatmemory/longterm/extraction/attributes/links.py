"""``linked``: what a text says of attributes, in the light of what is known: pure functions.

Words leave much open: whose school it is, which project runs on Postgres, that Clover was the rabbit.  What is true now
tells it, if it is one thing.  Which memories end is not decided here, but by the store, from the attributes alone; see
``changes.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from chatmemory.longterm.extraction.attributes.claims import SAID, Claim, claims_of, contradicts
from chatmemory.longterm.extraction.attributes.endings import OF_MANY, ending, endings
from chatmemory.longterm.extraction.attributes.grammar import UNKNOWN, in_any_language, kinds_of_pets
from chatmemory.longterm.extraction.attributes.names import is_named, is_one, names_more, telling_words, words
from chatmemory.longterm.extraction.attributes.statements import (
    AttributeStatement,
    statements_of,
)
from chatmemory.longterm.extraction.memory_extractor import Evidence, Language, ProposedMemory
from chatmemory.longterm.extraction.statements import is_plain
from chatmemory.longterm.extraction.word_rules import named_words
from chatmemory.longterm.memories import Memory, NewMemory, Skipped, is_stated

_OF_SOMEBODY: Final = frozenset({"database", "language", "deployment", "school"})
"""What a statement may leave unsaid of what or whom it is, though its words tell it: ``My daughter is in a class at Oakwood``."""

_EXACT: Final = frozenset({"favourite", "detail", *OF_MANY})
"""Of which two are the same only where they are named by the same words: a shoe size is no shirt size."""


def linked(
    text: str, proposals: Sequence[ProposedMemory], current: Sequence[Memory]
) -> tuple[ProposedMemory, ...]:
    """Return *proposals* with attributes named as *current* names them, and what *text* says is over.

    *current* are the memories of the namespace that are true now and have an attribute.
    """
    known = {memory.attribute: memory for memory in current if memory.attribute is not None}
    of_table = _of_table(known)
    names = {one.attribute: _name(one, of_table) for one in statements_of(text)}
    found = [evolve(one, attribute=names.get(one.attribute or "", one.attribute)) for one in proposals]
    told = {one.attribute for one in found}
    for over in endings(text, of_table):
        if over.attribute not in told:
            _add(found, over, known)
    for claim in claims_of(text):
        clause = claim.clause
        attribute = _denied(claim, known) or _replaced(clause.text, clause.grammar.language, known)
        if attribute is not None and attribute not in {one.attribute for one in found}:
            at = Evidence(clause.start, clause.start + len(clause.text))
            said = text[at.start : at.end]
            _add(found, ending(attribute, known[attribute], clause.grammar.language, said, at), known)
    return tuple(_with_name_of_claim(one, text) for one in found)


def _of_table(known: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return the memories whose attributes are in the tables, and not only named by their words."""
    return {name: memory for name, memory in known.items() if name.partition(":")[0] != SAID}


def _add(found: list[ProposedMemory], over: ProposedMemory, known: Mapping[str, Memory]) -> None:
    """Add *over* to *found*; a proposal of the same words that ends nothing gets its attribute, and what was said beside it."""
    for number, one in enumerate(found):
        is_same = one.evidence.start < over.evidence.end and over.evidence.start < one.evidence.end
        if is_same and one.attribute not in known:
            content = over.content if one.content in over.content else one.content
            found[number] = evolve(one, attribute=over.attribute, content=content)
            return
    found.append(over)


def _denied(claim: Claim, known: Mapping[str, Memory]) -> str | None:
    """Return the attribute of the memory that *claim* denies or counts anew; None when there is none."""
    for one in statements_of(claim.affirmed) if claim.is_negated else ():
        if claim.when and one.value.casefold() not in claim.when:
            continue  # it is denied of that time or place alone
        for name, memory in known.items():
            family, _, of = name.partition(":")
            is_same = family in OF_MANY and family == one.family and _singular(of) == _singular(one.of)
            is_value = name == one.attribute and one.value.casefold() in memory.content.casefold()
            if (is_same or is_value) and not names_more(memory.content, one.value):
                return name
    denied = (
        name
        for name, memory in known.items()
        if any(contradicts(claim, old) for old in claims_of(memory.content))
    )
    return next(denied, None)


def _singular(of: str) -> str:
    return of.removesuffix("s")


def _with_name_of_claim(proposal: ProposedMemory, text: str) -> ProposedMemory:
    """Return *proposal* with an attribute that is named by its words, when the tables know none for it."""
    if proposal.attribute is not None:
        return proposal
    start, end = proposal.evidence.start, proposal.evidence.end
    said = (claim.name for claim in claims_of(text) if start <= claim.clause.start < end)
    return evolve(proposal, attribute=next(said, None))


def with_attributes_read(memories: Sequence[NewMemory], current: Sequence[Memory]) -> list[NewMemory]:
    """Return *memories*, with the attribute that the content states where the user stated it and no attribute is given."""
    known = {memory.attribute: memory for memory in current if memory.attribute is not None}
    of_table = _of_table(known)

    def read(memory: NewMemory) -> NewMemory:
        if memory.attribute is not None or not is_stated(memory.role, memory.source, memory.provenance.path):
            return memory
        stated = (_name(one, of_table) for one in statements_of(memory.content))
        over = (one.attribute for one in endings(memory.content, of_table))
        denied = (_denied(claim, known) for claim in claims_of(memory.content))
        said = (claim.name for claim in claims_of(memory.content))
        names = (one for one in (*denied, *stated, *over, *said) if one is not None)
        return evolve(memory, attribute=next(names, None))

    return [read(memory) for memory in memories]


def as_rules_read(
    text: str, found: Sequence[NewMemory | Skipped], current: Sequence[Memory]
) -> list[NewMemory | Skipped]:
    """Return what a model *found* in *text*; if no memory has an attribute, read the attributes from their words.

    A model's words may leave out that the text was a story or quoted another person, so *text* has to be plain.
    """
    if not is_plain(text) or any(isinstance(one, NewMemory) and one.attribute is not None for one in found):
        return [*found]
    return [one if isinstance(one, Skipped) else with_attributes_read([one], current)[0] for one in found]


def _name(statement: AttributeStatement, known: Mapping[str, Memory]) -> str | None:
    """Return the attribute of *statement*; None: it only implies what another memory says better."""
    if statement.family == "pet" and statement.attribute in known and _is_kind(statement.of):
        return None
    if statement.added:
        return statement.attribute
    passage = statement.passage
    if replaced := _replaced(passage.text, passage.grammar.language, known):
        return replaced
    if statement.attribute in known and statement.of != UNKNOWN:
        is_news = not statement.implied or in_any_language("alone").search(known[statement.attribute].content)
        return statement.attribute if is_news else None
    family = [name for name in known if name.partition(":")[0] == statement.family]
    if statement.family == "pet":
        family = _of_a_kind(statement, family, known)
    elif statement.of in words().children or statement.of == UNKNOWN:
        said = statement.passage.text
        named = [
            name for name in family if is_one(name.partition(":")[2], said) or is_named(known[name], said)
        ]
        family = named if len(named) == 1 else family
    elif statement.of and statement.family not in _EXACT:
        family = [
            name
            for name in family
            if is_one(name.partition(":")[2], statement.of) or _is_told_of(statement, name, known[name])
        ]
    else:
        family = []
    return family[0] if len(family) == 1 else statement.attribute


def _replaced(text: str, language: Language, known: Mapping[str, Memory]) -> str | None:
    """Return the attribute of the one value that *text* says is left: ``from Google to Meta``, 从微信换到钉钉."""
    left = named_words(language, "left").search(text)
    if left is None or left.lastgroup is None:
        return None
    named = [name for name, memory in known.items() if is_named(memory, left[left.lastgroup])]
    return named[0] if len(named) == 1 else None


def _is_kind(of: str) -> bool:
    """Return whether a pet is known by its kind alone: there may be more of it, so that none takes the place of another."""
    return any(kind.search(of) for kind in kinds_of_pets())


def _of_a_kind(
    statement: AttributeStatement, family: Sequence[str], known: Mapping[str, Memory]
) -> list[str]:
    """Return the pets that *statement* may give a new name; none when it tells of another one."""
    said = statement.passage.text
    if in_any_language("new_one").search(said):
        return []
    kinds = [kind for kind in kinds_of_pets() if kind.search(said)]
    # Of one that is known by its kind alone there may be more.
    family = [name for name in family if not _is_kind(name)]
    return [name for name in family if not kinds or any(kind.search(known[name].content) for kind in kinds)]


def _is_told_of(statement: AttributeStatement, name: str, memory: Memory) -> bool:
    """Return whether *memory*, whose attribute names nothing, speaks of what *statement* is of, a project or a child."""
    words = telling_words(statement.of)
    said = set(telling_words(memory.content))
    return name in _OF_SOMEBODY and bool(words) and said.issuperset(words)
