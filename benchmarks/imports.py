"""What ``import chatmemory`` costs, over the bare interpreter: ``python benchmarks/imports.py``.

Each figure is the median CPU time of fresh processes, with the bytecode compiled before.
"""

from __future__ import annotations

import compileall
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
PROCESSES = 15
TARGET_MS = 60
HEAVY = {"numpy", "asyncpg", "httpx", "aiosqlite", "cattrs", "litestar", "starlette"}
MODULES = ("chatmemory", "chatmemory.effect", "chatmemory.contracts", "numpy")


def milliseconds(statement: str) -> float:
    """Return the CPU time of a process that does *statement* and nothing else."""
    times: list[float] = []
    for _ in range(PROCESSES):
        before = cpu_seconds_of_children()
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=ROOT)
        times.append((cpu_seconds_of_children() - before) * 1e3)
    return median(times)


def cpu_seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def loaded(module: str) -> set[str]:
    """Return the names of all modules that importing *module* loads."""
    script = f"import sys, {module}; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, cwd=ROOT, capture_output=True, text=True
    )
    return set(printed.stdout.split())


def main() -> None:
    compileall.compile_dir(ROOT / "chatmemory", quiet=1)
    bare = milliseconds("pass")
    print(f"{'the bare interpreter':<28}{bare:>8.1f} ms")
    for module in MODULES:
        cost = milliseconds(f"import {module}") - bare
        modules = loaded(module)
        heavy = ", ".join(sorted(HEAVY & modules)) or "nothing heavy"
        verdict = (
            f"  {'ok' if cost <= TARGET_MS else 'MISSED'} <= {TARGET_MS}" if module == "chatmemory" else ""
        )
        print(f"import {module:<21}{cost:>8.1f} ms  {len(modules):>4} modules, {heavy}{verdict}")


if __name__ == "__main__":
    main()
