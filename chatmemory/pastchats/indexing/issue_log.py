"""``IssueLog``: what kept files or records from being read, told so that a person can read it.

A damaged file has a million bad lines.  Nobody reads a million sentences: of each kind the first few are kept, and the
others are counted.
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
        most: of one kind that are told one by one.
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
        """Return the first ones, and for each kind that has more one that says how many more; *path* is where.

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
