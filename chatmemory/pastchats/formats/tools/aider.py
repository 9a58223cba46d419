"""Aider: ``.aider.chat.history.md``, one file for all sessions in a repository.

A header opens a session, ``#### `` marks each line that a person typed, ``> `` marks each line that the tool printed,
and all other lines are the answer.  Aider ends its own marked lines with two spaces, and a model's headings and
quotations have none: this distinguishes them, unless an editor removed the spaces.  What the tool prints in several
lines, such as the message of a commit, has one mark at its start and the spaces at its end.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, final

from attrs import define, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import without_blanks
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.text_lines import Passage, TextLine, text_lines
from chatmemory.pastchats.prompt import TurnKind

FILE_NAME: Final = ".aider.chat.history.md"

_Voice: TypeAlias = Literal["typed", "printed", "answer"]

_HEADER: Final = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_TYPED: Final = re.compile(r"^####(?: (.*))?$")
_PRINTED: Final = re.compile(r"^>(?: (.*))?$")
_MARKS: Final[tuple[tuple[_Voice, re.Pattern[str]], ...]] = (("typed", _TYPED), ("printed", _PRINTED))
_MODEL: Final = re.compile(r"^(?:Main model|Models?): (\S+?),?(?: with |$)")

_COMMIT: Final = re.compile(r"^> Commit [0-9a-f]{7,40} ")
_LONGEST_OUTPUT: Final = 500  # lines
LAST: Final = -1
"""The number of the last line of a file, which may be incomplete."""

_STUFFED: Final = "# Announcement lines from when this session of aider was launched:"
"""A line in the middle of the prompt that ``/help`` builds from the manual."""

_BLANK: Final = "<blank>"
"""The text that aider writes for an empty prompt."""

_ROLES: Final[dict[_Voice, Role]] = {"typed": "user", "printed": "tool", "answer": "assistant"}


def _claim(head: Head) -> Claim | None:
    """Claim a text with the header of a session."""
    if "# aider chat started at " not in head.text:
        return None
    lines = head.text.split("\n")
    headers = sum(1 for line in lines if _HEADER.match(line))
    if not headers:
        return None
    marked = any(line.startswith(("#### ", "> ")) for line in lines)
    # A header alone may be a quotation: a page about aider.
    is_first = any(line for line in lines[:3] if _HEADER.match(line))
    named = head.path.endswith(FILE_NAME)
    confidence = 95 if named or (marked and is_first) else 80 if marked else 60
    return Claim(confidence, "a line «# aider chat started at» with a time")


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns, session by session."""
    session, number = _Session(reader.path, ""), 0
    for line, printed in _with_output(text_lines(reader)):
        if line.line == number:  # a further piece of a line that is too long for one piece
            session.passage.add(line.text, line.line)
            continue
        number = line.line
        header = _HEADER.match(line.text)
        if header is not None:
            yield from session.turn()
            session = _Session(reader.path, header.group(1))
            continue
        voice, text = session.heard(line.text, printed=printed)
        if voice != session.voice:
            yield from session.turn()
            session.voice = voice
        session.passage.add(text, line.line)
    yield from session.turn()


@final
@define
class _Session:
    """The state of a session.

    Attributes:
        started_at: the header's time, in an unknown zone; "" before the first header.
        is_printing: whether the output of several lines continues.
        before: who spoke before this turn.
        has_spaces: whether marked lines still end with two spaces; None until the first marked line.
        answer: the last answer, without white space.
    """

    path: str
    started_at: str
    voice: _Voice = "answer"
    has_spaces: bool | None = None
    is_begun: bool = False
    is_printing: bool = False
    before: _Voice = "answer"
    model: str = ""
    answer: str = ""
    passage: Passage = field(factory=Passage)

    def heard(self, line: str, *, printed: int | None) -> tuple[_Voice, str]:
        """Return the speaker of *line*, and the line without its mark; *printed*: see ``_with_output``."""
        if printed == 0:
            is_next = self.voice == "printed" or (self.passage.is_blank and self.before == "printed")
            self.is_printing = self.has_spaces is not False and (is_next or _COMMIT.match(line) is not None)
        if printed is not None and printed >= 0 and self.is_printing:
            return "printed", (line.removeprefix("> ") if printed == 0 else line).rstrip()
        if printed == LAST and self.voice != "answer" and not line.isspace():
            # The line may be incomplete, so that its spaces are missing.
            sign = "#### " if self.voice == "typed" else "> "
            if line.startswith(sign) or sign.startswith(line):
                return self.voice, line.removeprefix(sign).rstrip() if line.startswith(sign) else ""
        for voice, mark in _MARKS:
            match = mark.match(line)
            if match is not None:
                is_ended = line.endswith("  ")
                if self.has_spaces is None:
                    self.has_spaces = is_ended
                if is_ended or not self.has_spaces:
                    return voice, (match.group(1) or "").rstrip()
        return "answer", line

    def turn(self) -> Iterator[Parsed]:
        """Yield the turn that was read, and begin a new one."""
        passage, self.passage = self.passage, Passage()
        text = passage.text
        if self.voice == "printed" and not self.model:
            self.model = next((found.group(1) for found in map(_MODEL.match, text.split("\n")) if found), "")
        if passage.is_blank:
            return
        self.before = self.voice
        kind = self._kind(text)
        if passage.is_cut:
            yield HistoryIssue("too_large", self.path, "a turn of more than 8 MiB was cut off", passage.line)
        yield PromptTurn(
            conversation_id="aider:" + " ".join(filter(None, (self.started_at, self.path))),
            role=_ROLES[self.voice],
            content=text,
            kind=kind,
            project=_folder(self.path),
            lossy=("truncated",) if passage.is_cut else (),
            metadata=without_blanks(
                {
                    "line": passage.line,
                    "started_at_local": self.started_at,
                    "model": self.model if self.voice == "answer" else "",
                }
            ),
        )
        if self.voice == "answer":
            self.answer = "".join(text.split())
        elif self.voice == "typed":
            self.is_begun = True

    def _kind(self, text: str) -> TurnKind:
        if self.voice == "typed":
            # The architect's plan is passed to the editor as if a person had typed it.
            is_handed_on = bool(self.answer) and "".join(text.split()) == self.answer
            if text == _BLANK or is_handed_on or _STUFFED in text:
                return "harness"
            return "command" if text.startswith(("/", "!")) else "typed"
        if not self.is_begun:
            return "harness"  # the banner, or the map of the repository that a switch asked for
        return "tool_result" if self.voice == "printed" else "typed"


def _with_output(lines: Iterator[TextLine]) -> Iterator[tuple[TextLine, int | None]]:
    """Yield each line, with its place in a printed output that it may belong to, from 0; None: in none; ``LAST``: see there.

    Such an output has several lines, of which the last one alone ends with two spaces.
    """
    held: list[TextLine] = []
    ended: TextLine | None = None
    for line in lines:
        if ended is not None:
            yield ended, None
            ended = None
        is_ended = line.text.endswith("  ")
        is_marked = any(mark.match(line.text) for mark in (_HEADER, _TYPED, _PRINTED))
        if held and is_ended and not is_marked:
            yield from ((one, number) for number, one in enumerate((*held, line)))
            held = []
            continue
        if is_marked or len(held) >= _LONGEST_OUTPUT:
            yield from ((one, None) for one in held)
            held = []
        if held or (_PRINTED.match(line.text) and not is_ended):
            held.append(line)
        else:
            ended = line
    yield from ((one, None) for one in held[:-1])
    yield from ((one, LAST) for one in (*held[-1:], ended) if one is not None)


def _folder(path: str) -> str:
    """Return the repository whose root holds the history; "" for a file with another name, which may be a copy."""
    folder, name = posixpath.split(path.replace("\\", "/"))
    return folder if name == FILE_NAME else ""


aider: Final = FileFormat(
    "aider",
    _claim,
    _parse,
    version=2,
    known_roots=roots_in("~", ".", files=(FILE_NAME,)),
)
