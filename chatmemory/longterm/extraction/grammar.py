"""The parts of a language for extraction by rules: ``Rule`` and ``Grammar``, and the notation of their patterns.

A pattern is a regular expression in which ``<word>`` means an expression of the vocabulary of the language:
``<I am> allergic to <value>``.  The tables are in ``english.py`` and ``chinese.py``; ``rules.py`` applies them.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.longterm.extraction.proposals import Language
from chatmemory.longterm.memories import Category

STATED: Final = 0.9
"""The confidence in a statement of speakers about themselves; spec 002 asks for at least 0.8."""

DONE: Final = 0.85  # the confidence in a habit or a decision, which may change the next time
SUGGESTED: Final = 0.7  # the confidence in an assistant's advice, to which the user has not agreed yet
GENERAL: Final = 0.6  # the confidence in a statement that only looks like a lasting one
PLANNED: Final = 0.6  # the confidence in a plan: half of all plans are only for the same day

Vocabulary: TypeAlias = Mapping[str, str]
"""Regular expressions by their names; they may use the names of others."""

_WORD: Final = re.compile(r"(?<!\(\?)(?<!\(\?P)<([^<>]+)>")


def expression(pattern: str, vocabulary: Vocabulary) -> re.Pattern[str]:
    """Compile a pattern in which the names of expressions are replaced by these; upper and lower case are equal.

    Args:
        pattern: a pattern in the notation of this module.
        vocabulary: the expressions by their names.

    Returns:
        the compiled expression.

    Raises:
        KeyError: a name is not in the vocabulary.
    """
    while _WORD.search(pattern):
        pattern = _WORD.sub(lambda word: f"(?:{vocabulary[word[1]]})", pattern)
    return re.compile(pattern, re.IGNORECASE)


@final
@frozen
class Rule:
    """One kind of lasting fact, and the patterns of the clauses that state it.

    Attributes:
        key: the key of the fact, in which ``{topic}`` is replaced by the name of the value's topic.
        patterns: each matches from the start of a clause; the group ``value`` is the value of the fact.  The first pattern
            that matches is used.
        otherwise: the key when no topic is found; empty: then the clause states no lasting fact.
        topics: the only topics that are allowed, by their English names; empty: all.
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
        key: the key of the fact, see ``Rule``.
        patterns: one pattern or more.
        vocabulary: the expressions that the patterns name.
        whole: whether the patterns must match up to the end of the clause.
        otherwise: the key when no topic is found, see ``Rule``.
        category: the category of the fact.
        confidence: the confidence in the fact, 0 to 1.
        topics: the only topics that are allowed, by their English names; empty: all.

    Returns:
        the rule, with its patterns compiled.

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
        words: the words of the subject, which are read before the clause.
        joint: the expression that the text between the two clauses must match.
    """

    words: str
    joint: re.Pattern[str]


@final
@frozen(kw_only=True)
class Grammar:
    """The rules and expressions by which a language separates statements of speakers about themselves from other text.

    Attributes:
        statements: the rules for a user's text; when two of them match the same words, the first one is used.
        advice: the rules for an assistant's text.
        clause_break: the text between two clauses of one sentence.
        subject: the beginning of a clause whose subject also applies to later clauses without a subject.
        subjects: the subjects that are tried for such clauses, in order, until a rule matches.
        supposition: the beginning of a clause after which the sentence makes no statement any more.
        question: a clause that is a question, even without a question mark.
        hedge: a clause whose speaker is not sure.
        passing: a clause that is true only for a short time.
        reason: the beginning of the reason in a clause.
        tail: the end of a value.
        vague: a value that means nothing without the text before it.
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
