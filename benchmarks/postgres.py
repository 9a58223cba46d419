"""PostgreSQL beside what people pick instead: ``python benchmarks/postgres.py [--json FILE] [WHAT ...]``.

WHAT is any of append, network, read, remember, recall; without one, all of them.  The server is a real one that syncs
each commit, made for the run and deleted behind it; everybody has a database of their own there and at most ten
connections.  Contestants take turns; figures are medians over the rounds, and what matters is their ratio, for a busy
machine slows all of them.  Round trips are counted by a wire between, in a run of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from statistics import median
from uuid import uuid4

from contest import Target, in_turns, judge, show
from figures import Rows, duration, first, json_option, per_second, write
from memories import World
from postgres_memories import CopiedTables, LanggraphMemories, OurMemories, Rememberer, recallers
from postgres_messages import (
    Keeper,
    LanggraphStore,
    Ours,
    RawGroups,
    RawStatement,
    keepers,
)
from postgres_server import Server, real_server, wire_to

ROUNDS = 5
SLICE_SECONDS = 0.5
NETWORK_SECONDS = 0.001  # each way
DIM = 384
BATCH = 100
QUESTIONS = 60
LAST = 20

AT_64 = [Target(Ours.name, RawGroups.name, 0.5), Target(Ours.name, LanggraphStore.name, 1)]
AT_1 = [Target(Ours.name, RawStatement.name, 0.6)]


async def opened(server: Server, stack: AsyncExitStack, *, folder: str = "") -> list[Keeper]:
    """Open everybody who keeps messages, each in a new database."""
    found: list[Keeper] = []
    for number, kind in enumerate(keepers()):
        one = kind()
        await one.open(stack, server.dsn(await server.fresh(f"messages_{number}"), folder=folder))
        found.append(one)
    return found


async def rate(one: Keeper, conversations: int, *, tasks: int) -> float:
    """Append from *tasks* tasks for a slice of time; return messages per second."""
    stop, numbers, done = time.perf_counter() + SLICE_SECONDS, count(), 0

    async def append_on() -> None:
        nonlocal done
        while time.perf_counter() < stop:
            await one.append(f"of {conversations}: {next(numbers) % conversations}")
            done += 1

    start = time.perf_counter()
    await asyncio.gather(*(append_on() for _ in range(tasks)))
    return done / (time.perf_counter() - start)


async def race_appends(server: Server) -> Rows:
    figures: dict[str, dict[str, str]] = {}
    async with AsyncExitStack() as stack:
        racers = await opened(server, stack)
        for tasks, conversations in ((1, 1), (1, 1000), (64, 1), (64, 1000)):
            laps = await in_turns(
                racers, partial(rate, conversations=conversations, tasks=tasks), rounds=ROUNDS
            )
            rates = {one.name: median(laps[one]) for one in racers}
            ours = rates[Ours.name]
            rows = {name: (each, 1e6 * tasks / each, 100 * each / ours) for name, each in rates.items()}
            show(
                f"append, {tasks} tasks, {conversations} conversations",
                ["a second", "us each", "% of ours"],
                rows,
            )
            judge(AT_1 if tasks == 1 else AT_64, rates)
            over = "" if conversations == 1 else f" over {conversations:,} conversations"
            figures[f"adds of one message, {tasks} task{'s' * (tasks > 1)}{over}"] = {
                name: per_second(each) for name, each in rates.items()
            }
    return figures


async def race_over_a_network(server: Server) -> Rows:
    """Count round trips, then let each take 2 ms."""
    trips: dict[str, list[float]] = {}
    for delay in (0.0, NETWORK_SECONDS):
        async with wire_to(server, delay=delay) as wire, AsyncExitStack() as stack:
            rows: dict[str, list[float]] = {}
            for one in await opened(server, stack, folder=wire.folder):
                ways: dict[str, Callable[[], Awaitable[object]]] = {
                    "new": lambda one=one: one.append(uuid4().hex),
                    "known": lambda one=one: one.append("known"),
                    "64 at once": lambda one=one: asyncio.gather(*(one.append(f"{n}") for n in range(64))),
                    "64 of one": lambda one=one: asyncio.gather(*(one.append("known") for _ in range(64))),
                }
                if not isinstance(one, LanggraphStore):
                    ways[f"last {LAST}"] = lambda one=one: one.last("known", LAST)
                figures: list[float] = []
                for way in ways.values():
                    for _ in range(4):  # connections are made, statements prepared
                        await way()
                    took: list[float] = []
                    for _ in range(3):
                        before, start = wire.round_trips, time.perf_counter()
                        await way()
                        elapsed = time.perf_counter() - start
                        took.append(elapsed * 1e6 if delay else float(wire.round_trips - before))
                    figures.append(min(took))
                rows[one.name] = figures
            title = f"microseconds with {2000 * delay:g} ms of network" if delay else "round trips"
            show(title, ["new", "known", "64 at once", "64 of one", f"last {LAST}"], rows)
            if not delay:
                trips = rows
                most = {"an append": max(rows[Ours.name][:2]), "2 round trips": 1.0}
                judge([Target("an append", "2 round trips", 2, at_most=True)], most)
    return {
        f"round trips of {what}": {name: f"{counts[place]:g}" for name, counts in trips.items()}
        for what, place in (("an add", 1), ("64 adds at once", 2))
    }


async def race_reads(server: Server) -> Rows:
    figures: dict[str, dict[str, str]] = {}
    async with AsyncExitStack() as stack:
        racers = [one for one in await opened(server, stack) if not isinstance(one, LanggraphStore)]
        for one in racers:
            for _ in range(10 * LAST):
                await one.append("known")
        for tasks in (1, 64):

            async def lap(one: Keeper, tasks: int = tasks) -> float:
                stop, done = time.perf_counter() + SLICE_SECONDS, 0

                async def read_on() -> None:
                    nonlocal done
                    while time.perf_counter() < stop:
                        assert len(await one.last("known", LAST)) == LAST
                        done += 1

                start = time.perf_counter()
                await asyncio.gather(*(read_on() for _ in range(tasks)))
                return done / (time.perf_counter() - start)

            laps = await in_turns(racers, lap, rounds=ROUNDS)
            rates = {one.name: median(laps[one]) for one in racers}
            rows = {name: (each, 1e6 * tasks / each) for name, each in rates.items()}
            show(f"the last {LAST}, {tasks} tasks", ["a second", "us each"], rows)
            figures[f"the last {LAST} messages, {tasks} task{'s' * (tasks > 1)}"] = {
                name: per_second(each) for name, each in rates.items()
            }
    return figures


async def race_remembering(server: Server) -> Rows:
    world = World(BATCH * 10 * (ROUNDS + 2), QUESTIONS, dim=DIM)
    copied = CopiedTables(world)
    async with AsyncExitStack() as stack:
        model = OurMemories(world)
        await model.open(stack, server.dsn(await server.fresh("remember_first")))
        for start in range(0, len(world.texts), BATCH):
            await model.remember(0, start, start + BATCH)
        racers: list[Rememberer] = [copied, *recallers(world, is_indexed=False)]
        for number, one in enumerate(racers):
            await one.open(stack, server.dsn(await server.fresh(f"remember_{number}")))
        await copied.take(model.dsn, BATCH)
        places = dict.fromkeys(racers, 0)

        async def lap(one: Rememberer) -> float:
            start = time.perf_counter()
            for _ in range(10):
                await one.remember(0, places[one], places[one] + BATCH)
                places[one] += BATCH
            return 10 * BATCH / (time.perf_counter() - start)

        laps = await in_turns(racers, lap, rounds=ROUNDS)
        rates = {one.name: median(laps[one]) for one in racers}
        show(f"remember, batches of {BATCH}", ["a second"], {name: (each,) for name, each in rates.items()})
        judge([Target(OurMemories.name, CopiedTables.name, 0.5)], rates)
        cells = {by_hand(name): per_second(each) for name, each in rates.items()}
        return {f"memories stored, {BATCH} at once": first(OurMemories.name, cells)}


async def race_recalls(server: Server) -> Rows:
    figures: dict[str, dict[str, str]] = {}
    for users, memories in ((1, 10_000), (1, 100_000), (1_000, 100)):
        world = World(users * memories, QUESTIONS, dim=DIM)
        is_indexed = users == 1
        async with AsyncExitStack() as stack:
            racers = recallers(world, is_indexed=is_indexed)
            for number, one in enumerate(racers):
                name = await server.fresh(f"recall_{number}")
                await one.open(stack, server.dsn(name))
                size = min(memories, 1_000)
                for start in range(0, users * memories, size):
                    await one.remember(start // memories, start, start + size)
                await one.finish()
                await server.run("VACUUM ANALYZE", database=name)
            for one in racers:  # what ours makes when it is first missed is made before the clock runs
                for question in world.questions[:5]:
                    await one.recall(question.about // memories, question)
            await until_indexed(server, is_wanted=is_indexed and memories > 10_000)
            of_whom = f"{users:,} users with {memories:,}" if users > 1 else f"{memories:,}"
            took = await compare_recalls(racers, world, memories, title=f"a recall among {of_whom} memories")
            figures[f"a recall among {of_whom} memories"] = {
                by_hand(name): duration(us / 1e6) for name, us in took.items()
            }
    return figures


async def until_indexed(server: Server, *, is_wanted: bool) -> None:
    query = "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid AND indisvalid WHERE relname ~ '_hnsw_'"
    while is_wanted and not await server.run(query, database="recall_0"):  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0.5)


def by_hand(name: str) -> str:
    """Return the column of a contestant: those who do by hand what suits the number of users share one."""
    return "pgvector and words by hand" if name.endswith("by hand") else name


async def compare_recalls(
    racers: Sequence[Rememberer], world: World, memories: int, *, title: str
) -> Mapping[str, float]:
    right: dict[str, int] = {}

    async def lap(one: Rememberer, tasks: int) -> float:
        asked, found = iter(world.questions), 0

        async def ask_on() -> None:
            nonlocal found
            for question in asked:
                ids = await one.recall(question.about // memories, question)
                found += f"{question.about:08}" in ids  # behind the await: others count, too

        start = time.perf_counter()
        await asyncio.gather(*(ask_on() for _ in range(tasks)))
        right[one.name] = found
        return (time.perf_counter() - start) / len(world.questions) * 1e6

    alone = await in_turns(racers, partial(lap, tasks=1), rounds=ROUNDS)
    crowd = await in_turns(racers, partial(lap, tasks=64), rounds=2)
    took = {one.name: median(alone[one]) for one in racers}
    rows = {one.name: (took[one.name], median(crowd[one]), float(right[one.name])) for one in racers}
    show(title, ["us, 1 task", "us each of 64", f"found of {len(world.questions)}"], rows)
    beside = next((one.name for one in racers if one.name.endswith("by hand")), "by hand")
    most = 1.3 if beside.startswith("HNSW") else 2
    bars = [Target(OurMemories.name, beside, most, at_most=True)]
    judge([*bars, Target(OurMemories.name, LanggraphMemories.name, 1, at_most=True)], took)
    return took


RACES: Mapping[str, Callable[[Server], Awaitable[Rows]]] = {
    "append": race_appends,
    "network": race_over_a_network,
    "read": race_reads,
    "remember": race_remembering,
    "recall": race_recalls,
}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[[], *RACES], help="only these", default=[])
    json_option(parser)
    asked = parser.parse_args()
    figures: dict[str, Mapping[str, str]] = {}
    with real_server() as server:
        ((fsync,), (version,)) = await server.run("SHOW fsync"), await server.run("SHOW server_version")
        print(f"PostgreSQL {version[0]}, fsync {fsync[0]}, load {os.getloadavg()[0]:.1f}")
        for name in asked.what or RACES:
            figures |= await RACES[name](server)
    write(asked.json, figures)


if __name__ == "__main__":
    asyncio.run(main())
