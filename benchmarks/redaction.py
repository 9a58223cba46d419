"""What taking secrets out costs: ``python -m benchmarks.redaction [PASSES]``.

The texts are every turn of the sample histories, tool results included, and the source files of this repository in
pieces of 4,000 characters: words, code, logs, JSON and Chinese, with next to no secrets, as in real chats.  Prints
CPU seconds per MB of text, the best of some passes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from chatmemory.pastchats.formats.detection import detect
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.formats.registry import installed_formats
from chatmemory.pastchats.redaction.redaction import Redaction

PASSES = 7
PIECE = 4_000  # characters
ROOT = Path(__file__).parents[1]


def turns() -> list[str]:
    """Return what was said in the sample histories."""
    folder = ROOT / "tests" / "data" / "histories"
    files = {path.as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    formats = installed_formats().unwrap().by_name.values()
    texts: list[str] = []
    for path in files:
        reader = TextReader(path, files)
        found = detect(reader, formats).format
        if found is not None:
            texts += [one.content for one in found.parse(reader) if isinstance(one, PromptTurn)]
    return texts


def code() -> list[str]:
    """Return the source files of this repository in pieces."""
    whole = [path.read_text() for path in sorted((ROOT / "chatmemory").rglob("*.py"))]
    return [text[at : at + PIECE] for text in whole for at in range(0, len(text), PIECE)]


def measure(texts: list[str], passes: int) -> float:
    """Return the fewest CPU seconds that *texts* took, per MB."""
    seconds: list[float] = []
    for _ in range(passes):
        redaction = Redaction()
        started = time.process_time()
        for text in texts:
            redaction.text(text)
        seconds.append(time.process_time() - started)
    return min(seconds) / (sum(len(text.encode(errors="replace")) for text in texts) / 1e6)


def main() -> None:
    """Print a line for each kind of text."""
    passes = int(sys.argv[1]) if len(sys.argv) > 1 else PASSES
    for name, texts in (("turns", turns()), ("code", code())):
        print(f"{name:6} {len(texts):6,} texts  {measure(texts, passes) * 1e3:6.1f} ms of CPU per MB")


if __name__ == "__main__":
    main()
