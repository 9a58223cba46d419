"""``RecordImport``: imports the lines of an export; turns that are already stored stay unchanged.

Consecutive lines of one source are one transaction.  Secrets are redacted as in ``index``: the other index may have kept
them, or may have known fewer kinds.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, final

from attrs import define, evolve, field

from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock
from chatmemory.embedding.embedder import Embedder
from chatmemory.errors import GenericMemoryError
from chatmemory.pastchats.finding.prompt_terms import search_terms_of
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.indexing.cleaning import Cleaning
from chatmemory.pastchats.indexing.identity import text_hash
from chatmemory.pastchats.indexing.index_tally import IndexTally
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft, SourceState
from chatmemory.pastchats.indexing.prompt_record_json import BadRecordError, draft_of
from chatmemory.pastchats.indexing.source_reading import BATCH_TURNS
from chatmemory.pastchats.indexing.turn_embedding import TurnEmbedding
from chatmemory.pastchats.past_chats import IndexReport
from chatmemory.pastchats.prompt_repository import PromptRepository
from chatmemory.pastchats.redaction.redaction import Redaction

IMPORT: Final = "import"
"""The name of the lines in issues."""


@final
@define
class RecordImport:
    """One import.

    Attributes:
        redaction: removes the secrets; None keeps them.
    """

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
            for batch in _batches(drafts):
                hashes = {draft.content_hash: draft.text_hash for draft in batch}
                unchanged = await do(self.repository.unchanged(hashes).alt(GenericMemoryError))
                vectors = await do(embedding.missing(batch, unchanged))
                staged = self.repository.stage(batch, vectors, model=embedding.model)
                await do(staged.alt(GenericMemoryError))
            state = SourceState(
                source=source, size=0, modified_ns=0, format=format_name, format_version=0, options=IMPORT,
                status="imported",
            )  # fmt: skip
            self._tally.add_changes(await do(self.repository.commit_source(state).alt(GenericMemoryError)))
            self._tally.files += 1
            self._tally.add_read(format_name)
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
                self._tally.add_issues(HistoryIssue("malformed_record", IMPORT, str(error), number))
            except (ValueError, RecursionError) as error:
                detail = f"no JSON: {Cleaning().text(str(error))}"
                self._tally.add_issues(HistoryIssue("malformed_record", IMPORT, detail, number))
            else:
                yield draft if self.redaction is None else _redacted(draft, self.redaction)


def _redacted(draft: PromptDraft, redaction: Redaction) -> PromptDraft:
    """Return *draft* without secrets; its identity stays, so that a second import recognizes it."""
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


def _batches(drafts: Iterable[PromptDraft]) -> Iterator[list[PromptDraft]]:
    batch: list[PromptDraft] = []
    for draft in drafts:
        batch.append(draft)
        if len(batch) >= BATCH_TURNS:
            yield batch
            batch = []
    if batch:
        yield batch
