"""Past chats: the turns that a history holds, as they are read, as they are kept, and what went wrong on the way.

Values only.  How histories are read and searched is the business of ``pastchats``.
"""

# ruff: noqa: PLC0414  what is passed on has a small module of its own, for those who need no more

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from chatmemory.json_value import Json, JsonObject
from chatmemory.prompt import (
    EVERYTHING as EVERYTHING,
    KEPT_KINDS as KEPT_KINDS,
    Prompt as Prompt,
    PromptFilter as PromptFilter,
    TurnKind as TurnKind,
)
from chatmemory.roles import Role

Lossy: TypeAlias = Literal["bad_utf8", "surrogate", "nul", "truncated"]


@final
@frozen(slots=False, kw_only=True)
class PromptTurn:
    """A turn as a format's reader finds it.

    Attributes:
        conversation_id: ``<format>:<the id that the tool gave it>``; a subagent has one of its own.
        content: the text that a person would see, cleaned; never empty.
        native_id: what the tool calls this turn; a later record of the same id replaces it.
        turn_index: its place in the conversation, from 0; None: the reader yields the turns in their order.
        timestamp: when it was said, with a time zone; None where the history does not say it.
        project: the folder or the name that the conversation belongs to, as the history says it; "" for none.
        session: which part of the conversation it belongs to, where a history parts them; "" for none.
        speaker: a name, where there is one.
        lossy: what of the text could not be kept.
        metadata: whatever else is worth knowing: model, title, cwd, git_branch, parent_session, tool_calls ...
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
    "unreadable",
    "malformed_record",
    "truncated_tail",
    "unsupported_version",
    "too_large",
    "reader_failed",
    "lossy_text",
    "link",
]


@final
@frozen
class HistoryIssue:
    """What a file, or one record of it, kept from being read; everything else was.

    Attributes:
        line: counted from 1, where the file has lines.
        offset: of the record, in bytes.
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
    """A record of a *type* that the reader does not know, and left out."""

    type: str


Parsed: TypeAlias = PromptTurn | HistoryIssue | UnknownRecord


@final
@frozen
class HistoryFile:
    """A file that may hold a history, as the file system describes it.

    Attributes:
        path: absolute, links resolved.
        member: the file within, where *path* is an archive; "" otherwise.
        size: in bytes.
        modified_ns: of the last change, in nanoseconds since 1970.
    """

    path: str
    size: int
    modified_ns: int
    device: int = 0
    inode: int = 0
    member: str = ""

    @property
    def source(self) -> str:
        """What turns of this file name as their source."""
        return f"{self.path}!{self.member}" if self.member else self.path


SourceStatus: TypeAlias = Literal["indexed", "skipped", "failed", "missing"]


@final
@frozen(kw_only=True)
class SourceState:
    """What is known of a source since it was last read; kept in the same transaction as its turns.

    Attributes:
        source: ``HistoryFile.source``.
        format: the reader that read it, "" where none did.
        format_version: of that reader; another one reads the file anew.
        options: what else decides which turns are kept (roles, kinds, redaction); other options read the file anew.
        issue: why nothing was read, or what was left at the end; None when all is well.
        also: further files that the reader looked at, each with its size and the time of its last change.
    """

    source: str
    size: int
    modified_ns: int
    format: str
    format_version: int
    options: str
    status: SourceStatus
    issue: str | None = None
    also: Mapping[str, tuple[int, int]] = field(factory=dict[str, tuple[int, int]])


@final
@frozen(slots=False, kw_only=True)
class PromptDraft:
    """A turn on its way into the store: a row of ``prompts``.

    Attributes:
        project: short, for people: the last part of a folder.
        content_hash: of its identity, see ``pastchats/identity.py`` (spec, point 9).
        text_hash: of its text, which others may have too.
        search_terms: what the words of *content* do not already say: date, speaker, pairs of CJK characters.
    """

    source: str
    project: str
    format: str
    conversation_id: str
    session: str
    turn_index: int
    role: Role
    kind: TurnKind
    speaker: str | None
    content: str
    timestamp: datetime | None
    content_hash: str
    text_hash: str
    search_terms: str
    metadata: JsonObject


@final
@frozen
class SourceChanges:
    """What committing a source did.

    Attributes:
        new: turns that were not there.
        updated: turns whose text or place changed.
        unchanged: turns that were there as they are.
        duplicates: turns that another source had brought, now known from this one too.
        superseded: turns that the source no longer holds; they stay, marked.
    """

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    superseded: int = 0
