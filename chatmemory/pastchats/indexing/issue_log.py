"""``IssueLog``: collects a limited number of the issues of files and records.

A damaged file may have a million bad lines: the first few issues of each kind are stored, and the others are counted.
"""

from collections import Counter
from typing import final

from attrs import define, field

from chatmemory.pastchats.formats.histories import HistoryIssue, IssueCode


@final
@define
class IssueLog:
    """The first issues of each kind, and the number of the others.

    Attributes:
        most: the number of issues of one kind that are kept.
    """

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
