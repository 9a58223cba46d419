"""Generic Markdown transcripts: texts that alternate between a person and a model under headings that name them.

A text is a transcript only when at least one turn of a person and one of a model are marked, in one style: headings
of one level (``## User``), bold lines (``**Assistant:**``), or the beginnings of lines (``User: ``).  A mark in
another style belongs to the words of a turn, and so does a mark in code or in ``<details>``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, final

from attrs import define, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.markdown_fences import MarkdownFences
from chatmemory.pastchats.formats.reading.text_lines import Passage, text_lines

_NAMES: Final[Mapping[Role, str]] = {
    "user": "user, you, human, me, participant, prompt, 用户, 我, 你, 你说, 提问, 人类",
    "assistant": "assistant, ai, bot, agent, model, response, ai assistant, chatgpt, gpt, claude, gemini, copilot, "
    "github copilot, deepseek, grok, kimi, qwen, llama, codex, claude code, gemini cli, 助手, 助理, 回答, 模型, "
    "机器人, ai助手, chatgpt 说, 豆包, 通义千问, 文心一言",
    "system": "system, 系统",
}
_LABELS: Final[Mapping[str, Role]] = {
    name: role for role, names in _NAMES.items() for name in names.split(", ")
}
"""The roles of the labels.  ``system`` alone never makes a text a transcript."""

_OTHER_THINGS: Final = frozenset({"model", "agent", "bot"})
"""Labels that also occur in other documents: one of them with a single "user" does not make a chat."""

_Style: TypeAlias = str
"""The style of the marks of turns: ``h1`` ... ``h6``, ``bold``, ``line``."""

_HEADING: Final = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_BOLD: Final = re.compile(
    r"^(?:\*\*|__)([^*_\n]{1,40}?)(:|：)?(?:\*\*|__)(?:\s*_?[(\[][^()\[\]]{1,40}[)\]]_?)?\s*(:|：)?\s*(.*)$"
)
_LINE: Final = re.compile(r"^([^\s:：][^:：]{0,29})[:：](?:\s+(.*)|)$")
_FULL_WIDTH: Final = re.compile(r"^([^\s:：][^:：]{0,29})：(.*)$")
_AROUND: Final = re.compile(r"^[^\w]+|[^\w]+$")
_NUMBER: Final = re.compile(r"^\d+[.)]?\s+|\s+#?\d+$")
_MODEL: Final = re.compile(
    r"^(gpt|claude|gemini|deepseek|grok|kimi|qwen|llama)"
    r"(?:[\s.-][rv]?\d[\w.]*|[\s-](?:pro|flash|sonnet|opus|haiku|mini|turbo|plus|max|lite|thinking))+$"
)
_SUFFIX: Final = re.compile(r"\s+(?:said|says|asked|wrote|replied)$")
_IN_BRACKETS: Final = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]\s*$")
_TAIL: Final = re.compile(
    r"\n+(?:(?:-{3,}|\*{3,}|_{3,}|\* \* \*)\s*|<a (?:name|id)=[^>]*>(?:</a>)?\s*(?:\n#{1,6} [^\n]*)?)$"
)
_FRONT: Final = re.compile(r"^(title|date|model|created)\s*:\s*[\"']?(.*?)[\"']?\s*$", re.IGNORECASE)


@final
@define
class _Marked:
    """A line that begins a turn."""

    style: _Style
    label: str
    role: Role
    rest: str


def _claim(head: Head) -> Claim | None:
    """Claim a text with turns of a person and of a model, marked in one style."""
    if head.shape != "text":
        return None
    counts = _Counts()
    for line in head.text.split("\n"):
        counts.read(line)
    style = counts.style()
    if style is None:
        return None
    found = ", ".join(f"«{label}» {number} times" for label, number in counts.labels[style].items())
    return Claim(55 if style == "line" else 60, f"turns under {style}: {found}")


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Find the style of the marks in a first pass, then yield the turns."""
    counts = _Counts()
    for line in text_lines(reader):
        counts.read(line.text)
    style = counts.style()
    if style is None:
        detail = "no turns of a person and of a model, marked in one way"
        yield HistoryIssue("not_a_transcript", reader.path, detail)
        return
    transcript = _Transcript(reader.path, style)
    for line in text_lines(reader):
        yield from transcript.read(line.text, line.line)
    yield from transcript.end_of_turn()


@final
@define
class _Counts:
    """The number of times that each label occurs in each style."""

    labels: dict[_Style, dict[str, int]] = field(factory=dict[_Style, dict[str, int]])
    fences: MarkdownFences = field(factory=MarkdownFences)

    def read(self, line: str) -> None:
        marked = None if self.fences.read(line) else _marked(line)
        if marked is not None:
            labels = self.labels.setdefault(marked.style, {})
            labels[marked.label] = labels.get(marked.label, 0) + 1

    def style(self) -> _Style | None:
        """Return the style that marks the most turns, among those with both a person and a model."""
        usable = {style: sum(labels.values()) for style, labels in self.labels.items() if _is_chat(labels)}
        return max(usable, key=lambda style: usable[style], default=None)


def _is_chat(labels: Mapping[str, int]) -> bool:
    """Return whether *labels*, given with their counts, have turns of a person and of a model."""
    people = sum(number for label, number in labels.items() if _LABELS[label] == "user")
    models = {label: number for label, number in labels.items() if _LABELS[label] == "assistant"}
    return min(people, sum(models.values())) >= (2 if models.keys() <= _OTHER_THINGS else 1)


@final
@define
class _Transcript:
    """The state of a transcript."""

    path: str
    style: _Style
    facts: dict[str, Json] = field(factory=dict[str, Json])
    role: Role | None = None
    label: str = ""
    is_front: bool = False
    passage: Passage = field(factory=Passage)
    fences: MarkdownFences = field(factory=MarkdownFences)

    def read(self, text: str, line: int) -> Iterator[Parsed]:
        marked = None if self.fences.read(text) else _marked(text)
        if marked is not None and marked.style == self.style:
            yield from self.end_of_turn()
            self.role, self.label = marked.role, marked.label
            self.passage.add(marked.rest, line)
        elif self.role is not None:
            self.passage.add(text, line)
        else:
            self._read_head(text, line)

    def _read_head(self, text: str, line: int) -> None:
        if text.rstrip() == "---":
            self.is_front = line == 1
        front = _FRONT.match(text) if self.is_front else None
        if front is not None:
            self.facts.setdefault(front.group(1).lower(), front.group(2))
        elif text.startswith("# "):
            self.facts.setdefault("title", text[2:].strip())

    def end_of_turn(self) -> Iterator[Parsed]:
        """Yield the turn that was read, unless it is empty."""
        passage, self.passage = self.passage, Passage()
        text = _without_tail(passage.text.strip())
        if self.role is None or not text:
            return
        if passage.is_cut:
            yield HistoryIssue("too_large", self.path, "a turn of more than 8 MiB was cut off", passage.line)
        yield PromptTurn(
            conversation_id=f"markdown:{self.path}",
            role=self.role,
            content=text,
            lossy=("truncated",) if passage.is_cut else (),
            metadata={**self.facts, "label": self.label, "line": passage.line},
        )


def _marked(line: str) -> _Marked | None:
    """Return the mark of the speaker in *line*; None when the line has none."""
    heading = _HEADING.match(line)
    if heading is not None:
        return _known(f"h{len(heading.group(1))}", heading.group(2), "")
    bold = _BOLD.match(line)
    if bold is not None:
        has_colon = bool(bold.group(2) or bold.group(3))
        # Without a colon, more text on the line makes it a sentence with a bold word.
        return _known("bold", bold.group(1), bold.group(4)) if has_colon or not bold.group(4) else None
    start = _FULL_WIDTH.match(line) or _LINE.match(line)
    return None if start is None else _known("line", start.group(1), start.group(2) or "")


def _known(style: _Style, said: str, rest: str) -> _Marked | None:
    name = _SUFFIX.sub("", _AROUND.sub("", _IN_BRACKETS.sub("", said)).casefold())
    label = _MODEL.sub(r"\1", _NUMBER.sub("", name))
    if label != name and label in _OTHER_THINGS:
        return None  # "the third model" is not a speaker
    if style == "line" and not said[0].isalpha():
        return None  # an item of a list, a quotation
    role = _LABELS.get(label)
    return None if role is None else _Marked(style, label, role, rest)


def _without_tail(text: str) -> str:
    """Remove the rules, anchors and numbered headings that an exporter put before the next turn."""
    while True:
        shorter = _TAIL.sub("", text).rstrip()
        if shorter == text:
            return text
        text = shorter


markdown: Final = FileFormat("markdown", _claim, _parse)
