"""How fast memories are stored and found beside LangGraph's stores and mem0, in one run:

    python benchmarks/memory_contest.py [COUNT ...] [--budget SECONDS] [--json FILE]

All get the same texts and vectors, made up in ``memories.py`` with a fixed seed, and sync each commit where SQLite is
below them (``synchronous=FULL``, write-ahead log).  For each COUNT they begin anew and fill one namespace batch by batch, the last
hundred one by one; then every question is put to each in turn.  Beside the namespace lie decoys of another user and of
another application, with the very vectors of the questions: whoever answers with one is out, and so is whoever does
not find the memory that a question is about.  Whoever has spent the budget on storing stops there.

Peers find by vector alone, chatmemory by words as well; so it runs a second time with words that weigh nothing, and
there the nearest that it finds can be counted.  Compare ratios, and on a quiet machine: on a busy one those who hand
work to a thread, as chatmemory does, wait longer than those who block everybody.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from attrs import Factory, define
from contest import MICROSECONDS, Target, durable, in_turns, judge, percentile, show
from figures import Rows, duration, first, json_option, write
from memories import DIM, MODEL, NAMESPACE, Question, World
from memory_contestants import Contestant, GivenLists, Ours, OursByVector, langgraph, mem0, versions

from chatmemory import Embedding, Namespace, NewMemory

COUNTS = (1_000, 10_000, 100_000)
BATCH = 100
QUESTIONS = 50
LIMIT = 10
BUDGET_SECONDS = 300
ELSEWHERE = (Namespace("bob", NAMESPACE.app), Namespace(NAMESPACE.user, "elsewhere"))


@define(eq=False)
class Racer:
    """A contestant, and the seconds that its calls have taken."""

    contestant: Contestant
    stored: int = 0
    batches: list[float] = Factory(list[float])
    singles: list[float] = Factory(list[float])
    searches: list[float] = Factory(list[float])
    nearest_found: int = 0

    @property
    def name(self) -> str:
        return self.contestant.name

    @property
    def spent(self) -> float:
        return sum(self.batches) + sum(self.singles)

    async def store(self, memories: Sequence[NewMemory]) -> None:
        """Store a batch, or a single one."""
        start = time.perf_counter()
        await self.contestant.put(NAMESPACE, memories)
        seconds = time.perf_counter() - start
        (self.batches if len(memories) > 1 else self.singles).append(seconds)
        self.stored += len(memories)

    async def answer(self, world: World, nearest: Sequence[frozenset[str]]) -> None:
        """Take the question that follows the last one; the answer is looked at."""
        number = len(self.searches) % QUESTIONS
        question = world.questions[number]
        start = time.perf_counter()
        found = await self.contestant.search(NAMESPACE, question, LIMIT)
        self.searches.append(time.perf_counter() - start)
        assert world.texts[question.about] in found, f"{self.name} missed {question.about}"
        assert question.text not in found, f"{self.name} tells what others have stored"
        if len(self.searches) > 1:  # the first question comes again
            self.nearest_found += len(nearest[number].intersection(found))


def nearest_to(question: Question, world: World) -> frozenset[str]:
    """Return the texts of *world* next to *question*, by comparing all vectors."""
    best = np.argpartition(-(world.vectors @ question.vector), LIMIT)[:LIMIT]
    return frozenset(world.texts[number] for number in best)


async def store_decoys(racers: Sequence[Racer], questions: Sequence[Question]) -> None:
    """Store, for others, what lies nearer to each question than anything of the namespace."""
    for number, question in enumerate(questions):
        namespace = ELSEWHERE[number % len(ELSEWHERE)]
        decoy = NewMemory(question.text, id=f"decoy {number}", embedding=Embedding(MODEL, question.vector))
        for racer in racers:
            await racer.contestant.put(namespace, [decoy])


async def store_all(racers: Sequence[Racer], world: World, given: GivenLists, *, budget: float) -> None:
    """Store the memories of *world* in turns, while a racer has not spent its *budget*, in seconds."""
    count = len(world.texts)
    batches = [(start, start + BATCH) for start in range(0, count - BATCH, BATCH)]
    singles = [(number, number + 1) for number in range(count - BATCH, count)]
    for start, stop in batches + singles:
        memories = world.memories(start, stop)
        given.learn(memories)
        for racer in random.sample(racers, len(racers)):
            if racer.stored == start and racer.spent < budget:
                await racer.store(memories)
    for racer in racers:
        if racer.stored < count:
            print(f"  {racer.name} has stored {racer.stored:,} of {count:,} in {racer.spent:.0f} s and stops")


async def contest(kinds: Sequence[type[Contestant]], count: int, *, budget: float) -> Rows:
    """Fill a store of each kind with *count* memories, search them, and show what came of it."""
    world = World(count, QUESTIONS)
    given = GivenLists(world.questions)
    racers = [Racer(kind()) for kind in kinds]
    with tempfile.TemporaryDirectory() as folder:
        for racer in racers:
            await racer.contestant.open(Path(folder), world, given)
        await store_decoys(racers, world.questions)
        await store_all(racers, world, given, budget=budget)
        finished = [racer for racer in racers if racer.stored == count]
        nearest = [nearest_to(question, world) for question in world.questions]
        await in_turns(finished, lambda racer: racer.answer(world, nearest), rounds=QUESTIONS)
        for racer in racers:
            await racer.contestant.close()
    columns = ["median us", "p95 us"]
    compare(
        f"a batch of {BATCH} memories, on the way to {count:,}",
        columns,
        {racer.name: quantiles(racer.batches) for racer in racers},
    )
    compare(
        f"one memory, beside {count:,}",
        columns,
        {racer.name: quantiles(racer.singles) for racer in finished},
    )
    compare(
        f"the best {LIMIT} of {count:,}",
        [*columns, "first us", f"of {QUESTIONS * LIMIT} nearest"],
        {
            racer.name: (
                *quantiles(racer.searches[1:]),
                racer.searches[0] * MICROSECONDS,
                racer.nearest_found,
            )
            for racer in finished
        },
    )
    best = {racer.name: duration(median(racer.searches[1:])) for racer in finished}
    batches = {racer.name: duration(median(racer.batches)) for racer in racers}
    return {
        f"the best {LIMIT} of {count:,}": first(Ours.name, best),
        f"{BATCH} memories stored at once, on the way to {count:,}": first(Ours.name, batches),
    }


def quantiles(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the median and what one in twenty exceeds, in microseconds."""
    return median(seconds) * MICROSECONDS, percentile(seconds, 0.95) * MICROSECONDS


def compare(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[float]]) -> None:
    """Show *rows* and judge by their first column: chatmemory has to be faster than every peer."""
    show(title, columns, rows)
    ours = (Ours.name, OursByVector.name)
    targets = [Target(Ours.name, name, 1, at_most=True) for name in rows if name not in ours]
    judge(targets, {name: first for name, (first, *_) in rows.items()})


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument(
        "counts", nargs="*", type=int, default=COUNTS, metavar="COUNT", help="hundreds, 200 at least"
    )
    arguments.add_argument("--budget", type=float, default=BUDGET_SECONDS, metavar="SECONDS")
    json_option(arguments)
    given = arguments.parse_args()
    print(f"vectors of {DIM} dimensions; {versions()}")
    with tempfile.TemporaryDirectory() as folder, durable():
        kinds: list[type[Contestant]] = [Ours, OursByVector, *langgraph(), *mem0(Path(folder))]
        rows: dict[str, Mapping[str, str]] = {}
        for count in given.counts:
            rows |= await contest(kinds, count, budget=given.budget)
    write(given.json, {**rows, "an answer to a store means": {kind.name: kind.durability for kind in kinds}})


if __name__ == "__main__":
    asyncio.run(main())
