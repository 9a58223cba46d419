"""Claims: what a clause says of the user, in a form in which two clauses can be compared word by word.

``I don't like coffee anymore`` denies ``I love coffee``.  ``I eat pork now`` ends ``I don't eat pork``.  ``I have three
kids now`` replaces ``I have two kids``.  None of these needs a rule for coffee, pork or kids.  The words of each language
are in ``words/*.toml``.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.longterm.extraction.attributes.grammar import attribute_grammar_of
from chatmemory.longterm.extraction.attributes.statements import is_of_another
from chatmemory.longterm.extraction.memory_extractor import Language
from chatmemory.longterm.extraction.statements import FOLD, Clause, plain_statements
from chatmemory.longterm.extraction.word_rules import named_words, negations, shows, word_table

SAID: Final = "said"
"""The family of the attributes that are named by the words of a claim, for facts that the table of attributes does not know."""

MOST_WORDS: Final = 8  # a longer clause says more than one thing
LONGEST_NAME: Final = 100  # characters
_DOUBLE: Final = re.compile(r"([b-df-hj-np-tv-z])\1\Z")
_SENTENCE_END: Final = re.compile(r"[.!?。！？\n]")
_WORD: Final = re.compile(r"[\w'-]+")
_ARTICLES: Final = frozenset({"a", "an"})


@final
@frozen
class Claim:
    """What a clause says of the user.

    Attributes:
        clause: the clause.
        words: its words in order, without the subject, adverbs and numbers; in Chinese its characters.
        said: the words as they were said.
        numbers: the numbers.
        when: when or under which circumstances, as in "every morning"; ``""``: always.
        likes: whether it says what the user likes; *words* are then what is liked.
        does: whether *words* begin with a common verb, such as "drink".
        is_negated: whether it denies the words.
        is_over: whether it says that they were so until now.
        is_now: whether it says that they are so now.
        affirmed: the sentence that the clause denies; ``""`` when it denies none.
    """

    clause: Clause
    words: tuple[str, ...]
    said: str
    numbers: tuple[str, ...]
    when: str
    likes: bool
    does: bool
    is_negated: bool
    is_over: bool
    is_now: bool
    affirmed: str

    @property
    def name(self) -> str:
        """The name of the attribute that the claim states or denies."""
        return f"{SAID}:{' '.join([self.said, *self.counts, self.when])}".strip()[:LONGEST_NAME]

    @property
    def counts(self) -> tuple[str, ...]:
        """The numbers without articles."""
        return tuple(number for number in self.numbers if number not in _ARTICLES)

    @property
    def thing(self) -> tuple[str, ...]:
        """The words without the common verb: what is liked, eaten or played."""
        return self.words[1:] if self.does else self.words


@lru_cache(maxsize=1024)
def claims_of(text: str) -> tuple[Claim, ...]:
    """Return the claims of a text in order; only clauses that are plain statements of the user have claims."""
    return tuple(
        claim
        for clause, is_plain in plain_statements(text)
        if is_plain and not _is_of_another(text[: clause.start].translate(FOLD), clause)
        for claim in _claims(clause)
    )


def _is_of_another(before: str, clause: Clause) -> bool:
    """Return whether a clause without "I" follows one about another person.

    An example: ``My son saw a doctor, not allergic any more``.
    """
    language = clause.grammar.language
    attributes = attribute_grammar_of(language)
    if attributes is None or named_words(language, "subject").search(clause.text):
        return False
    return is_of_another(_SENTENCE_END.split(before)[-1], attributes)


def _claims(clause: Clause) -> Iterator[Claim]:
    language = clause.grammar.language
    if shows(language, ("planned", "clause", clause.text)):
        return
    because = clause.grammar.reason.search(clause.text)
    said = clause.text[: because.start()] if because else clause.text
    for negation in negations(language):
        found = negation.pattern.match(said)
        if found is not None:
            affirmed = negation.affirms.format(
                **{name: part or "" for name, part in found.groupdict().items()}
            )
            claim = _claim(clause, affirmed)
            if claim is not None:
                is_over = negation.is_over or named_words(language, "over").search(clause.text) is not None
                yield evolve(claim, is_negated=True, is_over=is_over, affirmed=affirmed)
            return
    claim = _claim(clause, said)
    if claim is not None:
        yield claim


def _claim(clause: Clause, text: str) -> Claim | None:
    language = clause.grammar.language
    subject = named_words(language, "subject").match(text)
    if subject is None:
        return None
    rest = text[subject.end() :].casefold()
    numbers: list[str] = []

    def count(number: re.Match[str]) -> str:
        numbers.append(number[0])
        return " "

    rest = named_words(language, "number").sub(count, rest)
    rest = named_words(language, "ignored").sub("" if language == "zh" else " ", rest)
    when = ""
    if circumstances := named_words(language, "when").search(rest):
        when = " ".join(circumstances[0].split())
        rest = rest[: circumstances.start()] + rest[circumstances.end() :]
    liked = named_words(language, "likes").match(rest)
    rest = rest[liked.end() :] if liked else rest
    words = tuple(rest) if language == "zh" else tuple(map(_stem, _WORD.findall(rest)))
    if not words or (language != "zh" and len(words) > MOST_WORDS):
        return None
    does = len(words) > 1 and words[0] in _common_verbs(language)
    is_now = named_words(language, "now").search(text) is not None
    said = " ".join(_WORD.findall(rest))
    return Claim(clause, words, said, tuple(numbers), when, liked is not None, does, False, False, is_now, "")


@cache
def _common_verbs(language: Language) -> frozenset[str]:
    return frozenset(map(_stem, word_table(language).words["does"].split("|")))


def _stem(word: str) -> str:
    """Return a word without its ending: ``drinking`` and ``drinks`` are ``drink``."""
    for ending in ("ing", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return _DOUBLE.sub(r"\1", word).removesuffix("e")


def contradicts(new: Claim, old: Claim) -> bool:
    """Return whether *new* and *old* cannot both be true: one denies what the other says, or counts the same anew."""
    if new.is_negated == old.is_negated:
        is_recount = not new.is_negated and new.is_now and bool(new.numbers) and new.numbers != old.numbers
        return is_recount and (new.words, new.when, len(new.numbers)) == (
            old.words,
            old.when,
            len(old.numbers),
        )
    denied, said = (new, old) if new.is_negated else (old, new)
    if (denied.when and denied.when != said.when) or (denied.counts and denied.counts != said.counts):
        return False
    if denied.words == said.words and denied.likes == said.likes:
        return True
    is_same_thing = bool(denied.thing) and denied.thing in (said.thing, said.words)
    if denied.likes and said.likes:
        return is_same_thing
    # Who stopped drinking coffee liked it until now; who only does not drink it may like it.
    return denied.is_over and new is denied and is_same_thing and (said.likes or said.does)
