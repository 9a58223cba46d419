"""What it takes to index years of two tools: ``python benchmarks/index_everything.py [MB]``.

Half of the MB (300) are transcripts of Claude Code, half are rollouts of Codex, each of ``TURNS_PER_HISTORY`` turns, no two
of which say the same.  ``pastchats-memory index`` runs as a process of its own, over all of them and then again, when
nothing is new.  Exits with 1 when it takes more than ``MOST_MIB`` at any moment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.cold_recall import COMMAND, conversations, environment, write_histories
from benchmarks.index_memory import KIB, MEGABYTE, MOST_MIB

CLAUDE_TURNS_PER_MB: Final = 1_550
CODEX_TURNS_PER_MB: Final = 2_300


def write_rollouts(folder: Path, turns: int) -> None:
    """Write *turns* turns as Codex would."""
    for number, conversation in enumerate(conversations(turns, seed=8)):
        start = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        session = f"01996135-0000-7000-8000-{number:012x}"
        meta = {"id": session, "cwd": f"/home/mei/project{number % 20}", "cli_version": "0.50.0"}
        records: list[tuple[str, object]] = [("session_meta", meta)]
        for role, text in conversation:
            kind = "input_text" if role == "user" else "output_text"
            records.append(
                (
                    "response_item",
                    {"type": "message", "role": role, "content": [{"type": kind, "text": text}]},
                )
            )
        lines = [
            json.dumps(
                {
                    "timestamp": (start + timedelta(seconds=20 * place)).isoformat().replace("+00:00", "Z"),
                    "type": type_,
                    "payload": payload,
                },
                ensure_ascii=False,
            )
            for place, (type_, payload) in enumerate(records)
        ]
        path = folder / f"{start:%Y/%m/%d}" / f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Write, index, index again, print; tell whether the memory was kept to."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    is_met = True
    with tempfile.TemporaryDirectory() as scratch:
        histories, store = Path(scratch, "histories"), Path(scratch, "past.db")
        write_histories(histories / "claude", megabytes // 2 * CLAUDE_TURNS_PER_MB)
        write_rollouts(histories / "codex", megabytes // 2 * CODEX_TURNS_PER_MB)
        files = [file for file in histories.rglob("*.jsonl") if file.is_file()]
        size = sum(file.stat().st_size for file in files) / MEGABYTE
        print(f"{size:.0f} MB in {len(files):,} files; at most {MOST_MIB} MiB are allowed")
        for run in ("the first run", "the second run"):
            started = time.perf_counter()
            asked = [str(COMMAND), "index", "--db", str(store), str(histories)]
            process = subprocess.Popen(asked, env=environment())
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds, peak = time.perf_counter() - started, usage.ru_maxrss // KIB
            is_met = is_met and peak <= MOST_MIB and process.returncode == 0
            print(
                f"{run}: {seconds:.1f} s ({usage.ru_utime + usage.ru_stime:.1f} s of CPU), peak {peak} MiB, "
                f"store {store.stat().st_size / MEGABYTE:.1f} MB",
                flush=True,
            )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
