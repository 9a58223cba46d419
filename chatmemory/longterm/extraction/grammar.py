"""What a language brings to extraction by rules: ``Rule`` and ``Grammar``, and the notation in which they are written.

A pattern is a regular expression in which ``<word>`` stands for an expression of the language's own vocabulary:
``<I am> allergic to <value>``.  The tables are in ``english.py`` and ``chinese.py``; ``rules.py``
applies them.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.longterm.extraction.proposals import Language
from chatmemory.longterm.memories import Category

STATED: Final = 0.9
"""Confidence in what somebody says of himself; spec 002 asks for 0.8 at least."""

DONE: Final = 0.85  # what somebody does or has decided: he may do otherwise next time
SUGGESTED: Final = 0.7  # what an assistant advises: nobody has agreed to it yet
PLANNED: Final = 0.6  # half of all plans are for this afternoon

Vocabulary: TypeAlias = Mapping[str, str]
"""Expressions by the name that stands for them; they may name each other."""

_WORD: Final = re.compile(r"(?<!\(\?)(?<!\(\?P)<([^<>]+)>")


def expression(pattern: str, vocabulary: Vocabulary) -> re.Pattern[str]:
    """Compile *pattern* with the expressions of *vocabulary* in the place of their names; case does not matter.

    Raises:
        KeyError: a word is not in the vocabulary.
    """
    while _WORD.search(pattern):
        pattern = _WORD.sub(lambda word: f"(?:{vocabulary[word[1]]})", pattern)
    return re.compile(pattern, re.IGNORECASE)


@final
@frozen
class Rule:
    """One kind of lasting fact, and the patterns of the clauses that state it.

    Attributes:
        key: the key of the fact; ``{topic}`` stands for the name of the value's topic.
        patterns: each matches from the start of a clause; the group ``value`` is what is said.  The first that fits counts.
        otherwise: the key when no topic is found; empty: then the clause states no lasting fact.
        topics: the only topics that count, by their English names; empty: all.
    """

    key: str
    patterns: tuple[re.Pattern[str], ...]
    otherwise: str
    category: Category
    confidence: float
    topics: frozenset[str]

    def match(self, clause: str) -> re.Match[str] | None:
        """Return the match of the first pattern that fits *clause*; None when no pattern fits."""
        return next((found for pattern in self.patterns if (found := pattern.match(clause))), None)


def rule(
    key: str,
    *patterns: str,
    vocabulary: Vocabulary,
    whole: bool = False,
    otherwise: str = "",
    category: Category = "fact",
    confidence: float = STATED,
    topics: frozenset[str] = frozenset(),
) -> Rule:
    """Return the rule of *patterns*, which are written in the notation of this module.

    Args:
        key: the key of the fact.
        patterns: at least one.
        vocabulary: the expressions that the patterns name.
        whole: whether the patterns have to reach the end of the clause.
        otherwise: the key when no topic is found.
        category: of the fact.
        confidence: in the fact, from 0 to 1.
        topics: the only topics that count, by their English names; empty: all.

    Raises:
        KeyError: a pattern names an expression that is not in *vocabulary*.
    """
    ways = tuple(expression(rf"({pattern})$" if whole else pattern, vocabulary) for pattern in patterns)
    return Rule(key, ways, otherwise, category, confidence, topics)


@final
@frozen
class Subject:
    """A subject that a clause shares with the clause before it.

    Attributes:
        words: are read before the clause.
        joint: fits the text between the two clauses.
    """

    words: str
    joint: re.Pattern[str]


@final
@frozen(kw_only=True)
class Grammar:
    """How a language tells statements of the speaker about himself from everything else.

    Attributes:
        statements: rules for what a user says; where two of them want the same words, the first one has them.
        advice: rules for what an assistant says.
        clause_break: what stands between two statements of one sentence.
        subject: the beginning of a clause whose subject also counts for clauses without one behind it.
        subjects: what such clauses are read with, one after the other, until a rule fits.
        supposition: the beginning of a clause that makes itself and the rest of the sentence no statement.
        question: a clause that asks, though no question mark tells.
        hedge: a clause whose speaker is not sure.
        passing: a clause that will be over tomorrow.
        reason: where a clause goes on to say why.
        tail: where a value ends.
        vague: a value that means nothing without what was said before it.
    """

    language: Language
    statements: tuple[Rule, ...]
    advice: tuple[Rule, ...]
    clause_break: re.Pattern[str]
    subject: re.Pattern[str]
    subjects: tuple[Subject, ...]
    supposition: re.Pattern[str]
    question: re.Pattern[str]
    hedge: re.Pattern[str]
    passing: re.Pattern[str]
    reason: re.Pattern[str]
    tail: re.Pattern[str]
    vague: re.Pattern[str]
