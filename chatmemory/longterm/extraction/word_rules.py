"""Rules as data: ``word_rules`` reads the rules of a language from its TOML file and compiles them at first use.

``words/english.toml`` and ``words/chinese.toml`` explain their fields.  A rule is a pattern in the notation of
``grammar.py``, its meaning, a sentence that it matches and one that it does not match; a test reads all these sentences.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from chatmemory.longterm.extraction.grammar import expression
from chatmemory.longterm.extraction.proposals import Language

Kind: TypeAlias = Literal["untrue", "unsure", "planned", "past", "negated"]
Scope: TypeAlias = Literal["text", "sentence", "clause", "before", "opening", "around", "ending"]

_FILES: Final[Mapping[Language, str]] = {"en": "english.toml", "zh": "chinese.toml"}


@final
@frozen
class WordRule:
    """One rule of a TOML file, which explains the fields."""

    kind: Kind
    pattern: str
    meaning: str
    match: str
    differs: str
    scope: Scope = "clause"
    affirms: str = ""
    is_over: bool = False


@final
@frozen
class WordTable:
    """The content of a TOML file: expressions by name, which the patterns use as ``<name>``, and the rules."""

    words: Mapping[str, str]
    rules: tuple[WordRule, ...]


@final
@frozen
class Negation:
    """A compiled rule of the kind ``negated``."""

    pattern: re.Pattern[str]
    affirms: str
    is_over: bool


@cache
def word_table(language: Language) -> WordTable:
    """Return the content of the file of a language; an empty one for a language without a file."""
    if language not in _FILES:
        return WordTable({}, ())
    text = (files(__package__) / "words" / _FILES[language]).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return WordTable(table["words"], tuple(WordRule(**rule) for rule in table["rule"]))


@cache
def named_words(language: Language, name: str) -> re.Pattern[str]:
    """Return the compiled expression of a name in the file of a language."""
    return expression(f"<{name}>", word_table(language).words)


@cache
def _any_of(language: Language, kind: Kind, scope: Scope) -> re.Pattern[str] | None:
    table = word_table(language)
    patterns = [rule.pattern for rule in table.rules if (rule.kind, rule.scope) == (kind, scope)]
    return expression("|".join(f"(?:{pattern})" for pattern in patterns), table.words) if patterns else None


def shows(language: Language, kind: Kind, scope: Scope, text: str) -> bool:
    """Return whether a rule of this kind and scope matches.

    Args:
        language: the language of *text*.
        kind: ``untrue``: what is stated is not so.  ``unsure``: it may be so, but it must not end another fact.
            ``planned``: like ``unsure``, except for wishes about the answers.
        scope: what *text* is: a sentence, a clause, or a part of a clause.
        text: the text.

    Returns:
        whether one of the rules matches; False for a language without a file.
    """
    pattern = _any_of(language, kind, scope)
    return pattern is not None and pattern.search(text) is not None


def has_doubt(language: Language, sentence: str) -> bool:
    """Return whether any rule says of a sentence that what it states may not be so."""
    doubts: tuple[tuple[Kind, Scope], ...] = (
        *(("untrue", scope) for scope in ("text", "sentence", "clause")),
        ("unsure", "sentence"),
        ("unsure", "clause"),
        ("planned", "clause"),
    )
    return any(shows(language, kind, scope, sentence) for kind, scope in doubts)


def may_not_count(language: Language, clause: str, before: str, value: str, *, is_wish: bool) -> bool:
    """Return whether a clause may not say what is so now.

    Args:
        language: the language of the clause.
        clause: the clause.
        before: the part of it before *value*.
        value: what it states.
        is_wish: whether a wish or a plan counts.

    Returns:
        whether a rule matches.
    """
    return (
        shows(language, "past", "clause", clause)
        or (not is_wish and shows(language, "planned", "clause", clause))
        or shows(language, "unsure", "around", clause.replace(value, " "))
        or shows(language, "unsure", "before", before)
        or shows(language, "unsure", "opening", before)
    )


def may_not_end(language: Language, clause: str, cue: str) -> bool:
    """Return whether a clause may not say that something is over, although it holds *cue*, such as "quit"."""
    return (
        shows(language, "past", "clause", clause)
        or shows(language, "planned", "clause", clause)
        or shows(language, "unsure", "ending", clause)
        or shows(language, "unsure", "opening", clause.partition(cue)[0])
    )


@cache
def negations(language: Language) -> tuple[Negation, ...]:
    """Return the compiled rules of the kind ``negated``, in the order of the file."""
    table = word_table(language)
    return tuple(
        Negation(expression(rule.pattern, table.words), rule.affirms, rule.is_over)
        for rule in table.rules
        if rule.kind == "negated"
    )
