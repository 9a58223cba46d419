"""``PromptDraft``, ``SourceState``, ``SourceChanges``: turns to store, the state of sources, and the result of storing them.

A stored turn is a ``Prompt``, see ``prompt.py``.

``native_hash`` and ``Occurrences`` decide which turns are the same (spec, point 9).  A turn with an id from its tool is
identified by the id, even if its text changes.  A turn without one is identified by its text, its role and how often its
conversation has said the same before: so repeated "ok" stay separate turns.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final, Literal, TypeAlias, final

from attrs import define, field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.prompt import TurnKind

SourceStatus: TypeAlias = Literal["indexed", "damaged", "skipped", "missing", "imported"]
"""``indexed``: read to its end.  ``damaged``: read as far as possible.  ``skipped``: no history.  ``missing``: no longer there.
``imported``: never read here; its turns come from another index."""

VERSION: Final = b"1"  # part of every hash; changing it would make all turns new
# Bytes of a hash that are kept for counting: two of a million turns agree once in 37 million histories.
KEY_BYTES: Final = 8

_REDACTED: Final = re.compile(r"\[redacted: [^\]]*\]")
_NATIVE: Final = VERSION + b"\0id\0"
_COUNTED: Final = VERSION + b"\0text\0"


@final
@frozen(slots=False, kw_only=True)
class PromptDraft:
    """A turn to store: a row of ``prompts``.

    Attributes:
        project: the short name of the project: the last part of its folder.
        content_hash: the hash of its identity, see ``native_hash`` and ``Occurrences``.
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


def native_hash(format_name: str, conversation_id: str, native_id: str, *, is_global: bool) -> str:
    """Hash a turn that has an id.

    If the tool's ids are globally unique, the conversation does not count: a resumed or forked session repeats the same
    turns.
    """
    conversation = "" if is_global else conversation_id
    return sha256(_NATIVE + f"{format_name}\0{conversation}\0{native_id}".encode()).hexdigest()


@final
@define
class Occurrences:
    """Counts repetitions in a conversation, for the turns of one source in their order."""

    _counts: dict[int, int] = field(factory=dict[int, int])

    def hash_of(self, format_name: str, conversation_id: str, role: Role, text: str) -> str:
        """Hash the next turn of *role* whose text has the hash *text*."""
        said = sha256(_COUNTED + f"{format_name}\0{conversation_id}\0{role}\0{text}".encode())
        key = int.from_bytes(said.digest()[:KEY_BYTES])
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        said.update(f"\0{count}".encode())
        return said.hexdigest()


def text_hash(text: str) -> str:
    r"""Hash *text* in a normal form: composed characters, one kind of line break, no space at the end.

    >>> text_hash("ok\r\n") == text_hash("ok"), text_hash("ok") == text_hash("OK")
    (True, False)
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return sha256(text.rstrip().encode()).hexdigest()


def without_kinds(text: str) -> str:
    """Return *text* without the kinds of its redacted secrets, which other rules may have named differently.

    >>> without_kinds("my key is [redacted: api key]")
    'my key is [redacted]'
    """
    return _REDACTED.sub("[redacted]", text)
