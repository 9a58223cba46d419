"""Finds the statements that speakers make in their own words in a text: clauses, each with its place in the text.

Code, logs, quotations, pasted text and recalled memories are not the speaker's words.  ``rules.py`` finds the facts of a
clause.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction.grammar import Grammar, grammar_of
from chatmemory.longterm.extraction.memory_extractor import Language
from chatmemory.longterm.extraction.word_rules import shows
from chatmemory.text.fence import without_recalled_blocks
from chatmemory.text.stop_words import HAN, KANA_AND_HANGUL

_SIMPLIFIED: Final = (
    "欢爱习惯讨厌职业学岁现猫个们养吗么对过会讲说话写码间种这开发员师医记还见来从应该给让选择决计划时后电邮号周总听读书买点紧项"
    "为简洁详细务编译设产运营销经护画评顾问监实创队团组议办报课笔试语汉韩罗乐摇滚钢剧动纪录综艺阅诗杂戏围马锻炼骑车篮网飞机铁"
    "宠颜红蓝绿黄气热饮饺鸡鱼猪软数据库终调压轻严头只条妈爷亲儿满联标愿梦准备于没谁几里请帮谢觉认专毕东国历转购关难变与万样"
    "无广龄单离怀场辅缩进释类证测图视频远迟丰达层际"
)
_TRADITIONAL: Final = (
    "歡愛習慣討厭職業學歲現貓個們養嗎麼對過會講說話寫碼間種這開發員師醫記還見來從應該給讓選擇決計劃時後電郵號週總聽讀書買點緊項"
    "為簡潔詳細務編譯設產運營銷經護畫評顧問監實創隊團組議辦報課筆試語漢韓羅樂搖滾鋼劇動紀錄綜藝閱詩雜戲圍馬鍛煉騎車籃網飛機鐵"
    "寵顏紅藍綠黃氣熱飲餃雞魚豬軟數據庫終調壓輕嚴頭隻條媽爺親兒滿聯標願夢準備於沒誰幾裡請幫謝覺認專畢東國歷轉購關難變與萬樣"
    "無廣齡單離懷場輔縮進釋類證測圖視頻遠遲豐達層際"
)

FOLD: Final = str.maketrans("’‘" + _TRADITIONAL, "''" + _SIMPLIFIED)
"""The characters that are replaced before the rules read a text, one by one, so that places in the text stay the same:
traditional characters of the rules' vocabulary by simplified ones, curly apostrophes by straight ones."""

LONGEST_READ: Final = 20_000  # characters from the start of a text; longer texts are documents, not messages
LONGEST_SENTENCE: Final = 1_000  # characters from its start that show whether a sentence is plain
LONGEST_CLAUSE: Final = 300  # characters; a longer clause is not one statement, and rules backtrack
LONGEST_PASSAGE: Final = 300  # characters; the text after them is about something else
LONGEST_GAP: Final = (
    20  # spaces between words; more are layout, and rules that search 20,000 of them for an end take a minute
)

_CODE_LINE: Final = (
    r"[ \t]*(?:\$ |>>> |//|/\*|#!|#include|(?-i:import \w|from \w+ import)|def \w+\(|class \w+[(:]|(?:const|let|var) \w+ =|return\b.*;"
    r"|Traceback|File \"|at [\w.$]+\(|[\w.]+(?-i:Error|Exception)\b.*:|\[\w+ [0-9a-f]{6,}\]|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d"
    r"|(?-i:INFO|WARN|WARNING|ERROR|DEBUG)\b|</?\w+[^>\n]*>|[\w.]+\([^\n]*\);?[ \t]*$|[^\n]*[;{}][ \t]*$)"
)
_ROLE_LINE: Final = r"[ \t]*(?:system|assistant|user|human|ai|tool|系统|助手|用户)[ \t]*[:：]"
# Not 我想说 and 顺便说一下: after these the speaker's own words follow.
_REPORTED: Final = r"(?:(?<!\bi )\b(?:says?|said|wrote|writes|puts it)|(?<![我想要便先])(?:说|写道|写着|回复|问)[^\n。！？，]{0,6})[ \t]*[:：]"
_TO_BE_WORKED_ON: Final = r"(?:\b(?:translate|rewrite|proofread|summari[sz]e)\b|翻译|改写|润色|校对|总结|概括|\b(?:sample|example|template|placeholder|dummy)\b|示例|例句|范文|样例|模板)[^\n.!?。！？]{0,40}[:：]"
_QUOTED: Final = r"[^“”\"「」『』\n]"
_NOT_SAID: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"[^\S\n]{{{LONGEST_GAP},}}",
        r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)",
        r"`[\w .+#-]*[^`\w\n .+#-][^`\n]*`",  # `vim` is a name, `a = 1` is code
        r"^[ \t]*>[^\n]*",
        rf"^(?:{_CODE_LINE}|{_ROLE_LINE})[^\n]*",
        rf"{_REPORTED}[^\n]*",
        rf"{_TO_BE_WORKED_ON}[\s\S]*",
        # A quotation of a person contains "I" or "you"; a title does not.
        r"(?<!\w)'(?=(?:i|i'm|i've|my|we|our)\b)(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)",
        rf"[“\"「『](?={_QUOTED}*?(?:\b(?:i|you|my|your)\b|[我你您])){_QUOTED}*[”\"」』]",
    )
)
_SENTENCE: Final = re.compile(
    r"(?:[^\n。！？!?；;….]|\.(?!\s|\Z)|(?<=\b(?:St|Mr|Dr|vs))\.|(?<=\b(?:Mrs|e\.g|i\.e))\.)+(?P<mark>[。！？!?；;….]*)"
)
# A clause without list marks, emoji and the like before it, and without the punctuation at its end.
_BARE: Final = re.compile(r"[\w“\"「『《(（`'@#+].*[^\s。！？!?；;….,，]|\w", re.DOTALL)
# The text between two clauses of one sentence.
_GAP: Final = re.compile(
    r"[^\S\n]*(?:[,，;；:：、—–-]|\.{2,}|…+)*[^\S\n]*(?:(?:and|but|so|then|because|since|though|although|while|但是|但|不过|而且|并且|同时|所以|然后)\b)?[^\S\n\w]*"
)
_CONCLUDES: Final = re.compile(r"\b(?:so|it|it's)\b|所以|因此|于是", re.IGNORECASE)
_HAN: Final = re.compile(f"[{HAN}]")
_LATIN: Final = re.compile(r"[A-Za-z]")
_KANA_OR_HANGUL: Final = re.compile(f"[{KANA_AND_HANGUL}]")


@final
@frozen
class Clause:
    """One statement.

    Attributes:
        text: the clause as the rules read it, with one character for each character of the original.
        start: the place of its first character in the text.
        grammar: the grammar of its language.
        joint: the text that joins it to a clause whose subject it shares, followed by the clause; None when it has a
            subject itself, or no clause before it has one.
        sentence: the start of its sentence, of at most ``LONGEST_SENTENCE`` characters.
        leans: whether it continues the clause before it in the sentence: it lacks a subject and draws no conclusion.
    """

    text: str
    start: int
    grammar: Grammar
    joint: str | None
    sentence: str
    leans: bool


@final
@frozen
class Passage:
    """Statements of one sentence without other text between them.

    Attributes:
        text: the passage as the rules read it, with one character for each character of the original.
        said: the original.
        start: the place of its first character in the text.
        grammar: the grammar of its language.
        is_plain: whether they are plain statements, see ``plain_statements``.
    """

    text: str
    said: str
    start: int
    grammar: Grammar
    is_plain: bool


def passages(text: str) -> Iterator[Passage]:
    """Yield the statements of a message in order; those of one sentence are one passage."""
    said = own_words(text[:LONGEST_READ])
    run: list[Clause] = []
    is_run_plain = True
    for clause, is_plain in plain_statements(text):
        is_far = bool(run) and clause.start + len(clause.text) - run[0].start > LONGEST_PASSAGE
        is_other = bool(run) and is_plain != is_run_plain
        if run and (
            is_far
            or is_other
            or _GAP.fullmatch(said, run[-1].start + len(run[-1].text), clause.start) is None
        ):
            yield _passage(run, text, said, is_plain=is_run_plain)
            run = []
        run.append(clause)
        is_run_plain = is_plain
    if run:
        yield _passage(run, text, said, is_plain=is_run_plain)


def _passage(run: Sequence[Clause], text: str, said: str, *, is_plain: bool) -> Passage:
    start, end = run[0].start, run[-1].start + len(run[-1].text)
    return Passage(said[start:end], text[start:end], start, run[0].grammar, is_plain)


def plain_statements(text: str) -> Iterator[tuple[Clause, bool]]:
    """Yield the clauses of ``statements``, each with whether it is surely a plain statement of the user about the user.

    A clause that leans on an unsure one is unsure too.
    """
    is_plain = False
    for clause in statements(text):
        language = clause.grammar.language
        if not clause.leans:
            is_plain = not shows(language, ("unsure", "sentence", clause.sentence))
        is_plain = is_plain and not shows(language, ("unsure", "clause", clause.text))
        yield clause, is_plain


def statements(text: str) -> Iterator[Clause]:
    """Yield the statements that the speaker makes, without questions, suppositions, fiction and the words of others."""
    said = own_words(text[:LONGEST_READ])
    for sentence in _SENTENCE.finditer(said):
        language, head = language_of(sentence[0]), sentence[0][:LONGEST_SENTENCE]
        grammar = grammar_of(language)
        if shows(language, ("untrue", "text", head)):
            return
        if grammar is not None and not shows(language, ("untrue", "sentence", head)):
            is_question = bool(set(sentence["mark"]) & set("?？"))
            yield from _clauses(sentence[0], sentence.start(), grammar, is_question=is_question)


def is_plain(text: str) -> bool:
    """Return whether all sentences of a text are plain statements: no stories, plans, questions or words of others."""
    found = _SENTENCE.finditer(own_words(text[:LONGEST_READ]))
    said = [sentence[0][:LONGEST_SENTENCE] for sentence in found]
    return not any(
        shows(
            language_of(one),
            ("untrue", "text", one),
            ("untrue", "sentence", one),
            ("untrue", "clause", one),
            ("unsure", "sentence", one),
            ("unsure", "clause", one),
            ("planned", "clause", one),
        )
        for one in said
    )


def language_of(text: str) -> Language:
    """Return the language of a sentence by its script; Japanese and Korean are ``other``."""
    if _KANA_OR_HANGUL.search(text):
        return "other"
    if _HAN.search(text):
        return "zh"
    return "en" if _LATIN.search(text) else "other"


def own_words(text: str) -> str:
    """Return *text* with line breaks instead of all characters that are not the speaker's own words.

    The length stays the same.
    """
    said = without_recalled_blocks(text).translate(FOLD)
    for pattern in _NOT_SAID:
        said = pattern.sub(lambda shown: "\n" * len(shown[0]), said)
    return said


def _clauses(sentence: str, offset: int, grammar: Grammar, *, is_question: bool) -> Iterator[Clause]:
    has_subject = False
    ends = [
        *((found.start(), found.end()) for found in grammar.clause_break.finditer(sentence)),
        (len(sentence),) * 2,
    ]
    is_first = True
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
            or shows(grammar.language, ("untrue", "clause", text))
            or (is_question and end == len(sentence))
        ):
            continue
        is_subject = grammar.subject.match(text) is not None
        is_other = grammar.other.match(text) is not None
        shared = joint if has_subject and not is_subject and not is_other else None
        leans = not (is_first or is_subject or _CONCLUDES.search(joint))
        yield Clause(text, offset + bare.start(), grammar, shared, sentence[:LONGEST_SENTENCE], leans)
        is_first = False
        has_subject = (is_subject or has_subject) and not is_other
