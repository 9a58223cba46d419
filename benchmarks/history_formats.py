"""What reading a history costs, for every format: ``python benchmarks/history_formats.py [MB] [NAME ...]``.

Each history is one conversation of 100 MB by default, written while it is read, so that nothing of it lies in memory
but what its reader holds; each is read in a process of its own, whose peak is that of the reader and of the interpreter.
Seconds are CPU time and without those that writing takes.  Exits with 1 when one takes more than ``MOST_MIB``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from chatmemory.pastchats.formats.detection import detect
from chatmemory.pastchats.formats.registry import installed_formats
from tests.formats.large_histories import LARGE
from tests.formats.large_history import Large

MEGABYTE = 1_000_000
MOST_MIB = 100  # for a file of 100 MB
KIB = 1024


def measure(name: str, size: int) -> dict[str, object]:
    """Read one history, and say what it took."""
    reader = TimedReader(LARGE[name], size)
    formats = installed_formats().unwrap().by_name.values()
    base = peak_mib()
    written = sum(map(len, reader.blocks()))
    detection = detect(reader, formats)
    assert detection.format is not None, detection
    timed = TimedReader(LARGE[name], size)
    started = time.process_time()
    kinds = Counter(type(one).__name__ for one in detection.format.parse(timed))
    return {
        "bytes": written,
        "seconds": time.process_time() - started - timed.seconds,
        "passes": round(timed.bytes / written, 1),
        "turns": kinds["PromptTurn"],
        "issues": kinds["HistoryIssue"],
        "base_mib": base,
        "peak_mib": peak_mib(),
    }


class TimedReader:
    """A ``HistoryReader`` of *size* bytes; it counts what is read, and how long writing that took."""

    def __init__(self, large: Large, size: int) -> None:
        self.large, self.size = large, size
        self.path = self.name = large.name
        self.bytes = 0
        self.seconds = 0.0

    def blocks(self) -> Iterator[bytes]:
        blocks = self.large.blocks(self.size)
        while True:
            started = time.process_time()
            block = next(blocks, None)
            self.seconds += time.process_time() - started
            if block is None:
                return
            self.bytes += len(block)
            yield block

    def sibling(self, _: str, /) -> None:
        return None

    def entries(self, _: str = ".", /) -> Sequence[str]:
        return ()


def peak_mib() -> int:
    """Return the most memory that this program took; ``ru_maxrss`` would count what its parent took before it began."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) // KIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // KIB


def main(size: int, names: list[str]) -> int:
    is_met = True
    print(f"{size // MEGABYTE} MB each; at most {MOST_MIB} MiB are allowed\n")
    print(f"{'history':24} {'turns':>8} {'seconds':>8} {'MB/s':>6} {'passes':>6} {'peak MiB':>9}")
    for name in names:
        command = [sys.executable, __file__, "--measure", name, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        rate = found["bytes"] / MEGABYTE / found["seconds"]
        is_met = is_met and found["peak_mib"] <= MOST_MIB
        row = f"{name:24} {found['turns']:8,} {found['seconds']:8.2f} {rate:6.0f} {found['passes']:6}"
        print(
            f"{row} {found['peak_mib']:9}{'' if found['peak_mib'] <= MOST_MIB else '  TOO MUCH'}", flush=True
        )
    return 0 if is_met else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        megabytes, *chosen = sys.argv[1:] or ["100"]
        sys.exit(main(int(megabytes) * MEGABYTE, chosen or list(LARGE)))
