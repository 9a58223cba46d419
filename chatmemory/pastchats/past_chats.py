"""What an index run of past chats is asked and tells, what is kept, page by page, and what the doctor sees.

Values only.  What a search finds, and what is recalled of it, stands in ``prompt_hits.py``.
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
    """What is to be indexed.

    Attributes:
        inputs: files and folders; none: wherever the known tools keep their histories.
        format: the reader to use for every file; None: each file's content decides.
        roles: whose turns are kept; none: everybody's.
        kinds: which kinds of turns are kept.
        exclude: globs of paths that are left out, beside those of the settings.
        is_dry_run: read everything, write nothing.
        is_anew: read files too that have not changed.
    """

    inputs: tuple[str, ...] = ()
    format: str | None = None
    roles: tuple[Role, ...] = ()
    kinds: frozenset[TurnKind] = KEPT_KINDS
    exclude: tuple[str, ...] = ()
    is_dry_run: bool = False
    is_anew: bool = False


@final
@frozen(kw_only=True)
class IndexProgress:
    """How far a run is."""

    files_done: int
    files: int
    turns: int
    source: str


@final
@frozen(kw_only=True)
class IndexReport:
    """What an index run did.

    Attributes:
        files: files that were looked at.
        read: files that were read, by format.
        unchanged: files that had not changed.
        not_histories: files that no reader takes for a history.
        failed: files that could not be read.
        missing: files that were indexed once and are gone; their turns stay.
        turns: what became of the turns.
        redacted: secrets that were taken out.
        unknown_records: how many records of each unknown type were left out, by format and type.
        issues: what kept records or files from being read.
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


@final
@frozen(kw_only=True)
class PastChatsStatistics:
    """How much is kept."""

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
    """A conversation that is kept, as a list shows it; its turns that were superseded do not count.

    Attributes:
        format: that of its first turn, as are project and source.
        opening: the beginning of what the user typed first, in one line.
        turns: how many are kept.
        first_at: the earliest time of its turns; None where no turn has one.
        last_at: the latest.
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
    """A part of the list of conversations, last said first.

    Attributes:
        next: the cursor of what follows; None at the end.
    """

    conversations: tuple[PastConversation, ...]
    next: str | None


@final
@frozen(kw_only=True)
class PastTurnPage:
    """A part of a conversation, in its order.

    Attributes:
        next: the index of the last turn here, after which the next page begins; None at the end.
    """

    turns: tuple[Prompt, ...]
    next: int | None


Severity: TypeAlias = Literal["ok", "warning", "error"]


@final
@frozen(kw_only=True)
class Finding:
    """What the doctor saw.

    Attributes:
        code: stable, ``D001`` ...
        repair: one line that mends it; "" where nothing is to be done.
    """

    code: str
    severity: Severity
    message: str
    repair: str = ""


_BETWEEN: Final = "|"


def cursor_of(last_at: str, conversation_id: str) -> str:
    """Return the cursor of what follows a conversation; *last_at*: the text of the instant, "" for none.

    >>> cursor_of("2025-03-14T12:00:00.000000Z", "claude_code:c1")
    '2025-03-14T12:00:00.000000Z|claude_code:c1'
    """
    return f"{last_at}{_BETWEEN}{conversation_id}"


def read_cursor(cursor: str) -> tuple[str, str] | None:
    """Return what ``cursor_of`` was given; None: it is no cursor.

    >>> read_cursor("|claude_code:c1")
    ('', 'claude_code:c1')
    """
    last_at, between, conversation_id = cursor.partition(_BETWEEN)
    if not between or not is_encodable(cursor):
        return None
    return last_at, conversation_id
