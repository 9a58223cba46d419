"""Rules as data: ``table`` reads a file of ``words/``; ``expression`` compiles a pattern of one.

A pattern is a regular expression in which ``<word>`` means an expression of the section ``[words]`` of its file, or of
``words/shared.toml``: ``<I am> allergic to <value>``.  The head of each file explains its fields.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from chatmemory.longterm.extraction.proposals import Language

Vocabulary: TypeAlias = Mapping[str, str]
"""Regular expressions by their names; they may use the names of others."""

NAMES: Final[Mapping[Language, str]] = {"en": "english", "zh": "chinese"}
"""How the names of the files of a language begin; other languages have none."""

_WORD: Final = re.compile(r"(?<!\(\?)(?<!\(\?P)<([^<>]+)>")


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
