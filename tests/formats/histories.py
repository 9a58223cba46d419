"""The histories of ``tests/data/histories``: real files of many tools, and what a reader must find in them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from chatmemory.pastchats.formats.detection import Detection, detect
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.formats.registry import Formats, installed_formats
from tests.formats.read_turns import Read

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


def detected(path: str, content: str | bytes | None = None) -> Detection:
    """Return which of the installed formats a file has; without *content* it is one of ``FILES``."""
    files = FILES if content is None else {path: content}
    return detect(TextReader(path, files), formats().by_name.values())


def read_sample(path: str) -> Read:
    detection = detected(path)
    assert detection.format is not None, detection
    return Read(tuple(detection.format.parse(TextReader(path, FILES))))


def by_conversation(found: Read) -> dict[str, list[PromptTurn]]:
    """Return what an index keeps unless it is asked for more, by conversation, in order."""
    kept: dict[str, dict[object, PromptTurn]] = {}
    for number, turn in enumerate(found.kept):
        kept.setdefault(turn.conversation_id, {})[turn.native_id or number] = turn
    return {
        conversation: sorted(turns.values(), key=lambda turn: turn.turn_index or 0)
        for conversation, turns in kept.items()
    }
