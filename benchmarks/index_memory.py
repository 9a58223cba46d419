"""What memory an index run takes, for every format: ``python benchmarks/index_memory.py [MB] [NAME ...]``.

Each history is one file of 100 MB by default, one conversation; ``pastchats-memory index`` reads, embeds and writes it
as a process of its own, whose peak is what the operating system has seen.  All formats take half an hour; two are as
telling as any: ``index_memory.py 100 claude_code chatgpt``.  ``index_memory.py 150 claude_code+codex_cli`` has both of them
indexed by one run.  Exits with 1 when one takes more than ``MOST_MIB``, or fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from tests.formats.large_histories import LARGE

MEGABYTE: Final = 1_000_000
MOST_MIB: Final = 150
KIB: Final = 1024
COMMAND: Final = Path(sys.executable).with_name("pastchats-memory")


class Run(NamedTuple):
    """What an index run took."""

    peak_mib: int
    seconds: float
    cpu_seconds: float
    store_mb: float


def run_of(names: list[str], size: int) -> Run:
    """Index a history of *size* bytes of each of *names*.

    Raises:
        SystemExit: the run failed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        histories, store = Path(scratch, "histories"), Path(scratch, "past.db")
        for name in names:
            history = histories / name / LARGE[name].name
            history.parent.mkdir(parents=True)
            with history.open("wb") as file:
                file.writelines(LARGE[name].blocks(size))
        asked = [str(COMMAND), "index", "--db", str(store), str(histories)]
        started = time.perf_counter()
        process = subprocess.Popen(asked, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{names}: the run ended with {process.returncode}")
        return Run(
            usage.ru_maxrss // (KIB if sys.platform != "darwin" else KIB * KIB),
            time.perf_counter() - started,
            usage.ru_utime + usage.ru_stime,
            store.stat().st_size / MEGABYTE,
        )


def main() -> int:
    """Measure, print, and tell whether every run stayed within its memory."""
    megabytes, *names = sys.argv[1:] or ["100"]
    is_met = True
    print(
        f"{megabytes} MB each; at most {MOST_MIB} MiB are allowed\n\n{'history':24} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9} {'store MB':>9}"
    )
    for name in names or LARGE:
        run = run_of(name.split("+"), int(megabytes) * MEGABYTE)
        is_met = is_met and run.peak_mib <= MOST_MIB
        verdict = "" if run.peak_mib <= MOST_MIB else "  TOO MUCH"
        figures = f"{run.seconds:8.1f} {run.cpu_seconds:8.1f} {run.peak_mib:9} {run.store_mb:9.1f}"
        print(f"{name:24} {figures}{verdict}", flush=True)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
