"""``detect``: finds the format of a file by its content.

Every format is asked, and the one with the highest confidence reads the file.  When two formats have the same
confidence, or none is confident enough, no format reads the file, and the issue describes the evidence.
"""

from collections.abc import Iterable
from typing import Final, final

from attrs import frozen

from chatmemory.input.json_value import EMPTY
from chatmemory.pastchats.formats.histories import HistoryIssue, IssueCode
from chatmemory.pastchats.formats.history_format import (
    LEAST_CONFIDENCE,
    Claim,
    Head,
    HistoryFormat,
    HistoryReader,
    UnreadableHistoryError,
    surest,
)
from chatmemory.pastchats.formats.reading.history_head import read_head, readings

_DATABASE: Final = "SQLite format 3\x00"
A_DATABASE: Final = "a SQLite database: export the chats with its tool"
A_BINARY: Final = "a binary file"
AN_EXPORT: Final = "an export: read it with {} import"
_BINARY_WITHIN: Final = 8192  # characters
_BINARY_NULS: Final = 8  # this many are not an accident of a tool that crashed


@final
@frozen
class Detection:
    """The format of a file and the evidence for it, or the issue that prevents reading it.

    *failures* are of the formats that failed to examine the file.
    """

    format: HistoryFormat | None
    evidence: str = ""
    issue: HistoryIssue | None = None
    failures: tuple[HistoryIssue, ...] = ()


def detect(
    reader: HistoryReader, formats: Iterable[HistoryFormat], *, named: HistoryFormat | None = None
) -> Detection:
    """Return which of *formats* reads the file; or *named*, if the file holds a transcript."""
    try:
        head = read_head(reader)
    except UnreadableHistoryError as reason:
        return Detection(None, issue=HistoryIssue("unreadable", reader.path, str(reason)))
    unread = _without_claims(head)
    if unread is not None:
        return Detection(None, issue=unread)
    claims: list[tuple[Claim, HistoryFormat]] = []
    failures: list[HistoryIssue] = []
    for format_ in formats if named is None else (named,):
        claim = _claim(format_, head)
        if isinstance(claim, HistoryIssue):
            failures.append(claim)
        elif claim is not None:
            claims.append((claim, format_))
    claims.sort(key=lambda found: (-found[0].confidence, found[1].name))
    return _decide(head.path, claims, tuple(failures), named)


def _decide(
    path: str,
    claims: list[tuple[Claim, HistoryFormat]],
    failures: tuple[HistoryIssue, ...],
    named: HistoryFormat | None,
) -> Detection:
    def nobody(code: IssueCode, detail: str) -> Detection:
        return Detection(None, issue=HistoryIssue(code, path, detail), failures=failures)

    sure = [(claim, format_) for claim, format_ in claims if claim.confidence >= LEAST_CONFIDENCE]
    if sure and not sure[0][0].is_transcript:
        return nobody("not_a_transcript", f"{sure[0][1].name}: {sure[0][0].evidence}")
    if named is not None:
        return Detection(named, "it was named", failures=failures)
    seen = "; ".join(
        f"{format_.name} ({claim.confidence}): {claim.evidence}" for claim, format_ in claims[:2]
    )
    if not sure:
        return nobody("unknown_format", f"no format is sure of it: {seen or 'none sees a sign of its own'}")
    if len(sure) > 1 and sure[0][0].confidence == sure[1][0].confidence:
        return nobody("ambiguous_format", f"name the format, two are equally sure: {seen}")
    claim, format_ = sure[0]
    return Detection(format_, claim.evidence, failures=failures)


def _claim(format_: HistoryFormat, head: Head) -> Claim | HistoryIssue | None:
    """Return the most confident claim of *format_* over the possible readings of *head*."""
    try:
        return surest(map(format_.claim, readings(head)))
    except Exception as reason:  # noqa: BLE001  a format of others may fail as it pleases: one format, not the run
        detail = f"{format_.name} could not look at it: {type(reason).__name__}: {reason}"
        return HistoryIssue("reader_failed", head.path, detail)


def _without_claims(head: Head) -> HistoryIssue | None:
    """Return the issue of a file that holds no text at all, or what this software exported."""
    if head.text.startswith(_DATABASE):
        return HistoryIssue("unknown_format", head.path, A_DATABASE)
    start = head.text[:_BINARY_WITHIN]
    nuls = start.count("\x00")
    if head.shape == "text" and (nuls >= _BINARY_NULS or (nuls and "\ufffd" in start)):
        return HistoryIssue("unknown_format", head.path, A_BINARY)
    if not head.text.strip() or head.document in ([], {}):
        return HistoryIssue("not_a_transcript", head.path, "it is empty")
    first = head.first if head.records else EMPTY
    if first.get("type") == "export" and first.get("format") == "chatmemory":
        return HistoryIssue("not_a_transcript", head.path, AN_EXPORT.format("chatmemory"))
    if first.get("type") == "chatmemory.pastchats.prompt":
        return HistoryIssue("not_a_transcript", head.path, AN_EXPORT.format("pastchats-memory"))
    return None
