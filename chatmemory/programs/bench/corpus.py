"""Values of a retrieval suite: conversations with their turns, and questions with the turns that answer them."""

from __future__ import annotations

from datetime import datetime
from typing import final

from attrs import frozen


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
        kind: its category in the suite; empty when it has none.
    """

    id: str
    text: str
    answers: frozenset[str]
    kind: str = ""


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
