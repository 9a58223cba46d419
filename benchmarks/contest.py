"""How contestants are timed side by side: in turns, in one process, and the medians of the rounds compared.

What they do stands in ``append.py`` and ``read.py``, who they are in ``contestants.py``.
"""

from __future__ import annotations

import gc
import random
import sqlite3  # noqa: TID251  whose settings are forced on everybody
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from attrs import frozen

C = TypeVar("C")
L = TypeVar("L")

MICROSECONDS = 1e6


@frozen
class Target:
    """*name* wants at least (or at most) *factor* times what *beside* has."""

    name: str
    beside: str
    factor: float
    at_most: bool = False

    def verdict(self, figures: Mapping[str, float]) -> str:
        """Compare; a contestant that is not there, or got nothing done, leaves the question open."""
        if not figures.get(self.name) or not figures.get(self.beside):
            return f"  {self.name} / {self.beside}: not run"
        ratio = figures[self.name] / figures[self.beside]
        is_met = ratio <= self.factor if self.at_most else ratio >= self.factor
        relation = "<=" if self.at_most else ">="
        return (
            f"  {self.name} / {self.beside} = {ratio:.2f}  "
            f"{'met' if is_met else 'MISSED'} {relation} {self.factor:g}"
        )


def tells_of_a_lock(error: sqlite3.OperationalError) -> bool:
    """Return whether a peer's database stayed locked: its call failed, and the race goes on."""
    return "locked" in str(error)


async def in_turns(
    contestants: Sequence[C], lap: Callable[[C], Awaitable[L]], *, rounds: int
) -> dict[C, list[L]]:
    """Run each once a round, so that a neighbour on the machine disturbs all alike; the first round warms up.

    The order is drawn for each round: nobody always comes behind the one who empties the processor's caches.
    """
    laps: dict[C, list[L]] = {contestant: [] for contestant in contestants}
    gc.collect()
    gc.freeze()  # what all have loaded by now: no lap pays for a collection of it
    for round_ in range(1 + rounds):
        for contestant in random.sample(contestants, len(contestants)):
            gc.collect(0)
            finished = await lap(contestant)
            if round_ > 0:
                laps[contestant].append(finished)
    gc.unfreeze()
    return laps


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which *share* of *values* lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def show(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[float]]) -> None:
    """Print a table of figures."""
    print(f"\n{title}")
    print(" " * 36 + "".join(f"{column:>16}" for column in columns))
    for name, figures in rows.items():
        print(f"  {name:<34}" + "".join(f"{figure:>16,.0f}" for figure in figures))


def judge(targets: Sequence[Target], figures: Mapping[str, float]) -> None:
    """Print what became of the targets."""
    for target in targets:
        print(target.verdict(figures))


@contextmanager
def durable() -> Generator[None]:
    """Make every connection of ``sqlite3``, whoever opens it, sync each commit to a write-ahead log."""
    connect = sqlite3.connect

    def connect_durably(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)
        isolation_level, connection.isolation_level = connection.isolation_level, None
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.isolation_level = isolation_level
        return connection

    sqlite3.connect = connect_durably  # for everybody, peers too
    try:
        yield
    finally:
        sqlite3.connect = connect
