"""What memory an index run takes, for every format: ``python benchmarks/index_memory.py [MB] [NAME ...]``.

Each history is one file of 100 MB by default, one conversation; ``pastchats-memory index`` reads, embeds and writes it
as a process of its own, whose peak is what the operating system has seen.  All formats take half an hour; two are as
telling as any: ``index_memory.py 100 claude_code chatgpt``.  Exits with 1 when one takes more than ``MOST_MIB``, or fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.formats.large_histories import LARGE

MEGABYTE: Final = 1_000_000
MOST_MIB: Final = 150
KIB: Final = 1024
COMMAND: Final = Path(sys.executable).with_name("pastchats-memory")


def peak_mib(name: str, size: int) -> tuple[int, float]:
    """Index one history of *size* bytes; return the most memory that this took, and the seconds.

    Raises:
        SystemExit: the run failed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        history = Path(scratch, "histories", LARGE[name].name)
        history.parent.mkdir(parents=True)
        with history.open("wb") as file:
            file.writelines(LARGE[name].blocks(size))
        asked = [str(COMMAND), "index", "--db", str(Path(scratch, "past.db")), str(history.parent)]
        started = time.perf_counter()
        process = subprocess.Popen(asked, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{name}: the run ended with {process.returncode}")
        return usage.ru_maxrss // (
            KIB if sys.platform != "darwin" else KIB * KIB
        ), time.perf_counter() - started


def main() -> int:
    """Measure, print, and tell whether every run stayed within its memory."""
    megabytes, *names = sys.argv[1:] or ["100"]
    is_met = True
    print(
        f"{megabytes} MB each; at most {MOST_MIB} MiB are allowed\n\n{'history':24} {'seconds':>8} {'peak MiB':>9}"
    )
    for name in names or LARGE:
        peak, seconds = peak_mib(name, int(megabytes) * MEGABYTE)
        is_met = is_met and peak <= MOST_MIB
        print(f"{name:24} {seconds:8.1f} {peak:9}{'' if peak <= MOST_MIB else '  TOO MUCH'}", flush=True)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
