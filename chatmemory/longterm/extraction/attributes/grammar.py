"""What a language brings to find statements about attributes; ``attribute_grammar_of`` reads and compiles it.

The tables are ``words/english_attributes.toml`` and ``words/chinese_attributes.toml``, and ``words/attribute_words.toml`` for
what is applied to texts of any language.  A pattern has up to three groups.
``value`` is true now.  ``of`` is the subject of the attribute: ``our <of> is written in <value>``.  ``was`` is no longer
true: ``my boss <was>, it's <value>``.  A pattern may match anywhere in a passage; the rest of its clause says whether it
counts.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, final

from attrs import frozen

from chatmemory.longterm.extraction.grammar import NAMES, Vocabulary, expression, table, words_for
from chatmemory.longterm.extraction.memory_extractor import Language

UNKNOWN: Final = "?"
"""Of something that the words do not tell: what is known already tells it, if it is one thing."""


@final
@frozen
class AttributeRule:
    """A way to state what an attribute is now.

    Attributes:
        family: the name of the attribute, without its subject.
        key: the key of the memory.
        patterns: the first that fits counts.
        of: the subject of the attribute; ``""``: the group ``of`` names it, or it is the user.
        others: the clause may be about another person too.
        wished: the clause may be a wish, or tell an assistant what to do.
        named: there may be several, and each has a name.
        implied: the words imply it, and are about something else.
        owned: the passage has to name the owner: there are many numbers and addresses.
    """

    family: str
    key: str
    patterns: tuple[re.Pattern[str], ...]
    of: str
    others: bool
    wished: bool
    named: bool
    implied: bool
    owned: bool


@final
@frozen(kw_only=True)
class AttributeGrammar:
    """The expressions by which a language states that an attribute is true now, or is over.

    Attributes:
        stated: rules; where two of them want the same words, the first one has them.
        other: a clause about another person.
        own: who speaks; a clause may leave him out and be about who was spoken of before.
        leaves_out: whether the subject is left out often.
        added: a clause that adds to what is so, and replaces nothing.
        owner: the user, or something that only he gives: his new number, where to ship it.
        shown: a clause about what something shows or says.
        cut: the text between two clauses.
        tail: where a value ends.
        further: a sentence that continues the statement before it.
        ended: a clause that says that something is over.
        ends: by the attribute that is over, what names it in such a clause.
        parting: by family, what such a clause has to say besides the name of the person, the pet or the thing.
    """

    stated: tuple[AttributeRule, ...]
    other: re.Pattern[str]
    own: re.Pattern[str]
    leaves_out: bool
    added: re.Pattern[str]
    owner: re.Pattern[str]
    shown: re.Pattern[str]
    cut: re.Pattern[str]
    tail: re.Pattern[str]
    further: re.Pattern[str]
    ended: re.Pattern[str]
    ends: Mapping[str, re.Pattern[str]]
    parting: Mapping[str, re.Pattern[str]]


@cache
def attribute_grammar_of(language: Language) -> AttributeGrammar | None:
    """Return the table of a language; None for one without rules.  The first use takes 0.3 s to compile it."""
    if language not in NAMES:
        return None
    name = f"{NAMES[language]}_attributes"
    content, words = table(name), words_for(name)
    own = [_rule({**one, "patterns": content["own"]}, {**words, **one}) for one in content["own_noun"]]
    return AttributeGrammar(
        stated=(*own, *[_rule(one, words) for one in content["attribute"]]),
        leaves_out=content["leaves_out"],
        ends={family: expression(pattern, words) for family, pattern in content["ends"].items()},
        parting={
            family: expression(pattern, words)
            for families, pattern in content["parting"].items()
            for family in families.split("|")
        },
        **{field: expression(pattern, words) for field, pattern in content["expressions"].items()},
    )


@cache
def in_any_language(name: str) -> re.Pattern[str]:
    """Return the expression *name* of ``words/attribute_words.toml``, which holds of a text in any language."""
    return _joined(table("attribute_words")["expressions"][name])


@cache
def kinds_of_pets() -> tuple[re.Pattern[str], ...]:
    """Return an expression for each kind of pets, for a text in any language."""
    return tuple([_joined(kind) for kind in table("attribute_words")["kinds"].values()])


def _joined(entry: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(entry[language] for language in NAMES if language in entry), re.IGNORECASE)


def _rule(entry: Mapping[str, Any], words: Vocabulary) -> AttributeRule:
    return AttributeRule(
        family=entry["family"],
        key=entry["key"],
        patterns=tuple([expression(pattern, words) for pattern in entry["patterns"]]),
        of=entry.get("of", ""),
        **{name: entry.get(name, False) for name in ("others", "wished", "named", "implied", "owned")},
    )
