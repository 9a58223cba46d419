"""The histories of ``tests/data/histories``: real files of many tools, and what a reader must find in them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from chatmemory.pastchats.formats.detection import Detection, detect
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.formats.registry import Formats, installed_formats

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
