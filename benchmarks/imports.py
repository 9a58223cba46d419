"""What importing chatmemory costs, over the bare interpreter: ``python benchmarks/imports.py``.

Each figure is the least CPU time of fresh processes, with the bytecode compiled before; a neighbour on the machine
makes the others longer.  The parts of a stack are loaded when the first one is made, which has a line of its own.
"""

from __future__ import annotations

import compileall
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROCESSES = 15
HEAVY = {"numpy", "asyncpg", "httpx", "aiosqlite", "cattrs", "litestar", "starlette"}
BARS_MS = {
    "import chatmemory": 60,
    "import chatmemory.effect": None,
    "from chatmemory import ChatMemoryService, ManagedRuntime": None,
    "from chatmemory_layers import stacks": 100,
    "from chatmemory_layers import stacks; stacks.embedded('chat.db')": None,
    "import numpy": None,
}


def milliseconds(statement: str) -> float:
    """Return the CPU time of a process that does *statement* and nothing else."""
    times: list[float] = []
    for _ in range(PROCESSES):
        before = cpu_seconds_of_children()
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=ROOT)
        times.append((cpu_seconds_of_children() - before) * 1e3)
    return min(times)


def cpu_seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def loaded(statement: str) -> set[str]:
    """Return the names of all modules that *statement* loads."""
    script = f"import sys; {statement}; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, cwd=ROOT, capture_output=True, text=True
    )
    return set(printed.stdout.split())


def main() -> None:
    for folder in ("chatmemory", "layers"):
        compileall.compile_dir(ROOT / folder, quiet=1)
    bare = milliseconds("pass")
    print(f"{'the bare interpreter':<66}{bare:>8.1f} ms")
    for statement, bar in BARS_MS.items():
        cost = milliseconds(statement) - bare
        modules = loaded(statement)
        heavy = ", ".join(sorted(HEAVY & modules)) or "nothing heavy"
        verdict = "" if bar is None else f"  {'ok' if cost <= bar else 'MISSED'} <= {bar}"
        print(f"{statement:<66}{cost:>8.1f} ms  {len(modules):>4} modules, {heavy}{verdict}")


if __name__ == "__main__":
    main()
