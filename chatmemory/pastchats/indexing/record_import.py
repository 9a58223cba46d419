"""``RecordImport``: imports the lines of an export; turns that are already stored stay unchanged.

Consecutive lines of one source are one transaction.  Secrets are redacted as in ``index``: the other index may have kept
them, or may have known fewer kinds.

``exported`` exports one turn after the other, without holding all of them.  ``record_object`` and ``draft_of`` convert a
turn to a line of JSON and back, without loss.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Final, cast, final, get_args

from attrs import define, field

from chatmemory.effect import Do, Effect, EffectFailed
from chatmemory.effect.services.clock import Clock
from chatmemory.embedding.embedder import Embedder
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.input.rules import instant_problem, is_encodable
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.indexing.cleaning import Cleaning
from chatmemory.pastchats.indexing.index_tally import IndexTally
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft, SourceState
from chatmemory.pastchats.indexing.source_reading import BATCH_TURNS
from chatmemory.pastchats.indexing.turn_drafting import redacted_draft
from chatmemory.pastchats.indexing.turn_embedding import TurnEmbedding
from chatmemory.pastchats.past_chats import IndexReport
from chatmemory.pastchats.prompt import PromptFilter, TurnKind
from chatmemory.pastchats.prompt_repository import PromptRecord, PromptRepository
from chatmemory.pastchats.redaction.redaction import Redaction

KIND: Final = "chatmemory.pastchats.prompt"
VERSION: Final = 1

_TEXTS: Final = ("source", "project", "format", "conversation_id", "session", "content", "search_terms")
_HASHES: Final = ("content_hash", "text_hash")
_HASH_DIGITS: Final = 64

IMPORT: Final = "import"
"""The name of the lines in issues."""


class BadRecordError(ValueError):
    """Raised for a line without a turn; the argument is the reason."""


@final
@define
class RecordImport:
    """One import; without *redaction*, secrets are kept."""

    repository: PromptRepository
    embedder: Embedder
    clock: Clock
    redaction: Redaction | None
    _tally: IndexTally = field(factory=IndexTally)

    @Effect.gen
    async def run(self, do: Do[GenericMemoryError], lines: Iterable[bytes]) -> IndexReport:
        """Import *lines*, and return the report; a line without a turn is an issue."""
        started_at, started = self.clock.now(), self.clock.monotonic()
        embedding = TurnEmbedding(self.repository, self.embedder)
        await do(self.repository.discard().alt(GenericMemoryError))
        for (source, format_name), drafts in groupby(
            self._drafts(lines), key=lambda draft: (draft.source, draft.format)
        ):
            while batch := list(islice(drafts, BATCH_TURNS)):
                await do(embedding.stage(batch))
            state = SourceState(
                source=source, size=0, modified_ns=0, format=format_name, format_version=0, options=IMPORT,
                status="imported",
            )  # fmt: skip
            self._tally.add_changes(await do(self.repository.commit_source(state).alt(GenericMemoryError)))
            self._tally.files += 1
            self._tally.read[format_name] += 1
        report = self._tally.report(
            redacted=0 if self.redaction is None else self.redaction.total,
            started_at=started_at,
            seconds=self.clock.monotonic() - started,
        )
        await do(self.repository.record_run(report).alt(GenericMemoryError))
        return report

    def _drafts(self, lines: Iterable[bytes]) -> Iterator[PromptDraft]:
        for number, line in enumerate(lines, 1):
            if line.isspace() or not line:
                continue
            try:
                draft = draft_of(json.loads(line))
            except BadRecordError as error:
                self._tally.issues.add(HistoryIssue("malformed_record", IMPORT, str(error), number))
            except (ValueError, RecursionError) as error:
                detail = f"no JSON: {Cleaning().text(str(error))}"
                self._tally.issues.add(HistoryIssue("malformed_record", IMPORT, detail, number))
            else:
                yield draft if self.redaction is None else redacted_draft(draft, self.redaction)


def draft_of(value: Json) -> PromptDraft:
    """Read the turn of a JSON object.

    Raises:
        BadRecordError: the object is not a turn.
    """
    if not isinstance(value, Mapping) or value.get("type") != KIND:
        msg = f'not an object with "type": "{KIND}"'
        raise BadRecordError(msg)
    if value.get("version") != VERSION:
        msg = f"version {value.get('version')!r}: this program reads version {VERSION}"
        raise BadRecordError(msg)
    for name, (is_valid, problem) in _RULES.items():
        if not is_valid(value.get(name)):
            msg = f"{name}: {problem}"
            raise BadRecordError(msg)
    metadata = value.get("metadata")
    made: dict[str, Any] = {
        **{name: value.get(name) for name in _RULES},
        "timestamp": _instant(value),
        "metadata": Cleaning().metadata(metadata) if isinstance(metadata, Mapping) else {},
        "is_superseded": value.get("is_superseded") is True,
    }
    return PromptDraft(**made)


def _is_text(found: Json) -> bool:
    return isinstance(found, str) and "\0" not in found and is_encodable(found)


def _one_of(known: tuple[str, ...]) -> tuple[Callable[[Json], bool], str]:
    return known.__contains__, f"not one of {', '.join(sorted(known))}"


_TEXT: Final = (_is_text, "not a text that can be stored")
_RULES: Final[Mapping[str, tuple[Callable[[Json], bool], str]]] = {
    **dict.fromkeys(_TEXTS, _TEXT),
    **dict.fromkeys(_HASHES, (lambda found: _is_text(found) and len(str(found)) == _HASH_DIGITS, "no hash")),
    "content": (lambda found: found != "" and _is_text(found), "empty, or not a text that can be stored"),
    "turn_index": (lambda found: type(found) is int and 0 <= found < 2**63, "not a number from 0"),
    "role": _one_of(get_args(Role)),
    "kind": _one_of(get_args(TurnKind)),
    "speaker": (lambda found: found is None or _is_text(found), _TEXT[1]),
}
"""For each member of a line: whether a value is valid, and what is wrong with any other."""


def _instant(value: Mapping[str, Json]) -> datetime | None:
    written = value.get("timestamp")
    if written is None:
        return None
    try:
        instant = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        instant = None
    if instant is None or instant_problem(instant) is not None:
        msg = "timestamp: not an instant with a time zone, in the years 1 to 9999 of UTC"
        raise BadRecordError(msg)
    return instant


@Effect.gen
async def exported(
    do: Do[GenericMemoryError],
    repository: PromptRepository,
    which: PromptFilter,
    to: Callable[[JsonObject], None],
) -> int:
    """Call *to* with each turn that *which* selects, and return their number."""
    count = 0
    records = repository.records(which)
    while True:
        try:
            record = next(records, None)
        except EffectFailed as failed:
            if isinstance(failed.error, RepositoryError):
                do.fail(GenericMemoryError(failed.error))
            raise
        if record is None:
            return count
        to(record_object(record))
        count += 1


def record_object(record: PromptRecord) -> JsonObject:
    """Return the JSON object of a turn; times are ISO 8601, everything else is unchanged."""
    draft = record.draft
    return {
        "type": KIND,
        "version": VERSION,
        **{name: cast("str", getattr(draft, name)) for name in (*_TEXTS, *_HASHES)},
        "turn_index": draft.turn_index,
        "role": draft.role,
        "kind": draft.kind,
        "speaker": draft.speaker,
        "timestamp": None if draft.timestamp is None else draft.timestamp.isoformat(),
        "metadata": draft.metadata,
        "is_superseded": draft.is_superseded,
        "created_at": record.created_at.isoformat(),
    }
