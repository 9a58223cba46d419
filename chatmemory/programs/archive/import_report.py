"""``ImportReport``: counts what an import stored, what was already there, and what it left out and why."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, final

from attrs import define, field, frozen

MOST_ISSUES: Final = 1000
"""The report lists at most this many issues; it counts all of them."""


@final
@frozen
class ImportIssue:
    """A line that was not imported unchanged, with the reason.

    Attributes:
        line: its number, counted from 1.
    """

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@final
@frozen
class ImportCount:
    """Counts records of one kind: those that are new in the store and those that were already there."""

    new: int = 0
    known: int = 0


@final
@frozen
class ImportReport:
    """The result of an import.

    Attributes:
        lines: the number of lines read.
        branches: conversations that share the beginning of another one.
        forgotten: ids that were left out because this store has forgotten them: memories, and cleared conversations with
            the branches that begin with their messages.
        users: the users of the memories, new or known: an import that was interrupted may have made no vectors.
        redacted: the number of secrets removed, by kind.
        issues: the first 1000 lines that were not imported unchanged.
        issue_count: the number of all such lines.
        is_whole: whether the file had its last line; if not, it was cut off or has another format.
        is_dry_run: whether the import only counted and wrote nothing.
    """

    lines: int
    messages: ImportCount
    summaries: ImportCount
    branches: ImportCount
    memories: ImportCount
    items: ImportCount
    forgotten: tuple[str, ...]
    users: tuple[str, ...]
    redacted: Mapping[str, int]
    issues: tuple[ImportIssue, ...]
    issue_count: int
    is_whole: bool
    is_dry_run: bool

    @property
    def is_empty(self) -> bool:
        """Whether the file had no record that was imported, already stored, or forgotten here."""
        every = (self.messages, self.summaries, self.branches, self.memories, self.items)
        return not any(one.new or one.known for one in every) and not self.forgotten


@final
@define(eq=False)
class ImportTally:
    """The counters of a running import."""

    is_dry_run: bool
    lines: int = 0
    new: Counter[str] = field(factory=Counter[str])
    known: Counter[str] = field(factory=Counter[str])
    forgotten: dict[str, None] = field(factory=dict[str, None])
    users: dict[str, None] = field(factory=dict[str, None])
    issues: list[ImportIssue] = field(factory=list[ImportIssue])
    issue_count: int = 0
    is_whole: bool = False

    def count(self, kind: str, *, new: int = 0, known: int = 0) -> None:
        """Add to the counters of *kind*."""
        self.new[kind] += new
        self.known[kind] += known

    def issue(self, reason: object, line: int | None = None) -> None:
        """Record why a line was left out; *line* is the current one by default."""
        self.issue_count += 1
        if len(self.issues) < MOST_ISSUES:
            self.issues.append(ImportIssue(self.lines if line is None else line, str(reason)))

    def report(self, redacted: Mapping[str, int]) -> ImportReport:
        """Return the report of the counts so far."""

        def arrived(kind: str) -> ImportCount:
            return ImportCount(self.new[kind], self.known[kind])

        return ImportReport(
            lines=self.lines,
            messages=arrived("message"),
            summaries=arrived("summary"),
            branches=arrived("fork"),
            memories=arrived("memory"),
            items=arrived("item"),
            forgotten=tuple(self.forgotten),
            users=tuple(self.users),
            redacted=dict(redacted),
            issues=tuple(self.issues),
            issue_count=self.issue_count,
            is_whole=self.is_whole,
            is_dry_run=self.is_dry_run,
        )
