"""What a language brings to find statements about attributes: ``AttributeRule`` and ``AttributeGrammar``.

A pattern is written in the notation of ``grammar.py``.  Its group ``value`` is what holds now, its group ``of`` whose or
of what: ``our <of> is written in <value>``, its group ``was`` what no longer holds: ``my boss <was>, it's <value>``.  It may stand anywhere in a passage; the rest of its clause says whether it
counts.
"""

import re
from collections.abc import Mapping
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction.grammar import Vocabulary, expression

UNKNOWN: Final = "?"
"""Of something that the words do not tell: what is known already tells it, if it is one thing."""


@final
@frozen
class AttributeRule:
    """A way to state what an attribute is now.

    Attributes:
        family: the name of the attribute, without whose it is.
        key: the key of the memory.
        patterns: the first that fits counts.
        of: whose or of what it is; ``""``: what the group ``of`` says, or the user's own.
        others: the clause may be about somebody else too.
        wished: the clause may be a wish, or tell an assistant what to do.
        named: there may be several, each with a name of its own.
        implied: the words imply it, and are about something else.
        owned: the passage has to say whose it is: there are many numbers and addresses.
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


def attribute(
    family: str,
    key: str,
    *patterns: str,
    vocabulary: Vocabulary,
    of: str = "",
    others: bool = False,
    wished: bool = False,
    named: bool = False,
    implied: bool = False,
    owned: bool = False,
) -> AttributeRule:
    """Return the rule of *patterns*; see ``AttributeRule`` for the arguments.

    Raises:
        KeyError: a pattern names an expression that is not in *vocabulary*.
    """
    ways = tuple(expression(pattern, vocabulary) for pattern in patterns)
    return AttributeRule(family, key, ways, of, others, wished, named, implied, owned)


@final
@frozen(kw_only=True)
class AttributeGrammar:
    """How a language tells what is so now, and what is over.

    Attributes:
        stated: rules; where two of them want the same words, the first one has them.
        other: a clause about somebody else.
        own: who speaks; a clause may leave him out and be about who was spoken of before.
        leaves_out: whether the subject is left out often.
        added: a clause that adds to what is so, and replaces nothing.
        owner: the user, or something that only he gives: his new number, where to ship it.
        shown: a clause about what something shows or says.
        cut: what stands between two clauses.
        tail: where a value ends.
        further: a sentence that goes on about what was stated before it.
        ended: a clause that says that something is over.
        ends: by the attribute that is over, what names it in such a clause.
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
