"""``Ingest``: one index run.  Finds files, reads those that are new or changed, and commits each as one transaction.

Formats read the files, and ``turn_drafting.py`` converts their turns.  A bad file, a reader that raises, and a folder
without permission are issues in the report; only the store and the embedder can fail the run.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Final, Never, final

from attrs import define, evolve, field

from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError
from chatmemory.pastchats.formats.detection import A_BINARY, A_DATABASE, Detection, detect
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue, IssueCode
from chatmemory.pastchats.formats.history_format import HistoryFormat
from chatmemory.pastchats.formats.shapes.sqlite_stores import UNREAD
from chatmemory.pastchats.indexing.history_files import FoundFiles, HistoryFiles, TrackedReader
from chatmemory.pastchats.indexing.index_tally import IndexTally
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges, SourceState
from chatmemory.pastchats.indexing.source_reading import SourceReading
from chatmemory.pastchats.indexing.turn_drafting import Drafting, SourceOptions, redacted_draft
from chatmemory.pastchats.indexing.turn_embedding import TurnEmbedding
from chatmemory.pastchats.past_chats import FileFate, FileResult, IndexProgress, IndexRequest
from chatmemory.pastchats.prompt_repository import PromptRepository
from chatmemory.pastchats.redaction.redaction import Redaction

CUT_OFF: Final = "truncated_tail: "
"""The beginning of the issue of a source whose last record was still being written."""

NOT_READ: Final = "not_read: "
"""The beginning of the issue of a known store that no reader reads."""

_NOTED: Final[Mapping[str, IssueCode]] = {NOT_READ: "not_read", CUT_OFF: "truncated_tail"}

AT_REST_SECONDS: Final = 60
"""The age of a file's last change after which no tool is still writing a record."""


@final
@define
class Ingest:
    """One run over the files of *request*, begun at *started_at*."""

    request: IndexRequest
    started_at: datetime
    options: SourceOptions
    formats: tuple[HistoryFormat, ...]
    files: HistoryFiles
    repository: PromptRepository
    embedding: TurnEmbedding
    named: HistoryFormat | None
    exclude: tuple[str, ...]
    on_progress: Callable[[IndexProgress], None]
    redaction: Redaction = field(factory=Redaction)
    tally: IndexTally = field(factory=IndexTally)
    _has_redacted_anew: bool = False

    @Effect.gen
    async def run(self, do: Do[GenericMemoryError]) -> IndexTally:
        """Bring the index up to date, and return the report."""
        known = await do(self.repository.sources().alt(GenericMemoryError))
        await do(self._discard())  # left by a run in this process that did not end
        found = await do(self._find())
        self.tally.files = len(found.files)
        self.tally.issues.add(*found.issues)
        await do(self._note_unread(found, known))
        seen: set[str] = set()
        for number, file in enumerate(found.files):
            source = kept_name(file.source)
            seen.add(source)
            state = known.get(source)
            self._tell(number, source)
            if state is not None and self._is_unchanged(file, state):
                self._pass_by(state)
            else:
                await do(self._read(file, number, state))
        await do(self._mark_missing(known, seen, found.roots))
        if not self.request.is_dry_run:
            await do(self._redact_the_others(known))
        if self._has_redacted_anew and not self.request.is_dry_run:
            # Words of redacted secrets stay in the index of words until its segments are merged.
            await do(self.repository.reindex_words().alt(GenericMemoryError))
        self._tell(len(found.files), "")
        return self.tally

    @Effect.gen
    async def _find(self, do: Do[Never]) -> FoundFiles:
        if self.request.inputs:
            return await do(self.files.find(self.request.inputs, exclude=self.exclude))
        wanted = self.formats if self.named is None else (self.named,)
        roots = [root for one in wanted for root in one.known_roots]
        found = await do(self.files.find_known(roots, exclude=self.exclude))
        for tool, places in UNREAD.items() if self.named is None else ():
            there = await do(self.files.find_known(places, exclude=self.exclude))
            unread = [*(file.path for file in there.files), *(issue.path for issue in there.issues)]
            if unread:
                detail = f"a history of {tool}, which no reader reads ({len(unread)} files)"
                issue = HistoryIssue("not_read", unread[0], detail)
                found = evolve(found, issues=(*found.issues, issue))
        return found

    @Effect.gen
    async def _note_unread(
        self, do: Do[GenericMemoryError], found: FoundFiles, known: Mapping[str, SourceState]
    ) -> None:
        """Store which known stores are not read, for ``doctor``, and forget those that are read by now."""
        unread = {one.path: f"{NOT_READ}{one.detail}" for one in found.issues if one.code == "not_read"}
        former = {
            source: None
            for source, state in known.items()
            if (state.issue or "").startswith(NOT_READ)
            and any(file.path == source and file.member for file in found.files)
        }
        for source, issue in (former | unread).items():
            if source not in known or known[source].issue != issue:
                await do(self._commit(self._state(HistoryFile(source, 0, 0), issue)))

    def _tell(self, files_done: int, source: str, turns: int = 0) -> None:
        progress = IndexProgress(
            files_done=files_done, files=self.tally.files, turns=self.tally.turns + turns, source=source
        )
        self.on_progress(progress)

    # --- files that need not be read ---

    def _is_unchanged(self, file: HistoryFile, state: SourceState) -> bool:
        return (
            not self.request.rereads_all
            and state.size == file.size
            and state.modified_ns == file.modified_ns
            and state.status not in ("missing", "imported")
            and self._would_be_read_alike(state)
            and not (state.also and self.files.has_changed(dict(state.also)))
        )

    def _would_be_read_alike(self, state: SourceState) -> bool:
        if not state.format:
            return state.options == self.options.claiming
        version = next((one.version for one in self.formats if one.name == state.format), None)
        return state.options == self.options.reading and state.format_version == version

    def _note(self, path: str, became: FileFate, format_: str = "", detail: str = "") -> None:
        if self.request.names_files:
            self.tally.looked_at.append(FileResult(path, became, format_, detail))

    def _pass_by(self, state: SourceState) -> None:
        if state.format:
            self.tally.unchanged += 1
            self._note(state.source, "unchanged", state.format, "read by an earlier run")
        else:
            self.tally.not_histories += 1
            self._note(state.source, "no_history", detail=_in_words(state.issue))
        # No tool has written since the last run: a file that was cut off is complete.
        for beginning, code in _NOTED.items():
            if (state.issue or "").startswith(beginning):
                detail = (state.issue or "").removeprefix(beginning)
                self.tally.issues.add(HistoryIssue(code, state.source, detail))

    # --- files that are read ---

    @Effect.gen
    async def _read(
        self, do: Do[GenericMemoryError], file: HistoryFile, number: int, state: SourceState | None
    ) -> None:
        reader = self.files.reader(file)
        detection = detect(reader, self.formats, named=self.named)
        self.tally.issues.add(*detection.failures)
        if detection.format is None:
            await do(self._leave_out(file, state, reader, detection))
        else:
            await do(self._take_in(file, number, state, reader, detection.format))

    @Effect.gen
    async def _leave_out(
        self,
        do: Do[GenericMemoryError],
        file: HistoryFile,
        state: SourceState | None,
        reader: TrackedReader,
        detection: Detection,
    ) -> None:
        issue = detection.issue
        former = "" if state is None else state.format
        if former and all(one.name != former for one in self.formats):
            issue = HistoryIssue("unreadable", file.source, f"its format {former} is not installed")
        if issue is not None and not self.request.inputs and issue.detail in (A_DATABASE, A_BINARY):
            issue = evolve(issue, code="not_read")  # it is where a tool keeps its histories
        if issue is not None:
            self.tally.issues.add(issue)
        # It may be a history nevertheless: the next run looks again.
        if detection.failures or (issue is not None and issue.code == "unreadable"):
            self.tally.failed += 1
            why = detection.failures[0] if issue is None else issue
            self._note(kept_name(file.source), "failed", former, why.detail)
            return
        self.tally.not_histories += 1
        detail = "" if issue is None else issue.detail or _in_words(issue.code)
        self._note(kept_name(file.source), "no_history", detail=detail)
        noted: str | None = None if issue is None else issue.code
        if issue is not None and issue.code == "not_read":
            noted = f"{NOT_READ}{issue.detail}"
        await do(self._commit(evolve(self._state(file, noted), also=reader.also)))

    def _state(self, file: HistoryFile, issue: str | None) -> SourceState:
        """Return the state of a file that no format reads."""
        return SourceState(
            source=kept_name(file.source),
            size=file.size,
            modified_ns=file.modified_ns,
            format="",
            format_version=0,
            options=self.options.claiming,
            status="skipped",
            issue=issue,
        )

    @Effect.gen
    async def _take_in(
        self,
        do: Do[GenericMemoryError],
        file: HistoryFile,
        number: int,
        state: SourceState | None,
        reader: TrackedReader,
        read_by: HistoryFormat,
    ) -> None:
        reading = SourceReading(
            Drafting(kept_name(file.source), read_by, self.options, self.redaction, self.files.repository_of),
            reader,
        )
        unchanged = 0
        for batch in reading.batches():
            unchanged += await do(self.embedding.stage(batch, is_dry_run=self.request.is_dry_run))
            self._tell(number, kept_name(file.source), reading.turns)
        issues = reading.issues()
        self.tally.issues.add(*issues)
        if reading.ending == "failed":
            self.tally.failed += 1
            self._note(kept_name(file.source), "failed", read_by.name, issues[0].detail if issues else "")
            await do(self._discard())
            return
        self.tally.turns += reading.turns
        self.tally.read[read_by.name] += 1
        self._note(kept_name(file.source), "read", read_by.name, f"{reading.turns} turns")
        self.tally.add_unknown(reading.unknown)
        issue = None if reading.tail is None else f"{CUT_OFF}{reading.tail.detail}"
        if reading.tail is not None and (self._is_at_rest(file) or _is_still_cut_off(file, state)):
            self.tally.issues.add(reading.tail)
        new = evolve(
            self._state(file, issue),
            format=read_by.name,
            format_version=read_by.version,
            options=self.options.reading,
            status="indexed" if reading.ending == "whole" else "damaged",
            also=reader.also,
        )
        former = state.options if state is not None and state.format else self.options.reading
        self._has_redacted_anew |= self.options.redacts_more_than(former)
        if self.request.is_dry_run:
            self.tally.add_changes(SourceChanges(new=reading.turns - unchanged, unchanged=unchanged))
        # What was read with other options, and not read now, may hold secrets.
        is_redacted = bool(self.options.redaction) and former != self.options.reading
        await do(self._commit(new, redacts_unread=is_redacted))

    @Effect.gen
    async def _redact_the_others(self, do: Do[GenericMemoryError], known: Mapping[str, SourceState]) -> None:
        """Redact the turns of the sources that this run did not read: they are gone, damaged, elsewhere, or were imported."""
        if not any(self._may_hold_secrets(state) for state in known.values()):
            return
        now = await do(self.repository.sources().alt(GenericMemoryError))
        for state in filter(self._may_hold_secrets, now.values()):
            self._has_redacted_anew = True
            self._tell(self.tally.files, state.source)
            # No run has options in this order, so one that comes upon the source reads it again.
            new = evolve(state, options=f"{self.options.redaction};{state.options}")
            redacted = partial(redacted_draft, redaction=self.redaction)
            await do(self.repository.redact_source(new, redacted).alt(GenericMemoryError))

    def _may_hold_secrets(self, state: SourceState) -> bool:
        return bool(state.format) and self.options.redacts_more_than(state.options)

    def _is_at_rest(self, file: HistoryFile) -> bool:
        return file.modified_ns < (self.started_at.timestamp() - AT_REST_SECONDS) * 1e9

    def _discard(self) -> Effect[None, GenericMemoryError]:
        """Discard the staged turns; a dry run stages nothing, and its store may be read-only."""
        if self.request.is_dry_run:
            return Effect.succeed(None)
        return self.repository.discard().alt(GenericMemoryError)

    @Effect.gen
    async def _commit(
        self, do: Do[GenericMemoryError], state: SourceState, *, redacts_unread: bool = False
    ) -> None:
        if self.request.is_dry_run:
            return
        committed = self.repository.commit_source(
            state,
            roles=self.options.roles,
            kinds=self.options.kinds,
            redacted=partial(redacted_draft, redaction=self.redaction) if redacts_unread else None,
        )
        self.tally.add_changes(await do(committed.alt(GenericMemoryError)))

    # --- files that are gone ---

    @Effect.gen
    async def _mark_missing(
        self,
        do: Do[GenericMemoryError],
        known: Mapping[str, SourceState],
        seen: set[str],
        roots: tuple[str, ...],
    ) -> None:
        below = tuple(f"{root.rstrip(separator)}{separator}" for root in roots for separator in "/\\!")
        gone = [
            source
            for source, state in known.items()
            if state.status not in ("missing", "imported")
            and source not in seen
            and (source in roots or source.startswith(below))
            and self.files.is_gone(source)  # an excluded or forbidden file still exists
        ]
        moved: Mapping[str, str] = {}
        if gone and not self.request.is_dry_run:
            moved = await do(self.repository.mark_missing(gone).alt(GenericMemoryError))
        self.tally.missing = len(gone) - len(moved)
        self.tally.moved = len(moved)
        for source in gone:
            if source in moved:
                self._note(source, "moved", detail=f"it is {moved[source]} now")
            else:
                self._note(source, "gone", known[source].format, "what was indexed of it stays")


def kept_name(source: str) -> str:
    r"""Return *source* as it is stored: bytes of file names that are not UTF-8 are written as ``\udc80``."""
    return source if source.isascii() else source.encode("utf-8", "backslashreplace").decode()


def _in_words(code: str | None) -> str:
    return "" if code is None else code.replace("_", " ")


def _is_still_cut_off(file: HistoryFile, state: SourceState | None) -> bool:
    if state is None:
        return False
    is_same = state.size == file.size and state.modified_ns == file.modified_ns
    return is_same and state.issue is not None and state.issue.startswith(CUT_OFF)
