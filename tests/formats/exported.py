"""What a format reads in files that a test writes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import HistoryFormat
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.prompt import KEPT_KINDS
from tests.read_turns import claimed

PATH = "/home/mei/x.json"


def _bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode() if isinstance(content, str) else json.dumps(content, ensure_ascii=False).encode()


def parsed(
    history_format: HistoryFormat, content: Any, path: str = PATH, others: Mapping[str, Any] | None = None
) -> list[Parsed]:
    files = {name: _bytes(value) for name, value in {path: content, **(others or {})}.items()}
    return list(history_format.parse(TextReader(path, files, block_bytes=1000)))


def certainty(history_format: HistoryFormat, content: Any, path: str = PATH) -> int:
    """Return how surely the content is a history of the format, 0 for not at all."""
    claim = claimed(history_format, _bytes(content), path=path)
    return claim.confidence if claim and claim.is_transcript else 0


def is_beside(history_format: HistoryFormat, content: Any, path: str = PATH) -> bool:
    """Return whether the tool of the format keeps such a file beside its histories."""
    claim = claimed(history_format, _bytes(content), path=path)
    return bool(claim and not claim.is_transcript)


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
