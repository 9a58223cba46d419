"""``Drafting``: converts a reader's turn into a row of the store: filters, cleans, redacts, numbers and hashes it.

``SourceOptions``: the options of a run that change what is read.  They are stored as a short text with the source; a
different text makes an unchanged file be read again.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, cast, final, get_args

from attrs import define, evolve, field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json
from chatmemory.pastchats.finding.prompt_terms import search_terms_of
from chatmemory.pastchats.finding.recall_block import without_recall_blocks
from chatmemory.pastchats.formats.histories import Lossy, PromptTurn
from chatmemory.pastchats.formats.history_format import HistoryFormat
from chatmemory.pastchats.formats.reading.json_lines import decoded
from chatmemory.pastchats.indexing.cleaning import Cleaning
from chatmemory.pastchats.indexing.prompt_drafts import (
    KEY_BYTES,
    Occurrences,
    PromptDraft,
    native_hash,
    text_hash,
)
from chatmemory.pastchats.past_chats import IndexRequest
from chatmemory.pastchats.prompt import TurnKind
from chatmemory.pastchats.redaction import redaction
from chatmemory.pastchats.redaction.redaction import Redaction

VERSION: Final = 2  # the version of cleaning, numbering and drafting
REDACTION: Final = "redaction="
ROLES: Final[frozenset[str]] = frozenset(get_args(Role))
PLAIN_METADATA: Final = 8_192  # characters of JSON that need no closer look
MOST_REMEMBERED: Final = 64  # the number of harmless metadata values that are remembered
DEEP_METADATA: Final = 64  # the number of objects and arrays below which nesting cannot be too deep

_WRITE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_LONG_NUMBER: Final = re.compile(r"\d{18}")
_NAME_OF_A_FOLDER: Final = re.compile(r"[^/\\]+(?=[/\\]*\Z)")


@final
@frozen
class SourceOptions:
    """The options of reading a source.

    Attributes:
        roles: the roles to keep; empty keeps all.
        redaction: the version of the redaction rules; "": nothing is redacted.
        reading: the options of a file that a format has read.
        claiming: the options of a file that no format claimed; another set of formats may claim it.
    """

    roles: frozenset[Role]
    kinds: frozenset[TurnKind]
    redaction: str
    reading: str
    claiming: str

    def redacts_more_than(self, options: str) -> bool:
        """Return whether turns that were read with other *options* may hold secrets that are redacted now."""
        return bool(self.redaction) and self.redaction not in options.split(";")


class BadTurnError(ValueError):
    """Raised when a reader yields a turn that breaks the contract; the argument says how."""


@final
@define
class Numbering:
    """Numbers the turns of each conversation in their order.

    A later record of a turn replaces the earlier one.  Keys are short hashes, because a history of half a million turns
    must not hold half a million ids in memory.
    """

    _next: dict[str, int] = field(factory=dict[str, int])
    _place: dict[int, int] = field(factory=dict[int, int])

    def place_of(self, turn: PromptTurn) -> int:
        """Return the number of *turn*, counted from 0, or the number that its reader gave."""
        following = self._next.get(turn.conversation_id, 0)
        if turn.turn_index is not None:
            self._next[turn.conversation_id] = max(following, turn.turn_index + 1)
            return turn.turn_index
        if turn.native_id is None:
            self._next[turn.conversation_id] = following + 1
            return following
        id_ = f"{turn.conversation_id}\0{turn.native_id}".encode(errors="surrogatepass")
        key = int.from_bytes(sha256(id_).digest()[:KEY_BYTES])
        place = self._place.setdefault(key, following)
        if place == following:
            self._next[turn.conversation_id] = following + 1
        return place


@final
@define
class Drafting:
    """Drafts the turns of one source, in their order.

    Attributes:
        repository_of: returns the folder after which the project of a folder is named.
        lossy: the number of turns that lost something, by kind of loss.
    """

    source: str
    format: HistoryFormat
    options: SourceOptions
    redaction: Redaction
    repository_of: Callable[[str], str] = str
    lossy: Counter[Lossy] = field(factory=Counter[Lossy])
    _harmless_metadata: set[str] = field(factory=set[str])
    _last_project: tuple[str, str, str] = ("", "", "")
    _numbering: Numbering = field(factory=Numbering)
    _occurrences: Occurrences = field(factory=Occurrences)

    def draft(self, turn: PromptTurn) -> PromptDraft | None:
        """Return the row of *turn*, or None if it is filtered out.

        Raises:
            BadTurnError: the reader broke its contract.
        """
        if turn.role not in ROLES:
            msg = f"a turn has the role {turn.role!r}"
            raise BadTurnError(msg)
        if turn.kind not in self.options.kinds:
            return None
        cleaning = Cleaning()
        content = without_recall_blocks(cleaning.text(turn.content))
        if not content or content.isspace():
            return None
        turn_index = self._numbering.place_of(turn)
        if self.options.redaction:
            content = self.redaction.text(content)
        conversation_id = cleaning.id(turn.conversation_id)
        hash_of_text = text_hash(content)
        native_id = None if turn.native_id is None else cleaning.id(turn.native_id)
        # Counted also if the role is filtered out: a turn's number does not depend on the filter.
        content_hash = (
            self._occurrences.hash_of(self.format.name, conversation_id, turn.role, hash_of_text)
            if native_id is None
            else native_hash(
                self.format.name, conversation_id, native_id, is_global=self.format.has_global_ids
            )
        )
        if self.options.roles and turn.role not in self.options.roles:
            return None
        speaker = None if turn.speaker is None else cleaning.id(turn.speaker) or None
        timestamp = _in_utc(turn.timestamp)
        project, folder = self._project(turn.project, cleaning)
        metadata = self._metadata(turn, cleaning, native_id, folder)
        self.lossy.update(cleaning.lost)
        return PromptDraft(
            source=self.source,
            project=project,
            format=self.format.name,
            conversation_id=conversation_id,
            session=cleaning.id(turn.session),
            turn_index=turn_index,
            role=turn.role,
            kind=turn.kind,
            speaker=speaker,
            content=content,
            timestamp=timestamp,
            content_hash=content_hash,
            text_hash=hash_of_text,
            search_terms=search_terms_of(content, timestamp=timestamp, speaker=speaker),
            metadata=metadata,
        )

    def _metadata(
        self, turn: PromptTurn, cleaning: Cleaning, native_id: str | None, folder: str
    ) -> dict[str, Json]:
        metadata = self._harmless(dict(turn.metadata), cleaning)
        if native_id is not None:
            metadata.setdefault("native_id", native_id)
        if folder:
            metadata.setdefault("cwd", folder)
        lossy = tuple(dict.fromkeys((*turn.lossy, *cleaning.lost)))
        if lossy:
            metadata["lossy"] = lossy
        return metadata

    def _project(self, given: str, cleaning: Cleaning) -> tuple[str, str]:
        """Return the short name of a project, and its folder if known."""
        if given == self._last_project[0]:
            return self._last_project[1:]
        whole = cleaning.id(given)
        if self.options.redaction:
            whole = self.redaction.text(whole)
        short = short_project(self.repository_of(whole))
        self._last_project = (given, short, whole if short != whole else "")
        return self._last_project[1:]

    def _harmless(self, metadata: dict[str, Json], cleaning: Cleaning) -> dict[str, Json]:
        """Return *metadata* cleaned and redacted; the same object if nothing changes."""
        written = _plainly_written(metadata)
        if written in self._harmless_metadata:
            return metadata
        if written is None:
            metadata = cleaning.metadata(metadata)
            written = json.dumps(metadata, ensure_ascii=False)
        if self.options.redaction:
            redacted = self.redaction.text(written)
            if redacted != written:
                again = cast("dict[str, Json] | None", decoded(redacted))
                return again or self.redaction.metadata(metadata)
        # Consecutive turns often repeat the same model and branch.
        if len(self._harmless_metadata) >= MOST_REMEMBERED:
            self._harmless_metadata.clear()
        self._harmless_metadata.add(written)
        return metadata


def redacted_draft(draft: PromptDraft, redaction: Redaction) -> PromptDraft:
    """Return *draft* without secrets; its identity stays, so that the same turn is recognized."""
    content = redaction.text(draft.content)
    draft = evolve(draft, project=redaction.text(draft.project), metadata=redaction.metadata(draft.metadata))
    if content == draft.content:
        return draft
    return evolve(
        draft,
        content=content,
        text_hash=text_hash(content),
        search_terms=search_terms_of(content, timestamp=draft.timestamp, speaker=draft.speaker),
    )


def short_project(project: str) -> str:
    r"""Return the last part of a folder; a plain name stays unchanged.

    >>> short_project("/home/me/shop/"), short_project("C:\\work\\shop"), short_project("shop"), short_project("/")
    ('shop', 'shop', 'shop', '/')
    """
    found = _NAME_OF_A_FOLDER.search(project)
    return found[0].rstrip("/\\") if found else project


def _plainly_written(metadata: Mapping[str, Json]) -> str | None:
    """Return *metadata* as JSON if nothing in it needs cleaning, else None."""
    try:
        written = _WRITE(metadata)
        if not written.isascii():
            written.encode()
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError is a ValueError
        return None
    is_plain = (
        len(written) <= PLAIN_METADATA
        and "\\u0000" not in written
        and _LONG_NUMBER.search(written) is None
        and written.count("{") + written.count("[") <= DEEP_METADATA
    )
    return written if is_plain else None


def _in_utc(timestamp: datetime | None) -> datetime | None:
    """Return *timestamp* in UTC, or None without a time zone, whose instant is unknown."""
    if timestamp is None or timestamp.tzinfo is UTC:
        return timestamp
    if timestamp.tzinfo is None:
        return None
    try:
        return timestamp.astimezone(UTC)
    except (OverflowError, ValueError):  # beyond the first or the last day of the calendar
        return None


def source_options(
    request: IndexRequest, formats: tuple[HistoryFormat, ...], *, is_redacted: bool
) -> SourceOptions:
    """Return the options of a run."""
    parts = [str(VERSION), f"kinds={','.join(sorted(request.kinds))}"]
    if request.roles:
        parts.append(f"roles={','.join(sorted(request.roles))}")
    rules = f"{REDACTION}{redaction.VERSION}" if is_redacted else ""
    if rules:
        parts.append(rules)
    if request.format is not None:
        parts.append(f"format={request.format}")
    reading = ";".join(parts)
    known = ",".join(sorted(f"{one.name}/{one.version}" for one in formats))
    return SourceOptions(
        roles=frozenset(request.roles),
        kinds=request.kinds,
        redaction=rules,
        reading=reading,
        claiming=f"{reading};formats={sha256(known.encode()).hexdigest()[:16]}",
    )
