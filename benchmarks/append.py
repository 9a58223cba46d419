"""How fast single messages are stored durably: ``python benchmarks/append.py [--without-log] [--postgres DSN] [--json FILE]``.

Everybody syncs each commit (``synchronous=FULL``, write-ahead log).  Contestants take turns for slices of a second;
figures are medians over the rounds, latencies those of all calls, CPU that of the whole process.  At the end each must
have stored what it acknowledged; a peer whose database stays locked says so in its row.  A busy machine shows in the
first line: compare ratios.  ``--without-log`` races a store whose log of events is off beside the real one, and nobody
else.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3  # noqa: TID251  what a peer raises
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from uuid import uuid4

from attrs import Factory, define, frozen
from contest import MICROSECONDS, Target, durable, in_turns, judge, percentile, show, tells_of_a_lock
from contestants import (
    Appender,
    Fdatasync,
    GroupCommit,
    OpenaiAsyncSqlite,
    OpenaiSqlite,
    Ours,
    OursOnPostgres,
    OursWithoutLog,
    RawAiosqlite,
    openai_agents,
    without_log,
)
from figures import duration, first, json_option, per_second, write

ROUNDS = 7
LOG_COSTS = 1.15  # CPU of an append with the log, beside one without
SLICE_SECONDS = 0.3
CONTENT = "Where did we leave the discussion about the roof? 屋顶的事我们说到哪里了？ "


@frozen
class Race:
    """What came of a race, by the names of the contestants."""

    rates: Mapping[str, float]
    p99_seconds: Mapping[str, float]

    def rows(self, label: str) -> dict[str, dict[str, str]]:
        """Return the row of a table, ours in front."""
        return {label: first(Ours.name, {name: per_second(rate) for name, rate in self.rates.items()})}


@define(eq=False)
class Racer:
    """A contestant and what it has done so far."""

    contestant: Appender
    appended: int = 0
    refused: int = 0
    cpu_seconds: float = 0.0
    latencies: list[float] = Factory(list[float])

    @property
    def cpu_us(self) -> float:
        """Of one message."""
        return self.cpu_seconds / max(1, self.appended) * MICROSECONDS


async def append_for(racer: Racer, conversation_ids: Sequence[str], *, tasks: int) -> float:
    """Append from *tasks* tasks for a slice of time; return messages per second."""
    stop = time.perf_counter() + SLICE_SECONDS
    before = racer.appended

    async def append_on() -> None:
        while (start := time.perf_counter()) < stop:
            try:
                await racer.contestant.append(random.choice(conversation_ids), CONTENT)
            except sqlite3.OperationalError as error:
                if not tells_of_a_lock(error):
                    raise
                racer.refused += 1
                continue
            racer.latencies.append(time.perf_counter() - start)
            racer.appended += 1

    is_off = isinstance(racer.contestant, OursWithoutLog)
    with without_log() if is_off else nullcontext():
        start, cpu_start = time.perf_counter(), time.process_time()
        await asyncio.gather(*(append_on() for _ in range(tasks)))
    racer.cpu_seconds += time.process_time() - cpu_start
    return (racer.appended - before) / (time.perf_counter() - start)


async def race(
    kinds: Sequence[type[Appender]], targets: Sequence[Target], *, tasks: int, conversations: int
) -> Race:
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
            # What a locked database refused may be there all the same, but not more.
            assert racer.appended <= stored <= racer.appended + racer.refused, (
                f"{racer.contestant.name}: {stored} of {racer.appended}"
            )
            await racer.contestant.close()
    rates = {racer.contestant.name: median(laps[racer]) for racer in racers}
    rows = {
        racer.contestant.name: (
            rates[racer.contestant.name],
            percentile(racer.latencies, 0.5) * MICROSECONDS,
            percentile(racer.latencies, 0.99) * MICROSECONDS,
            racer.cpu_us,
        )
        for racer in racers
    }
    show(
        f"{tasks} tasks, {conversations} conversations, one message per call",
        ["messages/s", "p50 us", "p99 us", "CPU us"],
        rows,
    )
    for racer in racers:
        if racer.refused:
            print(f"  {racer.contestant.name}: {racer.refused} calls raised 'database is locked'")
    judge([target for target in targets if target.beside in rates], rates)
    if tasks > 1 and Ours.name in rates:
        slowest = {"p99": rows[Ours.name][2], "5 ms": 5000.0}
        judge([Target("p99", "5 ms", 1, at_most=True)], slowest)
    if OursWithoutLog.name in rates:
        cpu = {racer.contestant.name: racer.cpu_us for racer in racers}
        judge([Target(Ours.name, OursWithoutLog.name, LOG_COSTS, at_most=True)], cpu)
    return Race(rates, {racer.contestant.name: percentile(racer.latencies, 0.99) for racer in racers})


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--without-log", action="store_true")
    json_option(parser)
    arguments = parser.parse_args()
    if arguments.without_log:
        kinds: list[type[Appender]] = [Ours, OursWithoutLog]
    else:
        OursOnPostgres.dsn = arguments.postgres or ""
        kinds = [Fdatasync, GroupCommit, RawAiosqlite, Ours, *openai_agents()]
        if OursOnPostgres.dsn:
            kinds.append(OursOnPostgres)
    for kind in kinds:
        print(f"  {kind.name:<34} {kind.durability}")
    ours, limit, raw = Ours.name, GroupCommit.name, RawAiosqlite.name
    peers = [OpenaiSqlite.name, OpenaiAsyncSqlite.name]  # the blocking one is the faster
    with durable():
        many = [Target(ours, limit, 0.45), *(Target(ours, peer, 10) for peer in peers)]
        together = await race(kinds, many, tasks=64, conversations=1)
        spread = [Target(ours, limit, 0.4), *(Target(ours, peer, 20) for peer in peers)]
        scattered = await race(kinds, spread, tasks=64, conversations=1000)
        alone = [Target(ours, raw, 0.8), *(Target(ours, peer, 1) for peer in peers)]
        single = await race(kinds, alone, tasks=1, conversations=1)
    waits = {name: duration(seconds) for name, seconds in together.p99_seconds.items()}
    write(
        arguments.json,
        {
            **together.rows("adds of one message, 64 tasks"),
            "of these 99 in 100 take at most": waits,
            **scattered.rows("the same over 1,000 conversations"),
            **single.rows("adds of one message, 1 task"),
            "an answer means": {kind.name: kind.durability for kind in kinds},
        },
    )


if __name__ == "__main__":
    asyncio.run(main())
