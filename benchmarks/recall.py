"""How fast memories are recalled among many: ``python benchmarks/recall.py [COUNT] [--json FILE]``.

Beside chatmemory stands the recipe alone, by hand over ``sqlite3`` and numpy in a file of its own: words by FTS5, the bm25
of the newest matches only, vectors by a bit per dimension, the best of them compared exactly, both added up.  Everything
is warm.  Whoever misses more than a few of the memories that the questions lie next to is out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3  # noqa: TID251  what chatmemory is compared with
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import ClassVar, Protocol

import numpy as np
from contest import MICROSECONDS, Target, in_turns, judge, show
from figures import duration, json_option, write
from memories import DIM, NAMESPACE, Question, World, given_vectors

from chatmemory import LongTermMemory, LongTermMemoryService, ManagedRuntime
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory.text.search_terms import query_terms
from chatmemory_layers.stacks import embedded

ROUNDS = 7
QUESTIONS = 50
COUNT = 100_000
LIMIT = 5
FOUND = 0.9  # of the questions; others may score better by their words
BATCH = 1000

RANKED = 2000  # matches by word, the newest
CANDIDATES = 200  # of each kind
COMPARED = 400  # vectors

CREATE = """
CREATE TABLE memory (id INTEGER PRIMARY KEY, content TEXT NOT NULL, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE memory_fts USING fts5 (terms, content='', tokenize='ascii');
"""
SELECT_WORDS = """
SELECT id, best FROM (
    SELECT rowid AS id, -bm25(memory_fts) AS best FROM memory_fts
    WHERE memory_fts MATCH :match ORDER BY rowid DESC LIMIT :ranked
) ORDER BY best DESC LIMIT :candidates
"""
SELECT_VECTORS = "SELECT id, vector FROM memory WHERE id IN (SELECT value FROM json_each(:ids))"
SELECT_CONTENTS = "SELECT id, content FROM memory WHERE id IN (SELECT value FROM json_each(:ids))"


class Recaller(Protocol):
    """A way to recall."""

    name: ClassVar[str]

    async def recall(self, question: Question) -> Sequence[int]:
        """Return the numbers of the best memories, best first."""
        ...


class Ours:
    """chatmemory, as agents call it."""

    name: ClassVar[str] = "chatmemory"

    def __init__(self, memory: LongTermMemory) -> None:
        self.memory = memory

    async def load(self, world: World) -> None:
        for start in range(0, len(world.texts), BATCH):
            await self.memory.remember(NAMESPACE, world.memories(start, start + BATCH)).or_raise()

    async def recall(self, question: Question) -> Sequence[int]:
        found = await self.memory.recall(NAMESPACE, question.text, limit=LIMIT).or_raise()
        return [int(hit.memory.id) for hit in found.hits]


class Raw:
    """The recipe and nothing else: no namespace, no filters, no decay, no reasons."""

    name: ClassVar[str] = "limit: the recipe by hand"

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path)
        self.connection.executescript("PRAGMA journal_mode = WAL; PRAGMA cache_size = -16384;" + CREATE)

    def load(self, world: World) -> None:
        for number, (text, vector) in enumerate(zip(world.texts, world.vectors, strict=True)):
            self.connection.execute("INSERT INTO memory VALUES (?, ?, ?)", (number, text, vector.tobytes()))
            self.connection.execute(
                "INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", (number, memory_terms(text))
            )
        self.connection.commit()
        self.mean = world.vectors.mean(axis=0)
        bits = np.packbits(world.vectors > self.mean, axis=1)
        self.codes = np.ascontiguousarray(bits.view(np.uint64).T)

    async def recall(self, question: Question) -> Sequence[int]:
        execute = self.connection.execute
        match = " OR ".join(f'"{term}"' for term in query_terms(question.text))
        wanted = {"match": match, "ranked": RANKED, "candidates": CANDIDATES}
        lexical = dict(execute(SELECT_WORDS, wanted).fetchall())
        query = np.packbits(question.vector > self.mean).view(np.uint64)
        distances = np.zeros(self.codes.shape[1], np.uint16)
        for words, word in zip(self.codes, query, strict=True):
            distances += np.bitwise_count(words ^ word)
        nearest = np.argpartition(distances, COMPARED)[:COMPARED].tolist()
        rows = execute(SELECT_VECTORS, {"ids": json.dumps(nearest)}).fetchall()
        matrix = np.frombuffer(b"".join([blob for _, blob in rows]), np.float32).reshape(-1, DIM)
        dense = dict(zip([id_ for id_, _ in rows], (matrix @ question.vector).tolist(), strict=True))
        best = max(lexical.values(), default=1.0)
        score = {
            id_: 0.5 * lexical.get(id_, 0.0) / best + 0.5 * dense.get(id_, 0.0) for id_ in {*lexical, *dense}
        }
        top = sorted(score, key=lambda id_: -score[id_])[:LIMIT]
        found = dict(execute(SELECT_CONTENTS, {"ids": json.dumps(top)}).fetchall())
        assert len(found) == LIMIT
        return top


async def ask_all(questions: Sequence[Question], contestant: Recaller) -> float:
    """Ask everything; return the microseconds of a question."""
    found = 0
    start = time.perf_counter()
    for question in questions:
        found += question.about in await contestant.recall(question)
    microseconds = (time.perf_counter() - start) / len(questions) * MICROSECONDS
    assert found >= FOUND * len(questions), f"{contestant.name} found {found} of {len(questions)}"
    return microseconds


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    json_option(parser)
    arguments = parser.parse_args()
    world = World(arguments.count, QUESTIONS)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runtime = ManagedRuntime(embedded(folder / "ours.db", embedder=given_vectors(world)))
        service = await (await stack.enter_async_context(runtime)).service(LongTermMemoryService)
        ours, raw = Ours(service), Raw(folder / "raw.db")
        await ours.load(world)
        raw.load(world)
        laps = await in_turns(
            [raw, ours], lambda contestant: ask_all(world.questions, contestant), rounds=ROUNDS
        )
    times = {contestant.name: median(lap) for contestant, lap in laps.items()}
    show(f"recall of {LIMIT} among {len(world.texts):,}", ["us"], {name: [us] for name, us in times.items()})
    judge([Target(Ours.name, Raw.name, 2, at_most=True)], times)
    ours_us, raw_us = times[Ours.name], times[Raw.name]
    cells = {"chatmemory": duration(ours_us / MICROSECONDS), "by hand": duration(raw_us / MICROSECONDS)}
    write(arguments.json, {f"a recall among {len(world.texts):,} memories": cells})


if __name__ == "__main__":
    asyncio.run(main())
