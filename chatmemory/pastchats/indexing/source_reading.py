"""Reading one source: batches of drafts from whatever a format's reader yields, and what else there is to say of it.

A reader is foreign code over foreign bytes: whatever it raises is an issue of this one file.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, final

from attrs import define, field

from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import HistoryReader, UnreadableHistoryError
from chatmemory.pastchats.indexing.issue_log import IssueLog
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.indexing.turn_drafting import Drafting

BATCH_TURNS: Final = 512
BATCH_CHARACTERS: Final = 2_000_000  # what a batch holds in memory, about; two turns of the longest kind
MOST_ISSUES: Final = 5  # of one kind that are told one by one
MOST_UNKNOWN_TYPES: Final = 100  # of one source that are counted apart
LONGEST_TYPE: Final = 100  # characters

Ending: TypeAlias = Literal["whole", "damaged", "failed"]


@final
@define
class SourceReading:
    """One pass over a source.

    Attributes:
        ending: once all batches were yielded.  ``damaged``: there may have been more turns than these.  ``failed``: what
            was yielded is not to be kept.  ``issues`` say why.
        tail: the record at the end that is cut off, as a tool that is still writing leaves it.
    """

    drafting: Drafting
    reader: HistoryReader
    ending: Ending = "whole"
    tail: HistoryIssue | None = None
    turns: int = 0
    unknown: dict[str, int] = field(factory=dict[str, int])
    _has_read: bool = False
    _issues: IssueLog = field(factory=lambda: IssueLog(MOST_ISSUES))

    def batches(self) -> Iterator[list[PromptDraft]]:
        """Yield the drafts, ``BATCH_TURNS`` at a time; never raises for what the file holds."""
        batch: list[PromptDraft] = []
        characters = 0
        for draft in self._drafts():
            batch.append(draft)
            characters += len(draft.content)
            if len(batch) >= BATCH_TURNS or characters >= BATCH_CHARACTERS:
                self.turns += len(batch)
                yield batch
                batch, characters = [], 0
        if self.ending == "whole" and (self._issues or self.tail is not None):
            self.ending = "damaged" if self._has_read or not self._issues else "failed"
        self.turns += len(batch)
        if batch and self.ending != "failed":
            yield batch

    def issues(self) -> tuple[HistoryIssue, ...]:
        """What kept records from being read, and what was lost of those that were."""
        issues = self._issues.told(self.drafting.source)
        if self.drafting.lossy:
            lost = ", ".join(
                f"{turns:,} turns with {kind.replace('_', ' ')}"
                for kind, turns in sorted(self.drafting.lossy.items())
            )
            issues += (HistoryIssue("lossy_text", self.drafting.source, lost),)
        return issues

    def _drafts(self) -> Iterator[PromptDraft]:
        try:
            for parsed in self.drafting.format.parse(self.reader):
                draft = self._draft(parsed)
                if draft is not None:
                    yield draft
        except UnreadableHistoryError as error:
            self._fail(HistoryIssue("unreadable", self.drafting.source, str(error)))
        except Exception as error:  # noqa: BLE001  foreign code at the edge: not a defect of ours
            detail = f"{self.drafting.format.name}: {type(error).__name__}: {error}"
            self._fail(HistoryIssue("reader_failed", self.drafting.source, detail))

    def _draft(self, parsed: Parsed) -> PromptDraft | None:
        if isinstance(parsed, PromptTurn):
            self._has_read = True
            return self.drafting.draft(parsed)
        if isinstance(parsed, UnknownRecord):
            self._has_read = True
            self._count(f"{self.drafting.format.name}: {parsed.type[:LONGEST_TYPE]}")
        elif parsed.code == "truncated_tail":
            self.tail = parsed
        else:
            self._issues.add(parsed)
        return None

    def _count(self, type_: str) -> None:
        if type_ not in self.unknown and len(self.unknown) >= MOST_UNKNOWN_TYPES:
            type_ = f"{self.drafting.format.name}: (other types)"
        self.unknown[type_] = self.unknown.get(type_, 0) + 1

    def _fail(self, issue: HistoryIssue) -> None:
        self.ending = "failed"
        self._issues = IssueLog(MOST_ISSUES)
        self._issues.add(issue)
