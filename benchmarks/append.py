"""How fast single messages are stored durably: ``python benchmarks/append.py [--postgres DSN]``.

Everybody syncs each commit (``synchronous=FULL``, write-ahead log).  Contestants take turns for slices of a second;
figures are medians over the rounds, latencies those of all calls.  At the end each must have stored what it
acknowledged.  A busy machine shows in the first line: compare ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from uuid import uuid4

from attrs import Factory, define
from contest import MICROSECONDS, Target, durable, in_turns, judge, percentile, show
from contestants import (
    Appender,
    Fdatasync,
    GroupCommit,
    OpenaiAsyncSqlite,
    Ours,
    OursOnPostgres,
    RawAiosqlite,
    openai_agents,
)

ROUNDS = 7
SLICE_SECONDS = 0.3
CONTENT = "Where did we leave the discussion about the roof? 屋顶的事我们说到哪里了？ "


@define(eq=False)
class Racer:
    """A contestant and what it has done so far."""

    contestant: Appender
    appended: int = 0
    latencies: list[float] = Factory(list[float])


async def append_for(racer: Racer, conversation_ids: Sequence[str], *, tasks: int) -> float:
    """Append from *tasks* tasks for a slice of time; return messages per second."""
    stop = time.perf_counter() + SLICE_SECONDS
    before = racer.appended

    async def append_on() -> None:
        while (start := time.perf_counter()) < stop:
            await racer.contestant.append(random.choice(conversation_ids), CONTENT)
            racer.latencies.append(time.perf_counter() - start)
            racer.appended += 1

    start = time.perf_counter()
    await asyncio.gather(*(append_on() for _ in range(tasks)))
    return (racer.appended - before) / (time.perf_counter() - start)


async def race(
    kinds: Sequence[type[Appender]], targets: Sequence[Target], *, tasks: int, conversations: int
) -> None:
    """Let *kinds* race, show what came of it, and check that nobody cheated."""
    run = uuid4()  # a server may remember earlier ones
    conversation_ids = [f"{run} {number}" for number in range(conversations)]
    with tempfile.TemporaryDirectory() as folder:
        racers = [Racer(kind()) for kind in kinds]
        for racer in racers:
            await racer.contestant.open(Path(folder), conversations)
        laps = await in_turns(
            racers, lambda racer: append_for(racer, conversation_ids, tasks=tasks), rounds=ROUNDS
        )
        for racer in racers:
            stored = await racer.contestant.count(conversation_ids)
            assert stored == racer.appended, f"{racer.contestant.name}: {stored} of {racer.appended}"
            await racer.contestant.close()
    rates = {racer.contestant.name: median(laps[racer]) for racer in racers}
    rows = {
        racer.contestant.name: (
            rates[racer.contestant.name],
            percentile(racer.latencies, 0.5) * MICROSECONDS,
            percentile(racer.latencies, 0.99) * MICROSECONDS,
        )
        for racer in racers
    }
    show(
        f"{tasks} tasks, {conversations} conversations, one message per call",
        ["messages/s", "p50 us", "p99 us"],
        rows,
    )
    judge(targets, rates)


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--postgres", metavar="DSN")
    OursOnPostgres.dsn = arguments.parse_args().postgres or ""
    peers = openai_agents()
    kinds: list[type[Appender]] = [Fdatasync, GroupCommit, RawAiosqlite, Ours, *peers]
    if OursOnPostgres.dsn:
        kinds.append(OursOnPostgres)
    ours, limit, raw, peer = Ours.name, GroupCommit.name, RawAiosqlite.name, OpenaiAsyncSqlite.name
    with durable():
        await race(kinds, [Target(ours, limit, 0.45), Target(ours, peer, 10)], tasks=64, conversations=1)
        await race(kinds, [Target(ours, peer, 20)], tasks=64, conversations=1000)
        await race(kinds, [Target(ours, raw, 0.8)], tasks=1, conversations=1)


if __name__ == "__main__":
    asyncio.run(main())
