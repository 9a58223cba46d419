"""The histories of ``tests/data/histories``: real files of many tools, and what a reader must find in them."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from chatmemory.pastchats.formats.detection import detect
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import HistoryFormat
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.formats.registry import Formats, installed_formats
from chatmemory.pastchats.prompt import KEPT_KINDS

FOLDER = Path(__file__).parents[1] / "data" / "histories"
FILES = {
    path.relative_to(FOLDER).as_posix(): path.read_bytes()
    for path in sorted(FOLDER.rglob("*"))
    if path.is_file() and path.parent != FOLDER
}
EXPECTED: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())["samples"]


@cache
def formats() -> Formats:
    return installed_formats().unwrap()


def format_of(reader: TextReader) -> HistoryFormat:
    detection = detect(reader, formats().by_name.values())
    assert detection.format is not None, detection
    return detection.format


def read(path: str) -> list[Parsed]:
    reader = TextReader(path, FILES)
    return list(format_of(reader).parse(reader))


def issues_of(parsed: Iterable[Parsed]) -> list[HistoryIssue]:
    return [one for one in parsed if isinstance(one, HistoryIssue)]


def kept_turns(parsed: Iterable[Parsed]) -> dict[str, list[PromptTurn]]:
    """Return what an index keeps unless it is asked for more, by conversation, in order."""
    found: dict[str, dict[object, PromptTurn]] = {}
    for number, turn in enumerate(_turns(parsed)):
        found.setdefault(turn.conversation_id, {})[turn.native_id or number] = turn
    return {
        conversation: sorted(turns.values(), key=lambda turn: turn.turn_index or 0)
        for conversation, turns in found.items()
    }


def _turns(parsed: Iterable[Parsed]) -> Iterator[PromptTurn]:
    return (one for one in parsed if isinstance(one, PromptTurn) and one.kind in KEPT_KINDS)
