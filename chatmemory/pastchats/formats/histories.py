"""Values of the histories of other tools: files, the turns that a reader finds in them, and the problems in them.

``prompt_drafts.py`` defines the values for storing the turns.
"""

from datetime import datetime
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.prompt import TurnKind


@final
@frozen
class HistoryFile:
    """A file that may hold a history, as the file system describes it.

    Attributes:
        path: absolute, links resolved.
        member: the file inside, when *path* is an archive; "" otherwise.
        size: in bytes.
        modified_ns: the time of the last change, in nanoseconds since 1970.
    """

    path: str
    size: int
    modified_ns: int
    member: str = ""

    @property
    def source(self) -> str:
        """The name of the source of the turns in this file."""
        return f"{self.path}!{self.member}" if self.member else self.path


Lossy: TypeAlias = Literal["bad_utf8", "surrogate", "nul", "truncated"]


@final
@frozen(slots=False, kw_only=True)
class PromptTurn:
    """One turn of a conversation, as the reader of a format parses it from a file.

    Attributes:
        conversation_id: ``<format>:<the tool's id of the conversation>``; the conversation of a subagent has its own.
        role: the role of the speaker.
        content: the text that a person would see; never empty.
        kind: who or what wrote the text, see ``TurnKind``.
        native_id: the tool's id of the turn; a later turn of the conversation with the same id replaces it.  None: the
            tool gives no ids.
        turn_index: its position in the conversation, from 0; None: turns are numbered in the order of the file.
        timestamp: when it was written, with a time zone; None: unknown.
        project: the folder or the name of the project, as the file holds it; "" for none.
        session: the section of the conversation, where a tool divides one into sections; "" for none.
        speaker: the speaker's name; None: unknown.
        lossy: the kinds of characters or parts that were repaired or left out to make *content* a valid text.
        metadata: other facts: model, title, cwd, git_branch, parent_session, tool_calls ...
    """

    conversation_id: str
    role: Role
    content: str
    kind: TurnKind = "typed"
    native_id: str | None = None
    turn_index: int | None = None
    timestamp: datetime | None = None
    project: str = ""
    session: str = ""
    speaker: str | None = None
    lossy: tuple[Lossy, ...] = ()
    metadata: JsonObject = field(factory=dict[str, Json])


IssueCode: TypeAlias = Literal[
    "unknown_format",
    "not_a_transcript",
    "ambiguous_format",
    "not_read",
    "unreadable",
    "malformed_record",
    "truncated_tail",
    "too_large",
    "reader_failed",
    "lossy_text",
    "link",
]


@final
@frozen
class HistoryIssue:
    """The reason why a file, or one record of it, could not be read; the rest was read.

    ``not_read`` is the history of a known tool in a form that no reader reads.

    Attributes:
        line: the line, counted from 1, when the file has lines.
        offset: the position of the record in the file, in bytes.
    """

    code: IssueCode
    path: str
    detail: str
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f", line {self.line}"
        return f"{self.path}{place}: {self.code.replace('_', ' ')}: {self.detail}"


@final
@frozen
class UnknownRecord:
    """A record of a *type* that the reader does not know; the reader skips it."""

    type: str


Parsed: TypeAlias = PromptTurn | HistoryIssue | UnknownRecord
