"""Values of past chats: requests and reports of index runs, pages of conversations and turns, findings of a check.

``prompt_hits.py`` defines the values of searches and recalls.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.rules import is_encodable
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.prompt import KEPT_KINDS, Prompt, TurnKind


@final
@frozen(kw_only=True)
class IndexRequest:
    """A request to index histories.

    Attributes:
        inputs: files and folders; empty: the folders in which the known tools store their histories.
        format: the reader to use for every file; None: each file's content decides.
        roles: index only turns of these roles; empty: of all roles.
        kinds: index only turns of these kinds.
        exclude: globs of paths to leave out, in addition to those of the settings.
        is_dry_run: read everything, write nothing.
        rereads_all: read files that have not changed, too.
        names_files: whether the report lists each file with its result.
    """

    inputs: tuple[str, ...] = ()
    format: str | None = None
    roles: tuple[Role, ...] = ()
    kinds: frozenset[TurnKind] = KEPT_KINDS
    exclude: tuple[str, ...] = ()
    is_dry_run: bool = False
    rereads_all: bool = False
    names_files: bool = False


FileFate: TypeAlias = Literal["read", "unchanged", "no_history", "failed", "moved", "gone"]


@final
@frozen
class FileResult:
    """The result of an index run for one file.

    Attributes:
        became: moved: another file, which *detail* names, holds all its turns; gone: no file does, and its turns
            stay.
        format: the reader of the file; empty: none.
        detail: the number of turns that were read, or the reason why the file was skipped.
    """

    path: str
    became: FileFate
    format: str
    detail: str


@final
@frozen(kw_only=True)
class IndexProgress:
    """The progress of an index run."""

    files_done: int
    files: int
    turns: int
    source: str


@final
@frozen(kw_only=True)
class IndexReport:
    """The result of an index run.

    Attributes:
        files: how many files were examined.
        read: how many files were read, by format.
        unchanged: how many files had not changed.
        not_histories: how many files no reader recognized as a history.
        failed: how many files could not be read.
        missing: how many files were indexed earlier and no longer exist; their turns stay.
        moved: how many files no longer exist at their path, but were found at another one by their turns.
        looked_at: the result for each file, if the request asked for it.
        turns: how many turns were new, updated, unchanged and so on.
        redacted: how many secrets were removed.
        unknown_records: how many records of each unknown type were left out, by format and type.
        issues: why records or files could not be read.
    """

    files: int
    read: Mapping[str, int]
    unchanged: int
    not_histories: int
    failed: int
    missing: int
    turns: SourceChanges
    redacted: int
    unknown_records: Mapping[str, int]
    issues: tuple[HistoryIssue, ...]
    started_at: datetime
    seconds: float
    is_dry_run: bool = False
    moved: int = 0
    looked_at: tuple[FileResult, ...] = ()


@final
@frozen(kw_only=True)
class PastChatsStatistics:
    """The counts of the index."""

    prompts: int
    embeddings: int
    conversations: int
    sources: int
    missing_sources: int
    superseded: int
    by_format: Mapping[str, int]
    by_role: Mapping[str, int]
    by_project: Mapping[str, int]
    models: Mapping[str, int]
    oldest: datetime | None
    newest: datetime | None
    bytes_on_disk: int
    last_indexed_at: datetime | None = None


@final
@frozen(kw_only=True)
class PastConversation:
    """An indexed conversation, as a list shows it; superseded turns do not count.

    Attributes:
        format: the format of its first turn; *project* and *source* are those of its first turn, too.
        opening: the beginning of the first text that the user typed, on one line.
        turns: how many turns it has.
        first_at: the earliest time of its turns; None when no turn has a time.
        last_at: the latest time of its turns; None when no turn has a time.
    """

    conversation_id: str
    format: str
    project: str
    source: str
    opening: str
    turns: int
    first_at: datetime | None
    last_at: datetime | None


@final
@frozen(kw_only=True)
class PastConversationPage:
    """A page of conversations, the most recent first.

    Attributes:
        next: the cursor of the next page; None at the end.
    """

    conversations: tuple[PastConversation, ...]
    next: str | None


@final
@frozen(kw_only=True)
class PastTurnPage:
    """A page of the turns of a conversation, in their order.

    Attributes:
        next: the number of the last turn on this page, for ``newer_than``; None at the end.
    """

    turns: tuple[Prompt, ...]
    next: int | None


Severity: TypeAlias = Literal["ok", "warning", "error"]


@final
@frozen(kw_only=True)
class Finding:
    """One result of checking the index (``doctor``): what was checked, and whether it is in order.

    Attributes:
        code: the stable code of the check, ``D001`` to ``D013``.
        severity: `ok`: in order; `warning`: worth a repair; `error`: the index is damaged or cannot be trusted.
        message: what was found, in one sentence.
        repair: one line that says how to repair it; "" when nothing has to be done.
    """

    code: str
    severity: Severity
    message: str
    repair: str = ""


_BETWEEN: Final = "|"


def cursor_of(last_at: str, conversation_id: str) -> str:
    """Return the cursor after a conversation; *last_at*: the text of its latest time, "" for none.

    >>> cursor_of("2025-03-14T12:00:00.000000Z", "claude_code:c1")
    '2025-03-14T12:00:00.000000Z|claude_code:c1'
    """
    return f"{last_at}{_BETWEEN}{conversation_id}"


def read_cursor(cursor: str) -> tuple[str, str] | None:
    """Return the arguments of ``cursor_of`` that made *cursor*; None: it is not a cursor.

    >>> read_cursor("|claude_code:c1")
    ('', 'claude_code:c1')
    """
    last_at, between, conversation_id = cursor.partition(_BETWEEN)
    if not between or not is_encodable(cursor):
        return None
    return last_at, conversation_id
