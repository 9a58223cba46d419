"""How fast the newest messages of a conversation are read, whatever its length: ``python benchmarks/read.py [--json FILE]``.

Contestants take turns; figures are medians over the rounds.  Every answer is compared with what was stored.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from contest import MICROSECONDS, Target, in_turns, judge, show
from contestants import Ours, RawAiosqlite, Reader, openai_agents
from figures import duration, first, json_option, write

ROUNDS = 9
READS = 200  # in a lap
LAST = 20
LENGTHS = (100, 1_000, 100_000)
BATCH = 1_000
MOST_TIMES_RAW = 1.4
FLAT = 1.25  # of two medians on a shared machine


def conversation(length: int) -> list[str]:
    """Return the contents of a conversation of *length* messages."""
    return [
        f"{number} of {length}: the roof, the boat, the birthday; 屋顶、船和生日" for number in range(length)
    ]


async def read_last(length: int, contestant: Reader) -> float:
    """Return the microseconds that one read takes."""
    start = time.perf_counter()
    for _ in range(READS):
        found = await contestant.last(f"conversation of {length}", LAST)
    microseconds = (time.perf_counter() - start) / READS * MICROSECONDS
    assert found == conversation(length)[-LAST:], contestant.name
    return microseconds


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    json_option(parser)
    arguments = parser.parse_args()
    kinds: Sequence[type[Reader]] = [RawAiosqlite, Ours, *openai_agents()]
    figures: dict[str, list[float]] = {kind.name: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        contestants = [kind() for kind in kinds]
        for contestant in contestants:
            await contestant.open(Path(folder), len(LENGTHS))
            for length in LENGTHS:
                contents = conversation(length)
                for start in range(0, length, BATCH):
                    await contestant.load(f"conversation of {length}", contents[start : start + BATCH])
        for length in LENGTHS:
            laps = await in_turns(contestants, partial(read_last, length), rounds=ROUNDS)
            for contestant, lap in laps.items():
                figures[contestant.name].append(median(lap))
        for contestant in contestants:
            await contestant.close()
    show(f"the last {LAST} messages, us", [f"of {length:,}" for length in LENGTHS], figures)
    longest = {name: times[-1] for name, times in figures.items()}
    judge([Target(Ours.name, RawAiosqlite.name, MOST_TIMES_RAW, at_most=True)], longest)
    cells = {name: duration(microseconds / MICROSECONDS) for name, microseconds in longest.items()}
    write(arguments.json, {f"the last {LAST} of {LENGTHS[-1]:,} messages": first(Ours.name, cells)})
    by_length = {f"of {length:,}": time for length, time in zip(LENGTHS, figures[Ours.name], strict=True)}
    shortest, *longer = by_length
    judge([Target(name, shortest, FLAT, at_most=True) for name in longer], by_length)


if __name__ == "__main__":
    asyncio.run(main())
