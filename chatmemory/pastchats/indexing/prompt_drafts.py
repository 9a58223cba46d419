"""Values of indexing: turns to store, the state of their sources, and the result of storing them.

A stored turn is a ``Prompt``, see ``prompt.py``.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.prompt import TurnKind


@final
@frozen(slots=False, kw_only=True)
class PromptDraft:
    """A turn to store: a row of ``prompts``.

    Attributes:
        project: the short name of the project: the last part of its folder.
        content_hash: the hash of its identity, see ``pastchats/indexing/identity.py`` (spec, point 9).
        text_hash: the hash of its text, which other turns may share.
        search_terms: terms beyond the words of *content*: date, speaker, pairs of CJK characters.
        is_superseded: whether its source no longer holds it; only for turns from another index.
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
    is_superseded: bool = False


SourceStatus: TypeAlias = Literal["indexed", "damaged", "skipped", "missing", "imported"]
"""``indexed``: read to its end.  ``damaged``: read as far as possible.  ``skipped``: no history.  ``missing``: no longer there.
``imported``: never read here; its turns come from another index."""


@final
@frozen(kw_only=True)
class SourceState:
    """The state of a source when it was last read; stored in the same transaction as its turns.

    Attributes:
        source: ``HistoryFile.source``.
        format: the reader that read it; "" if none did.
        format_version: the version of that reader; a change makes the file be read again.
        options: the options of reading (roles, kinds, redaction); a change makes the file be read again.
        issue: why nothing was read, or what was left at the end; None if there was no problem.
        also: other files that the reader used, each with its size and modification time.
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
@frozen
class SourceChanges:
    """Counts the turns of a committed source.

    Attributes:
        new: turns that were not stored before.
        updated: turns whose text or place changed.
        unchanged: turns that were already stored and did not change.
        duplicates: turns already stored from another source, which now also name this one.
        superseded: turns that the source no longer holds; they stay, marked.
    """

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    superseded: int = 0
