"""Histories written in a test, and what a format makes of them."""

from collections.abc import Mapping
from typing import Any, final

from attrs import frozen

from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, HistoryFormat, surest
from chatmemory.pastchats.formats.reading.history_head import read_head, readings
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.prompt import KEPT_KINDS
from tests.formats.large_history import as_json

PATH = "/home/mei/x.json"


@final
@frozen
class Read:
    """What came out of one file."""

    parsed: tuple[Parsed, ...]

    @property
    def turns(self) -> list[PromptTurn]:
        """Everything that was said, by whomever."""
        return [one for one in self.parsed if isinstance(one, PromptTurn)]

    @property
    def kept(self) -> list[PromptTurn]:
        """What is indexed unless the caller includes more."""
        return [turn for turn in self.turns if turn.kind in KEPT_KINDS]

    @property
    def said(self) -> list[tuple[str, str]]:
        """Role and text of what is kept."""
        return [(turn.role, turn.content) for turn in self.kept]

    @property
    def tagged(self) -> list[tuple[str, str]]:
        """Kind and text of what is not kept."""
        return [(turn.kind, turn.content) for turn in self.turns if turn.kind not in KEPT_KINDS]

    @property
    def standing(self) -> list[str]:
        """What was said and not taken back."""
        return [turn.content for turn in self.kept if turn.metadata.get("on_current_path") is not False]

    @property
    def conversations(self) -> list[str]:
        """The ids, each once, in their order."""
        return list(dict.fromkeys(turn.conversation_id for turn in self.kept))

    @property
    def issues(self) -> list[HistoryIssue]:
        """What could not be read."""
        return [one for one in self.parsed if isinstance(one, HistoryIssue)]

    @property
    def issue_details(self) -> list[tuple[str, str]]:
        """Code and detail of what could not be read."""
        return [(issue.code, issue.detail) for issue in self.issues]

    @property
    def unknown(self) -> list[str]:
        """The types of what was left out."""
        return [one.type for one in self.parsed if isinstance(one, UnknownRecord)]


def read(
    format_: HistoryFormat, text: str | bytes, *, path: str = "/chats/x.txt", block_bytes: int = 65_536
) -> Read:
    """Let *format_* read *text*."""
    return Read(tuple(format_.parse(TextReader(path, {path: text}, block_bytes))))


def parsed(
    format_: HistoryFormat, content: Any, path: str = PATH, others: Mapping[str, Any] | None = None
) -> Read:
    """Let *format_* read *content*, beside *others*, and put the turns of a conversation in the order of their index."""
    files = {name: _bytes(value) for name, value in {path: content, **(others or {})}.items()}
    found = format_.parse(TextReader(path, files, block_bytes=1000))
    return Read(tuple(sorted(found, key=_place)))


def claimed(format_: HistoryFormat, content: Any, *, path: str = "/chats/x.txt") -> Claim | None:
    """Return the surest claim of *format_* to *content*, by whichever shape it may have."""
    head = read_head(TextReader(path, {path: _bytes(content)}))
    return surest(map(format_.claim, readings(head)))


def certainty(format_: HistoryFormat, content: Any, path: str = PATH) -> int:
    """Return how surely *content* is a history of *format_*, 0 for not at all."""
    claim = claimed(format_, content, path=path)
    return claim.confidence if claim and claim.is_transcript else 0


def is_beside(format_: HistoryFormat, content: Any, path: str = PATH) -> bool:
    """Return whether the tool of *format_* keeps such a file beside its histories."""
    claim = claimed(format_, content, path=path)
    return bool(claim and not claim.is_transcript)


def _bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else as_json(content)).encode()


def _place(one: Parsed) -> tuple[str, int]:
    return (one.conversation_id, one.turn_index or 0) if isinstance(one, PromptTurn) else ("", 0)
