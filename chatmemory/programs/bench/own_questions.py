"""``own``: reads a team's own questions, as JSON Lines: turns, and questions with the ids of the turns that answer them.

    {"conversation": "c1", "turn": "t1", "session": "monday", "speaker": "Mei", "at": "2026-03-02T10:00:00Z", "text": "..."}
    {"conversation": "c1", "question": "Which port do the tests need?", "answers": ["t1"]}

``first_file`` begins such a file with past chats; a person fills in the answers.  ``Suite`` has the values of any suite,
also of a public one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, final

from attrs import frozen

from chatmemory.pastchats.indexing.record_import import KIND

MOST_QUESTIONS: Final = 100
"""In a first file; to label them is an hour of work."""

LEAST_CHARACTERS: Final = 12  # of a question that can be understood alone
MOST_CHARACTERS: Final = 200
_QUESTION_MARKS: Final = ("?", "？")


class NoSuiteError(ValueError):
    """A file or folder holds no suite that is known; the text says why."""


@final
@frozen(kw_only=True)
class BenchTurn:
    """One message of a conversation.

    Attributes:
        id: unique within its conversation.
        session: the session of the conversation in which it was said; may be empty.
        speaker: the name or role of who said it; empty when it is unknown.
        at: when it was said, with a time zone; None when it is unknown.
    """

    id: str
    session: str
    text: str
    speaker: str = ""
    at: datetime | None = None

    @property
    def said(self) -> str:
        """The text that is stored and searched: the name of the speaker, a colon and the text."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@final
@frozen(kw_only=True)
class BenchQuestion:
    """A question.

    Attributes:
        id: unique within the suite; an audit names the question by it.
        answers: the ids of the turns that answer it; never empty.
    """

    id: str
    text: str
    answers: frozenset[str]


@final
@frozen
class BenchConversation:
    """The turns of a conversation in their order, and the questions about it."""

    id: str
    turns: tuple[BenchTurn, ...]
    questions: tuple[BenchQuestion, ...]


@final
@frozen
class Suite:
    """The conversations and questions of a retrieval benchmark.

    Attributes:
        name: such as ``LoCoMo``.
        sha256: of the file, or of the files in the order of their names.
    """

    name: str
    sha256: str
    conversations: tuple[BenchConversation, ...]

    @property
    def questions(self) -> int:
        """The number of questions."""
        return sum(len(one.questions) for one in self.conversations)


def own(lines: Iterable[str]) -> list[BenchConversation]:
    """Return the conversations in *lines*; a question without answers is left out.

    Raises:
        NoSuiteError: a line cannot be read, or a question names a turn that is not there.
    """
    turns = defaultdict[str, list[BenchTurn]](list)
    questions = defaultdict[str, list[BenchQuestion]](list)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            held = json.loads(line)
            name = str(held["conversation"])
            if "question" in held:
                answers = frozenset(map(str, held.get("answers", ())))
                questions[name].append(
                    BenchQuestion(id=f"{name}/{number}", text=str(held["question"]), answers=answers)
                )
            else:
                turns[name].append(_turn(held))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise NoSuiteError(
                f"line {number} is neither a turn nor a question ({problem}); see chatmemory bench --help"
            ) from None
    for name, asked in questions.items():
        known = {turn.id for turn in turns[name]}
        for question in asked:
            if unknown := question.answers - known:
                raise NoSuiteError(f"{question.id}: no turn {min(unknown)!r} in conversation {name!r}")
    return [
        BenchConversation(name, tuple(said), tuple(one for one in questions[name] if one.answers))
        for name, said in turns.items()
    ]


def first_file(exported: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file to be labelled, made of the lines that ``pastchats-memory export`` has written.

    The turns come first, then questions that a user has asked, each with an empty list ``answers``, which a person fills with
    the ids of turns.

    Raises:
        NoSuiteError: a line is not an exported turn.
    """
    asked: list[str] = []
    for number, line in enumerate(exported, 1):
        try:
            held = json.loads(line)
            if held["type"] != KIND:
                raise KeyError("type")  # noqa: TRY301  told below, as for a missing one
            conversation, turn = str(held["conversation_id"]), str(held["content_hash"])[:16]
            text, role = str(held["content"]), held["role"]
            told = {
                "conversation": conversation,
                "turn": turn,
                "session": held["session"],
                "speaker": held["speaker"] or role,
                "at": held["timestamp"],
                "text": text,
            }
        except (ValueError, KeyError, TypeError):
            raise NoSuiteError(
                f"line {number} is no turn: give what `pastchats-memory export` has written"
            ) from None
        yield json.dumps(told, ensure_ascii=False)
        is_short = LEAST_CHARACTERS <= len(text) <= MOST_CHARACTERS
        if (
            role == "user"
            and is_short
            and text.rstrip().endswith(_QUESTION_MARKS)
            and len(asked) < MOST_QUESTIONS
        ):
            question: dict[str, object] = {"conversation": conversation, "question": text, "answers": []}
            asked.append(json.dumps(question, ensure_ascii=False))
    yield from asked


def _turn(held: Mapping[str, Any]) -> BenchTurn:
    at = held.get("at")
    instant = None if at is None else datetime.fromisoformat(at)
    if instant is not None and instant.tzinfo is None:
        raise ValueError("at has no time zone")
    return BenchTurn(
        id=str(held["turn"]),
        session=str(held.get("session", "")),
        text=str(held["text"]),
        speaker=str(held.get("speaker") or ""),
        at=instant,
    )
