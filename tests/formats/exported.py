"""What a format reads in files that a test writes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, HistoryFormat
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from chatmemory.pastchats.prompt import KEPT_KINDS


def reader_of(
    content: Any, path: str = "/home/mei/x.json", others: Mapping[str, Any] | None = None
) -> TextReader:
    files = {path: content, **(others or {})}
    return TextReader(path, {name: _bytes(value) for name, value in files.items()}, block_bytes=1000)


def _bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode() if isinstance(content, str) else json.dumps(content, ensure_ascii=False).encode()


def parsed(
    history_format: HistoryFormat, content: Any, path: str = "/home/mei/x.json", **others: Any
) -> list[Parsed]:
    return list(history_format.parse(reader_of(content, path, others.get("others"))))


def claim(history_format: HistoryFormat, content: Any, path: str = "/home/mei/x.json") -> Claim | None:
    return history_format.claim(read_head(reader_of(content, path)))


def turns(found: Iterable[Parsed]) -> list[PromptTurn]:
    """Return the turns that are kept by default, in the order of their conversation."""
    return sorted(
        (one for one in _turns(found) if one.kind in KEPT_KINDS),
        key=lambda turn: (turn.conversation_id, turn.turn_index or 0),
    )


def said(found: Iterable[Parsed]) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in turns(found)]


def tagged(found: Iterable[Parsed]) -> list[tuple[str, str]]:
    """Return the turns that are not kept by default, each with its kind."""
    return [(one.kind, one.content) for one in _turns(found) if one.kind not in KEPT_KINDS]


def issues(found: Iterable[Parsed]) -> list[tuple[str, str]]:
    return [(one.code, one.detail) for one in found if isinstance(one, HistoryIssue)]


def unknown(found: Iterable[Parsed]) -> list[str]:
    return [one.type for one in found if isinstance(one, UnknownRecord)]


def _turns(found: Iterable[Parsed]) -> Iterator[PromptTurn]:
    return (one for one in found if isinstance(one, PromptTurn))
