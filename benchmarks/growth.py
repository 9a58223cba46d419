"""What each operation costs as the store grows: ``python benchmarks/growth.py [COUNT ...] [--of WHAT] [--postgres] [--json FILE]``.

A store on SQLite holds 1,000, 100,000 and 1,000,000 messages of one conversation, conversations, memories, or turns of
past chats.  Each operation is done several times in each; the median of the processor time of the whole process, all
threads, is shown in microseconds, and how many times as much the largest store takes as the smallest.  Processor time,
because a busy machine changes it little; ``tests/unit/sqlite/test_flat_costs.py`` counts steps instead.

With ``--postgres`` the stores are on a real server, made for the run, that syncs each commit; figures are elapsed time, so
the machine has to be quiet.  Past chats are on SQLite alone.

*First recall* is that after opening, in a process that has recalled from another store before; what the modules cost
that are loaded once is shown by ``cold_recall.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3  # noqa: TID251  fills tables with more conversations than anybody would begin one by one
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from attrs import frozen
from contest import MICROSECONDS
from figures import duration, json_option, write
from memories import MODEL, NAMESPACE, World, given_vectors
from postgres_server import Server, real_server

from chatmemory import (
    ChatMemoryService,
    Embedding,
    LongTermMemoryService,
    ManagedRuntime,
    NewMemory,
    NewMessage,
)
from chatmemory_layers.stacks import Stack, embedded, postgres

COUNTS = (1_000, 100_000, 1_000_000)
DIM = 128  # a million vectors of 768 dimensions would be 3 GB
ROUNDS = 15
BATCH = 1_000
QUESTIONS = 200

FILL_CONVERSATIONS = """
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
INSERT INTO chat_conversation (conversation_id, version, next_seq, rewritten_at_version, summarized_place, message_count,
    view_count, view_tokens, open_count, deleted_count, created_at_us, updated_at_us)
SELECT printf('c%07d', n), 1, 2, 0, 0, 1, 1, 1, 1, 0, n * 100000, n * 100000 FROM number
"""

FILL_CONVERSATIONS_ON_POSTGRES = """
INSERT INTO conversation (conversation_id, version, next_seq, rewritten_at_version, message_count, view_count, view_tokens,
    open_count, deleted_count, created_at_us, updated_at_us, edition)
SELECT 'c' || lpad(n::text, 7, '0'), 1, 2, 0, 1, 1, 1, 1, 0, n * 100000, n * 100000, 1 FROM generate_series(1, {count}::bigint) AS n
"""

CREATED_INDEXES = "SELECT FROM pg_stat_progress_create_index"

Call: TypeAlias = Callable[[int], Awaitable[Any]]
"""Does an operation; its argument is another number each time."""


@frozen
class Kept:
    """A store on SQLite, in the file *path*."""

    path: Path
    clock: Callable[[], float] = time.process_time

    def stack(self, **parts: Any) -> Stack:
        return embedded(self.path, **parts)

    async def fill_conversations(self, count: int) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(FILL_CONVERSATIONS, (count,))

    async def settle(self) -> None:
        """Wait until nothing is left to do for what came before."""


@frozen
class KeptOnPostgres:
    """A new store in the database *name* of *server*."""

    server: Server
    name: str
    clock: Callable[[], float] = time.perf_counter

    def stack(self, **parts: Any) -> Stack:
        return postgres(self.server.dsn(self.name), **parts)

    async def fill_conversations(self, count: int) -> None:
        await self.server.run(FILL_CONVERSATIONS_ON_POSTGRES.format(count=count), database=self.name)

    async def settle(self) -> None:
        await asyncio.sleep(1)  # until the index that a search has missed is being created
        while await self.server.run(CREATED_INDEXES, database=self.name):  # noqa: ASYNC110  another process is waited for
            await asyncio.sleep(0.2)
        await self.server.run("VACUUM ANALYZE", "CHECKPOINT", database=self.name)


@frozen
class Costs:
    """Measures operations by *clock*, and keeps their figures, in microseconds."""

    figures: dict[str, float]
    clock: Callable[[], float]

    async def measure(self, name: str, call: Call, *, rounds: int = ROUNDS) -> None:
        times: list[float] = []
        for number in range(rounds):
            await asyncio.sleep(0.001)  # until no thread has anything left to do for the call before
            start = self.clock()
            await call(number)
            times.append(self.clock() - start)
        self.figures[name] = median(times[len(times) > 2 :]) * MICROSECONDS


async def messages(count: int, kept: Kept | KeptOnPostgres) -> Mapping[str, float]:
    costs = Costs({}, kept.clock)
    async with ManagedRuntime(kept.stack()) as runtime:
        chat = await runtime.service(ChatMemoryService)
        for start in range(0, count, BATCH):
            batch = [NewMessage("user", f"message {number}") for number in range(start, start + BATCH)]
            await chat.add_messages("c", batch).or_raise()
        await kept.settle()
        one = [NewMessage("user", "屋顶的事我们说到哪里了？")]
        await costs.measure("append", lambda _: chat.add_messages("c", one).or_raise())
        await costs.measure("the last 20", lambda _: chat.get_messages("c", limit=20).or_raise())
        await costs.measure("count", lambda _: chat.count("c").or_raise())
        await costs.measure(
            "a page in the middle", lambda _: chat.get_page("c", older_than=count // 2).or_raise()
        )
    await costs.measure("open and close", lambda _: opened(kept), rounds=5)
    return costs.figures


async def conversations(count: int, kept: Kept | KeptOnPostgres) -> Mapping[str, float]:
    costs = Costs({}, kept.clock)
    await opened(kept)
    await kept.fill_conversations(count)
    await kept.settle()
    async with ManagedRuntime(kept.stack()) as runtime:
        chat = await runtime.service(ChatMemoryService)
        listed = chat.list_conversations
        await costs.measure("the newest 20", lambda _: listed(limit=20, order="recent").or_raise())
        await costs.measure("20 by id", lambda _: listed(limit=20).or_raise())
        await costs.measure(
            "the newest that begin alike",
            lambda _: listed(limit=20, order="recent", prefix="c000001").or_raise(),
        )
        one = [NewMessage("user", "hello")]
        await costs.measure("begin one", lambda number: chat.add_messages(f"new {number}", one).or_raise())
        await costs.measure(
            "append, then the newest 20",
            lambda number: (
                chat.add_messages(f"new {number}", one)
                .bind(lambda _: listed(limit=20, order="recent"))
                .or_raise()
            ),
        )
    return costs.figures


async def memories(count: int, kept: Kept | KeptOnPostgres) -> Mapping[str, float]:
    costs = Costs({}, kept.clock)
    world = World(count, QUESTIONS, dim=DIM)
    texts = [question.text for question in world.questions]
    about = [world.questions[number].vector for number in range(QUESTIONS)]
    strange = [f"zzq{number} xxv{number}" for number in range(QUESTIONS)]
    embedder = given_vectors(world, dict(zip(strange, about, strict=True)))
    async with ManagedRuntime(kept.stack(embedder=embedder)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for start in range(0, count, BATCH):
            await memory.remember(NAMESPACE, world.memories(start, start + BATCH)).or_raise()
        await memory.recall(NAMESPACE, texts[0]).or_raise()
        await kept.settle()

    async def first(number: int) -> None:
        async with ManagedRuntime(kept.stack(embedder=embedder)) as runtime:
            memory = await runtime.service(LongTermMemoryService)
            start = kept.clock()
            await memory.recall(NAMESPACE, texts[number]).or_raise()
            firsts.append(kept.clock() - start)

    firsts: list[float] = []
    for number in range(5):
        await first(number)
    costs.figures["recall, first after opening"] = median(firsts) * MICROSECONDS
    async with ManagedRuntime(kept.stack(embedder=embedder)) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        asked = {"recall": texts, "recall without a shared word": strange}
        for name, questions in asked.items():
            for question in questions[:ROUNDS]:
                await memory.recall(NAMESPACE, question).or_raise()
            await costs.measure(
                name, lambda number, asked=questions: memory.recall(NAMESPACE, asked[number]).or_raise()
            )
        one = [NewMessage("user", "hello")]
        after: list[float] = []
        for number in range(ROUNDS):
            await chat.add_messages("c", one).or_raise()
            await asyncio.sleep(0.001)
            start = kept.clock()
            await memory.recall(NAMESPACE, texts[number]).or_raise()
            after.append(kept.clock() - start)
        costs.figures["recall after a message"] = median(after) * MICROSECONDS
        await costs.measure(
            "remember one",
            lambda number: memory.remember(
                NAMESPACE, [NewMemory(f"{texts[number]} {number}", embedding=Embedding(MODEL, about[number]))]
            ).or_raise(),
        )
        await costs.measure("list", lambda _: memory.list(NAMESPACE, limit=20).or_raise())
        await costs.measure(
            "list containing, a page", lambda _: memory.list(NAMESPACE, limit=20, containing="zzq").or_raise()
        )
    return costs.figures


async def turns(count: int, kept: Kept) -> Mapping[str, float]:
    from past_search import fill, queries

    from chatmemory.effect.services.clock import SystemClock
    from chatmemory.pastchats.finding.hybrid_rank import HybridRanking
    from chatmemory.pastchats.finding.search import PromptSearching
    from chatmemory.settings.past_chats_settings import PastChatsSettings
    from chatmemory_layers.embedding.plain_rows import PlainStatic
    from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
    from chatmemory_layers.sqlite.prompts.prompt_store import connect_reader, connect_writer

    costs = Costs({}, kept.clock)
    settings = PastChatsSettings(path=str(kept.path), use_sqlite_vec=False)
    with closing(connect_writer(settings)) as connection:
        fill(connection, count)
    with closing(connect_reader(settings)) as connection:
        repository = SqlitePromptRepository(connection, settings)
        search = PromptSearching(repository, HybridRanking(), PlainStatic(), SystemClock()).search
        asked = queries()

        async def look(number: int) -> None:
            search(asked[number % len(asked)]).run_sync().unwrap()

        await costs.measure("search", look)
    return costs.figures


async def opened(kept: Kept | KeptOnPostgres) -> None:
    async with ManagedRuntime(kept.stack()) as runtime:
        await runtime.service(ChatMemoryService)


SUBJECTS: Mapping[str, Callable[[int, Any], Awaitable[Mapping[str, float]]]] = {
    "messages": messages,
    "conversations": conversations,
    "memories": memories,
    "turns": turns,
}


def show(subject: str, found: Mapping[int, Mapping[str, float]], *, of: str) -> None:
    counts = [*found]
    print(f"\n{subject}: microseconds {of}", flush=True)
    print(" " * 32 + "".join(f"{count:>12,}" for count in counts) + f"{'factor':>10}")
    for name in found[counts[0]]:
        figures = [found[count][name] for count in counts]
        factor = figures[-1] / figures[0]
        print(f"  {name:<30}" + "".join(f"{figure:>12,.0f}" for figure in figures) + f"{factor:>10.1f}")


def cells_of(subject: str, found: Mapping[int, Mapping[str, float]]) -> dict[str, Mapping[str, str]]:
    """Return the rows of a table."""
    *_, largest = found
    smallest = next(iter(found))
    return {
        f"{subject}: {name}": {
            **{f"of {count:,}": duration(figures[name] / MICROSECONDS) for count, figures in found.items()},
            "factor": f"{found[largest][name] / found[smallest][name]:.1f}",
        }
        for name in found[smallest]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, help="how many; default: 1000 100000 1000000")
    parser.add_argument("--of", choices=[*SUBJECTS], help="only of these")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of the run's own")
    json_option(parser)
    arguments = parser.parse_args()
    counts = arguments.counts or COUNTS
    wanted = [subject for subject in SUBJECTS if arguments.of in {None, subject}]
    if arguments.postgres:
        wanted = [subject for subject in wanted if subject != "turns"]
        with real_server() as server:
            for subject in wanted:
                on_postgres = {count: asyncio.run(measured(subject, count, server)) for count in counts}
                show(subject, on_postgres, of="elapsed")
        return
    rows: dict[str, Mapping[str, str]] = {}
    for subject in wanted:
        found = {count: asyncio.run(measured(subject, count)) for count in counts}
        show(subject, found, of="of processor time")
        rows |= cells_of(subject, found)
    write(arguments.json, rows)


async def measured(subject: str, count: int, server: Server | None = None) -> Mapping[str, float]:
    """Fill a new store with *count* of *subject*, on SQLite or on *server*, and measure."""
    if server is not None:
        return await SUBJECTS[subject](count, KeptOnPostgres(server, await server.fresh("growth")))
    with tempfile.TemporaryDirectory() as folder:
        return await SUBJECTS[subject](count, Kept(Path(folder) / "store.db"))


if __name__ == "__main__":
    main()
