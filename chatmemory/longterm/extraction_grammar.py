"""What a language brings to extraction by rules: ``Rule`` and ``Grammar``, the shape of its tables.

The tables are in ``extraction_en.py`` and ``extraction_zh.py``; ``extraction_rules.py`` applies them.
"""

import re
from typing import Final, final

from attrs import field, frozen

from chatmemory.memories import Category
from chatmemory.proposals import Language

STATED: Final = 0.9
"""Confidence in what somebody says of himself; spec 002 asks for 0.8 at least."""

DONE: Final = 0.85  # what somebody does or has decided: he may do otherwise next time
SUGGESTED: Final = 0.7  # what an assistant advises: nobody has agreed to it yet


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@final
@frozen
class Rule:
    """One way to say something that lasts.

    Attributes:
        key: what it is about; ``{topic}`` stands for the name of the value's topic.
        otherwise: the key when no topic is found; empty: then it says nothing that lasts.
        topics: the only topics that count, by their English names; empty: all.
        pattern: matches from the start of a clause; the group ``value`` is what is said.
    """

    key: str
    pattern: re.Pattern[str] = field(converter=_compiled)
    otherwise: str = ""
    category: Category = "fact"
    confidence: float = STATED
    topics: frozenset[str] = frozenset()


@final
@frozen(kw_only=True)
class Grammar:
    """How a language tells statements of the speaker about himself from everything else.

    Attributes:
        statements: rules for what a user says; where two of them want the same words, the first one has them.
        advice: rules for what an assistant says.
        clause_break: what stands between two statements of one sentence.
        subject: the beginning of a clause whose subject also counts for clauses without one behind it.
        subjects: what to put before a clause without a subject, one after the other, until a rule fits.
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
    subjects: tuple[str, ...]
    supposition: re.Pattern[str]
    question: re.Pattern[str]
    hedge: re.Pattern[str]
    passing: re.Pattern[str]
    reason: re.Pattern[str]
    tail: re.Pattern[str]
    vague: re.Pattern[str]
