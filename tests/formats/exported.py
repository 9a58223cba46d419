"""What a format reads in files that a test writes."""

import json
from collections.abc import Mapping
from typing import Any

from chatmemory.pastchats.formats.histories import Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import HistoryFormat
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from tests.read_turns import Read, claimed

PATH = "/home/mei/x.json"


def _bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode() if isinstance(content, str) else json.dumps(content, ensure_ascii=False).encode()


def parsed(
    history_format: HistoryFormat, content: Any, path: str = PATH, others: Mapping[str, Any] | None = None
) -> Read:
    """Return what the format reads, and the turns of a conversation by their index."""
    files = {name: _bytes(value) for name, value in {path: content, **(others or {})}.items()}
    found = history_format.parse(TextReader(path, files, block_bytes=1000))
    return Read(tuple(sorted(found, key=_place)))


def _place(one: Parsed) -> tuple[str, int]:
    return (one.conversation_id, one.turn_index or 0) if isinstance(one, PromptTurn) else ("", 0)


def certainty(history_format: HistoryFormat, content: Any, path: str = PATH) -> int:
    """Return how surely the content is a history of the format, 0 for not at all."""
    claim = claimed(history_format, _bytes(content), path=path)
    return claim.confidence if claim and claim.is_transcript else 0


def is_beside(history_format: HistoryFormat, content: Any, path: str = PATH) -> bool:
    """Return whether the tool of the format keeps such a file beside its histories."""
    claim = claimed(history_format, _bytes(content), path=path)
    return bool(claim and not claim.is_transcript)
