"""Turns on their way into the store, what is known of the sources that they come from, and what storing them did.

Values only.  What is kept in the end is a ``Prompt``, see ``prompt.py``.
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
    """A turn on its way into the store: a row of ``prompts``.

    Attributes:
        project: short, for people: the last part of a folder.
        content_hash: of its identity, see ``pastchats/identity.py`` (spec, point 9).
        text_hash: of its text, which others may have too.
        search_terms: what the words of *content* do not already say: date, speaker, pairs of CJK characters.
        is_superseded: its source no longer holds it; of a turn that comes out of another index.
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
"""``indexed``: read to its end.  ``damaged``: read as far as it could be.  ``skipped``: no history.  ``missing``: gone since.
``imported``: never read itself, but in another index, out of which its turns came."""


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
