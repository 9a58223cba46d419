"""The parts of a language for extraction by rules: ``Rule`` and ``Grammar``; ``grammar_of`` reads and compiles them.

The tables are ``words/english_statements.toml`` and ``words/chinese_statements.toml``; ``rules.py`` applies them.

A pattern is a regular expression in which ``<word>`` means an expression of the section ``[words]`` of its file, or of
``words/shared.toml``: ``<I am> allergic to <value>``.  The head of each file explains its fields.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeAlias, final

from attrs import frozen

from chatmemory.longterm.extraction.memory_extractor import Language
from chatmemory.longterm.memories import Category

Vocabulary: TypeAlias = Mapping[str, str]
"""Regular expressions by their names; they may use the names of others."""

NAMES: Final[Mapping[Language, str]] = {"en": "english", "zh": "chinese"}
"""How the names of the files of a language begin; other languages have none."""

EDGES: Final = " \t,.，。、:：;；!！?？\"'“”「」《》()（）`"
"""The characters around a value that do not belong to it."""

_WORD: Final = re.compile(r"(?<!\(\?)(?<!\(\?P)<([^<>]+)>")
CONFIDENCE: Final[Mapping[str, float]] = {
    "stated": 0.9,  # a statement of speakers about themselves; spec 002 asks for at least 0.8
    "done": 0.85,  # a habit or a decision, which may change the next time
    "suggested": 0.7,  # an assistant's advice, to which the user has not agreed yet
    "general": 0.6,  # a statement that only looks like a lasting one
    "planned": 0.6,  # a plan: half of all plans are only for the same day
}
"""The confidence in a fact, by the name that a rule gives."""


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
        other: the beginning of a clause about somebody else, whose subject applies to later clauses without a subject.
        subjects: the subjects that are tried for such clauses, in order, until a rule matches.
        supposition: the beginning of a clause; from there on, the sentence states nothing any more.
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
    other: re.Pattern[str]
    subjects: tuple[Subject, ...]
    supposition: re.Pattern[str]
    question: re.Pattern[str]
    hedge: re.Pattern[str]
    passing: re.Pattern[str]
    reason: re.Pattern[str]
    tail: re.Pattern[str]
    vague: re.Pattern[str]


@cache
def grammar_of(language: Language) -> Grammar | None:
    """Return the grammar of a language; None for one without rules.  The first use takes 0.1 s to compile it."""
    if language not in NAMES:
        return None
    name = f"{NAMES[language]}_statements"
    content, words = table(name), words_for(name)
    is_whole = bool(content.get("whole", False))
    subjects = [Subject(one["words"], expression(one["joint"], words)) for one in content["subject"]]
    return Grammar(
        language=language,
        statements=tuple([_rule(one, words, is_whole=is_whole) for one in content["rule"]]),
        advice=tuple([_rule(one, words, is_whole=is_whole) for one in content["advice"]]),
        subjects=tuple(subjects),
        **{field: expression(pattern, words) for field, pattern in content["expressions"].items()},
    )


def _rule(entry: Mapping[str, Any], words: Vocabulary, *, is_whole: bool) -> Rule:
    patterns = [expression(f"({one})$" if is_whole else one, words) for one in entry["patterns"]]
    return Rule(
        key=entry["key"],
        patterns=tuple(patterns),
        otherwise=entry.get("otherwise", ""),
        category=entry.get("category", "fact"),
        confidence=CONFIDENCE[entry.get("confidence", "stated")],
        topics=frozenset(entry.get("topics", ())),
    )


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return the content of the file *name*, without its ending."""
    import tomllib
    from importlib.resources import files

    text = (files("chatmemory.longterm.extraction") / "words" / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def words_for(name: str) -> Vocabulary:
    """Return the expressions that the patterns of the file *name* may use."""
    return {**table("shared")["words"], **table(name)["words"]}


def expression(pattern: str, vocabulary: Vocabulary) -> re.Pattern[str]:
    """Compile a pattern in which the names of expressions are replaced by these; upper and lower case are equal.

    Raises:
        KeyError: a name is not in the vocabulary.
    """
    while _WORD.search(pattern):
        pattern = _WORD.sub(lambda word: f"(?:{vocabulary[word[1]]})", pattern)
    return re.compile(pattern, re.IGNORECASE)
