"""What says that a statement is not so, may not be so, or is no longer so; the rules are compiled at first use.

The tables are ``words/english_doubts.toml`` and ``words/chinese_doubts.toml``.  A rule is a pattern, its meaning, a sentence that it matches and one that it does not match; a test reads all these sentences.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal, TypeAlias, final

from attrs import frozen

from chatmemory.longterm.extraction.grammar import NAMES, expression, table, words_for
from chatmemory.longterm.extraction.memory_extractor import Language

Kind: TypeAlias = Literal["untrue", "unsure", "planned", "past", "negated"]
Scope: TypeAlias = Literal["text", "sentence", "clause", "before", "opening", "around", "ending"]


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
    if language not in NAMES:
        return WordTable({}, ())
    name = f"{NAMES[language]}_doubts"
    return WordTable(words_for(name), tuple(WordRule(**rule) for rule in table(name)["rule"]))


@cache
def named_words(language: Language, name: str) -> re.Pattern[str]:
    """Return the compiled expression of a name in the file of a language."""
    return expression(f"<{name}>", word_table(language).words)


@cache
def _any_of(language: Language, kind: Kind, scope: Scope) -> re.Pattern[str] | None:
    table = word_table(language)
    patterns = [rule.pattern for rule in table.rules if (rule.kind, rule.scope) == (kind, scope)]
    return expression("|".join(f"(?:{pattern})" for pattern in patterns), table.words) if patterns else None


def shows(language: Language, *doubts: tuple[Kind, Scope, str]) -> bool:
    """Return whether a rule matches one of the texts, each given with the kind and the scope of the rules to search.

    >>> shows("en", ("unsure", "before", "I never lived in "), ("past", "clause", "I never lived in Rome"))
    True
    """
    patterns = ((_any_of(language, kind, scope), text) for kind, scope, text in doubts)
    return any(pattern is not None and pattern.search(text) for pattern, text in patterns)


@cache
def negations(language: Language) -> tuple[Negation, ...]:
    """Return the compiled rules of the kind ``negated``, in the order of the file."""
    table = word_table(language)
    return tuple(
        Negation(expression(rule.pattern, table.words), rule.affirms, rule.is_over)
        for rule in table.rules
        if rule.kind == "negated"
    )
