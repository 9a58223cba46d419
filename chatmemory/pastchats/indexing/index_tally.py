"""``IndexTally``: the counters of an index run, from which the report is made.

A damaged file may have a million bad lines: the first few issues of each kind are stored, and the others are counted.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Final, final

from attrs import astuple, define, field

from chatmemory.pastchats.formats.histories import HistoryIssue, IssueCode
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.past_chats import FileResult, IndexReport

MOST_ISSUES: Final = 100  # the number of issues of one kind that the report lists
MOST_UNKNOWN_TYPES: Final = 1_000  # the number of unknown types that are counted separately


@final
@define
class IssueLog:
    """The first *most* issues of each kind, and the number of the others."""

    most: int
    _kept: list[HistoryIssue] = field(factory=list[HistoryIssue])
    _counts: Counter[IssueCode] = field(factory=Counter[IssueCode])

    def __bool__(self) -> bool:
        return bool(self._kept)

    def add(self, *issues: HistoryIssue) -> None:
        """Record *issues*."""
        for issue in issues:
            self._counts[issue.code] += 1
            if self._counts[issue.code] <= self.most:
                self._kept.append(issue)

    def told(self, path: str) -> tuple[HistoryIssue, ...]:
        """Return the kept issues, and one per kind with the number of its other issues, for the file *path*.

        >>> log = IssueLog(most=1)
        >>> log.add(*(HistoryIssue("malformed_record", "/a", "no JSON", line) for line in range(1, 2001)))
        >>> [str(issue) for issue in log.told("/a")]
        ['/a, line 1: malformed record: no JSON', '/a: malformed record: 1,999 more']
        """
        more = [
            HistoryIssue(code, path, f"{count - self.most:,} more")
            for code, count in self._counts.items()
            if count > self.most
        ]
        return (*self._kept, *more)


@final
@define
class IndexTally:
    """Counts the results of files and turns; *read* counts the files that were read to their end, by format."""

    files: int = 0
    read: Counter[str] = field(factory=Counter[str])
    unchanged: int = 0
    not_histories: int = 0
    failed: int = 0
    missing: int = 0
    moved: int = 0
    looked_at: list[FileResult] = field(factory=list[FileResult])
    turns: int = 0
    changes: SourceChanges = field(factory=SourceChanges)
    unknown: Counter[str] = field(factory=Counter[str])
    issues: IssueLog = field(factory=lambda: IssueLog(MOST_ISSUES))

    def add_unknown(self, unknown: Mapping[str, int]) -> None:
        """Count records of unknown types."""
        for type_, count in unknown.items():
            known = (
                type_ if type_ in self.unknown or len(self.unknown) < MOST_UNKNOWN_TYPES else "(other types)"
            )
            self.unknown[known] += count

    def add_changes(self, changes: SourceChanges) -> None:
        """Count the turns of a committed source."""
        self.changes = SourceChanges(*map(sum, zip(astuple(self.changes), astuple(changes), strict=True)))

    def report(
        self, *, redacted: int, started_at: datetime, seconds: float, is_dry_run: bool = False
    ) -> IndexReport:
        """Return the report of the run."""
        return IndexReport(
            files=self.files,
            read=dict(sorted(self.read.items())),
            unchanged=self.unchanged,
            not_histories=self.not_histories,
            failed=self.failed,
            missing=self.missing,
            moved=self.moved,
            looked_at=tuple(self.looked_at),
            turns=self.changes,
            redacted=redacted,
            unknown_records=dict(sorted(self.unknown.items())),
            issues=self.issues.told("other files"),
            started_at=started_at,
            seconds=seconds,
            is_dry_run=is_dry_run,
        )
