"""A text as the statements that its speaker makes in his own words: clauses, each with its place in the text.

Code, logs, quotations, pasted text and what memory itself had put there are not the speaker's words.  What a clause says
is for ``extraction_rules.py``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction_grammar import Grammar
from chatmemory.proposals import Language
from chatmemory.recalled_block import without_recalled_blocks

LONGEST_READ: Final = 20_000  # characters from the start of a text; longer ones are documents, not talk
LONGEST_CLAUSE: Final = 300  # characters; nobody says one thing at such length, and rules look back

_FOLD: Final = str.maketrans(
    "’‘歡愛習慣討厭職業學歲現貓狗個們養嗎麼對過會講說話寫碼間種這開發員師醫記還見來從應該給讓選擇決計劃時後電郵號週總聽讀書買點緊項",
    "''欢爱习惯讨厌职业学岁现猫狗个们养吗么对过会讲说话写码间种这开发员师医记还见来从应该给让选择决计划时后电邮号周总听读书买点紧项",
)
"""One character for one, so that places stay: the rules know simplified characters and straight apostrophes."""

_CODE_LINE: Final = (
    r"[ \t]*(?:\$ |>>> |//|/\*|#!|#include|import \w|from \w+ import|def \w+\(|class \w+[(:]|(?:const|let|var) \w+ =|return\b.*;"
    r"|Traceback|File \"|at [\w.$]+\(|[\w.]*(?:Error|Exception)\b.*:|\[\w+ [0-9a-f]{6,}\]|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d"
    r"|(?:INFO|WARN|WARNING|ERROR|DEBUG)\b|</?\w+[^>\n]*>|[\w.]+\([^\n]*\);?[ \t]*$|[^\n]*[;{}][ \t]*$)"
)
_ROLE_LINE: Final = r"[ \t]*(?:system|assistant|user|human|ai|tool|系统|助手|用户)[ \t]*[:：]"
_REPORTED: Final = (
    r"\b(?:says?|said|wrote|writes|puts it|translate[^\n.!?]{0,40}|rewrite[^\n.!?]{0,40}|proofread[^\n.!?]{0,40}|summari[sz]e[^\n.!?]{0,40})"
    r"|(?:说|写道|写着|回复|问|翻译|改写|润色|校对|总结|概括)[^\n。！？]{0,12}"
)
_QUOTED: Final = r"[^“”\"「」『』\n]"
_NOT_SAID: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)",
        r"`[^`\n]*[^`\w\n .+#-][^`\n]*`",  # `vim` is a name, `a = 1` is code
        r"^[ \t]*>[^\n]*",
        rf"^(?:{_CODE_LINE}|{_ROLE_LINE})[^\n]*",
        rf"(?:{_REPORTED})[ \t]*[:：][\s\S]*",
        # A title has neither me nor you in it.
        rf"[“\"「『](?={_QUOTED}*?(?:\b(?:i|you|my|your)\b|[我你您])){_QUOTED}*[”\"」』]",
    )
)
_SENTENCE: Final = re.compile(
    r"(?:[^\n。！？!?；;….]|\.(?!\s|\Z)|(?<=\b(?:St|Mr|Dr|vs))\.|(?<=\b(?:Mrs|e\.g|i\.e))\.)+(?P<mark>[。！？!?；;….]*)"
)
# Without list marks, emoji and the like before it, and without what ends it.
_BARE: Final = re.compile(r"[\w“\"「『《(（`'@#+].*[^\s。！？!?；;….,，]|\w", re.DOTALL)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]")
_KANA_OR_HANGUL: Final = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")


@final
@frozen
class Clause:
    """One statement.

    Attributes:
        text: as the rules read it, a character for each of the original.
        start: where it begins in the text.
        grammar: of its language.
        joint: what joins it to a statement whose subject it shares, and the clause; None when it has a subject, or
            nobody is the subject before.
    """

    text: str
    start: int
    grammar: Grammar
    joint: str | None


def statements(text: str, grammars: Mapping[Language, Grammar]) -> Iterator[Clause]:
    """Yield what the speaker of *text* states: neither questions nor suppositions, nor the words of others."""
    said = own_words(text[:LONGEST_READ])
    for sentence in _SENTENCE.finditer(said):
        grammar = grammars.get(language_of(sentence[0]))
        if grammar is not None:
            is_question = bool(set(sentence["mark"]) & set("?？"))
            yield from _clauses(sentence[0], sentence.start(), grammar, is_question=is_question)


def language_of(text: str) -> Language:
    """Return the language of a sentence by its script; Japanese and Korean are others."""
    if _KANA_OR_HANGUL.search(text):
        return "other"
    if _HAN.search(text):
        return "zh"
    return "en" if _LATIN.search(text) else "other"


def own_words(text: str) -> str:
    """Return *text*, as long as it was, with line breaks in the place of what its speaker only shows."""
    said = without_recalled_blocks(text).translate(_FOLD)
    for pattern in _NOT_SAID:
        said = pattern.sub(lambda shown: "\n" * len(shown[0]), said)
    return said


def _clauses(sentence: str, offset: int, grammar: Grammar, *, is_question: bool) -> Iterator[Clause]:
    has_subject = False
    ends = [
        *((found.start(), found.end()) for found in grammar.clause_break.finditer(sentence)),
        (len(sentence),) * 2,
    ]
    before = start = 0
    for end, next_start in ends:
        bare = _BARE.search(sentence, start, end)
        joint = sentence[before:end]
        before, start = end, next_start
        text = bare[0] if bare else ""
        if grammar.supposition.match(text):
            return
        if (
            bare is None
            or len(text) > LONGEST_CLAUSE
            or grammar.question.search(text)
            or (is_question and end == len(sentence))
        ):
            continue
        is_subject = grammar.subject.match(text) is not None
        yield Clause(text, offset + bare.start(), grammar, joint if has_subject and not is_subject else None)
        has_subject = has_subject or is_subject
