"""``SourceReading``: converts the turns of a format's reader into batches of drafts, and collects the issues of one source.

A reader may be third-party code over damaged bytes: any exception of it becomes an issue of this one file.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, final

from attrs import define, field

from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import HistoryReader, UnreadableHistoryError
from chatmemory.pastchats.indexing.index_tally import IssueLog
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.indexing.turn_drafting import Drafting

BATCH_TURNS: Final = 512
BATCH_CHARACTERS: Final = 2_000_000  # approximate memory of a batch: two turns of the greatest length
MOST_ISSUES: Final = 5  # the number of issues of one kind that are listed
MOST_UNKNOWN_TYPES: Final = 100  # the number of unknown types of one source that are counted separately
LONGEST_TYPE: Final = 100  # characters

Ending: TypeAlias = Literal["whole", "damaged", "failed"]


@final
@define
class SourceReading:
    """One pass over a source.

    Attributes:
        ending: set after the last batch.  ``damaged``: the source may hold more turns.  ``failed``: the yielded turns
            must not be kept.  ``issues`` say why.
        tail: an incomplete record at the end, as a tool leaves it while it is writing.
    """

    drafting: Drafting
    reader: HistoryReader
    ending: Ending = "whole"
    tail: HistoryIssue | None = None
    turns: int = 0
    unknown: Counter[str] = field(factory=Counter[str])
    _has_read: bool = False
    _issues: IssueLog = field(factory=lambda: IssueLog(MOST_ISSUES))

    def batches(self) -> Iterator[list[PromptDraft]]:
        """Yield the drafts, ``BATCH_TURNS`` at a time; never raises because of the file's content."""
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
        """Return the issues of records that could not be read, and of losses in those that were read."""
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
        self.unknown[type_] += 1

    def _fail(self, issue: HistoryIssue) -> None:
        self.ending = "failed"
        self._issues = IssueLog(MOST_ISSUES)
        self._issues.add(issue)
