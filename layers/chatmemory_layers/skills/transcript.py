"""A conversation as sentences: cuts messages into sentences with their speakers, and writes sentences as lines.

``read_transcript`` cuts messages into ``Sentence`` values; ``write_transcript`` writes chosen ones as ``User: ...`` lines.
A line that was written here is read again under its own speaker, so that a summary of a summary is not labelled twice.
``sentence_worth.py`` and ``extractive.py`` decide which sentences are worth keeping.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, final

from attrs import frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.input.choices import Role
from chatmemory.text.stop_words import CJK

# Characters before a mark that are examined; from the start of the line, "a. a. a. ..." would be quadratic.
LONGEST_ABBREVIATION: Final = 8
ELLIPSIS: Final = "…"
LONGEST_SENTENCE: Final = (
    320  # characters; a longer one (code, minified JSON, no punctuation) would displace ten others
)
LONGEST_READ: Final = 8_000  # characters from each end of a message; a log is important at its ends
SPACE_NEAR_CUT: Final = 0.7  # a cut moves back to a space, unless that removes more than 30 % of the text

LABELS: Final[dict[Role, tuple[str, str]]] = {
    "user": ("User: ", "用户："),
    "assistant": ("Assistant: ", "助手："),
    "system": ("System: ", "系统："),
    "tool": ("Tool: ", "工具："),
    "summary": ("Earlier: ", "此前："),
}
_ROLE_OF_LABEL: Final[dict[str, Role]] = {label: role for role, both in LABELS.items() for label in both}
_LABELLED: Final = re.compile("|".join(map(re.escape, _ROLE_OF_LABEL)))
_CJK_CHARACTER: Final = re.compile(f"[{CJK}]")
_FENCED: Final = re.compile(r"(```.*?(?:```|\Z))", re.DOTALL)
_ITEM: Final = re.compile(r"^\s*(?:[-*+•·>]\s+|\#{1,6}\s+|\(?\d{1,3}[.)、]\s*(?=\D))+")
# Chinese marks always end a sentence, Latin ones only before a space: "3.5" and "example.org" stay whole.
_END: Final = re.compile(r"[。！？；]+[”’」』）*]*|[.!?…]+[\"'”’)\]*_]*(?=\s|\Z)")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|approx|fig|e\.g|i\.e|[A-Za-z]))\.\Z", re.IGNORECASE
)
_QUESTION: Final = re.compile(r"[?？]\W*\Z")
_SPACE: Final = re.compile(r"\s+")
_ENDED: Final = re.compile(r"[.!?…:;,*`\"'”’)\]]\Z")
_ENDED_IN_CHINESE: Final = re.compile(r"[。！？；：，”’」』）]\Z")
_SAYS_SOMETHING: Final = re.compile(
    "[\\w\u2600-\u27bf\U0001f000-\U0001faff]"
)  # a letter, a digit, an emoji: no mere line
_JOINED: Final = "\u200d\ufe0e\ufe0f"
ZERO_WIDTH_JOINER: Final = "\u200d"


@final
@frozen
class Sentence:
    """One sentence, list item or code block, in one line.

    Attributes:
        role: the speaker; for a line of an earlier summary, the speaker that it names.
        turn: the number of the speaker's turn, from 0.
        place: the number of the sentence in its turn, from 0.
        is_kept: whether it comes from an earlier summary.
    """

    text: str
    role: Role
    turn: int
    place: int
    is_question: bool
    is_code: bool
    is_kept: bool


def is_cjk(text: str) -> bool:
    """Return whether *text* is Chinese, Japanese or Korean: at least a quarter of its characters are."""
    return len(_CJK_CHARACTER.findall(text)) * 4 > len(text)


def shorten(text: str, longest: int) -> str:
    """Return *text* cut to *longest* characters (1 or more), the ellipsis included, between two words if possible."""
    if len(text) <= longest:
        return text
    end = longest - len(ELLIPSIS)
    while end > 0 and _belongs_to_the_one_before(text, end):
        end -= 1
    space = text.rfind(" ", 0, end + 1)
    return text[: space if space >= end * SPACE_NEAR_CUT else end].rstrip() + ELLIPSIS


def read_transcript(messages: Sequence[ChatMessage]) -> list[Sentence]:
    """Return the sentences of *messages*, in order; messages without text have none."""
    sentences: list[Sentence] = []
    turn = 0
    for message in messages:
        content = message.content
        if len(content) > 2 * LONGEST_READ:
            content = f"{content[:LONGEST_READ]}\n{ELLIPSIS}\n{content[-LONGEST_READ:]}"
        for role, block in _speakers(message.role, content):
            for place, (text, is_code) in enumerate(_cut(block)):
                sentences.append(
                    Sentence(
                        text=shorten(text, LONGEST_SENTENCE),
                        role=role,
                        turn=turn,
                        place=place,
                        is_question=not is_code and _QUESTION.search(text) is not None,
                        is_code=is_code,
                        is_kept=message.role == "summary",
                    )
                )
            turn += 1
    return sentences


def write_transcript(sentences: Iterable[Sentence]) -> str:
    """Return *sentences* as text, one turn per line, each line under its speaker in the language of the line."""
    lines: list[str] = []
    for _, group in groupby(sentences, key=lambda sentence: sentence.turn):
        said = list(group)
        text = said[0].text
        for sentence in said[1:]:
            text += _between(text) + sentence.text
        lines.append(label(said[0].role, text) + text)
    return "\n".join(lines)


def label(role: Role, text: str) -> str:
    """Return the label before the line *text* by *role*."""
    return LABELS[role][is_cjk(text)]


def _speakers(role: Role, content: str) -> Iterator[tuple[Role, str]]:
    """Yield speakers with their text: the whole message, or the lines of an earlier summary one by one."""
    if role != "summary":
        yield role, content
        return
    for line in content.splitlines():
        labelled = _LABELLED.match(line)
        if labelled:
            yield _ROLE_OF_LABEL[labelled[0]], line[labelled.end() :]
        else:
            yield role, line


def _cut(block: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of *block*, each in one line, and whether it is code."""
    for part in _FENCED.split(block):
        if part.startswith("```"):
            yield _SPACE.sub(" ", part), True
            continue
        for line in part.splitlines():
            yield from (
                (sentence, False)
                for sentence in _sentences(_ITEM.sub("", line))
                if _SAYS_SOMETHING.search(sentence)
            )


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for mark in _END.finditer(line):
        if not _ABBREVIATION.search(line, max(start, mark.end() - LONGEST_ABBREVIATION), mark.end()):
            yield _SPACE.sub(" ", line[start : mark.end()]).strip()
            start = mark.end()
    yield _SPACE.sub(" ", line[start:]).strip()


def _between(text: str) -> str:
    """Return the text between *text* and the next sentence; list items end without punctuation."""
    if _ENDED_IN_CHINESE.search(text):
        return ""
    if _ENDED.search(text):
        return " "
    return "；" if is_cjk(text) else "; "


def _belongs_to_the_one_before(text: str, index: int) -> bool:
    """Return whether a cut at *index* would separate an accent, a variation selector or a joined emoji from its base."""
    return (
        unicodedata.combining(text[index]) > 0
        or text[index] in _JOINED
        or text[index - 1] == ZERO_WIDTH_JOINER
    )
