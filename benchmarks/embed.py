"""What the embedders without a network cost, beside a plain loop over their own arithmetic: ``python benchmarks/embed.py``.

Times are CPU time of the process, the least of 5 rounds, so that neighbours on the machine hardly show.  The plain
loop makes the vector of one text after the other in the same thread, with neither effects nor batches.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.bundled import vocabulary
from chatmemory_layers.embedding.composite import bundled_rows, composite_rows, hashed_rows
from chatmemory_layers.embedding.local import Vectors, hashed, static

ROUNDS = 5
TEXTS = 2_000
BATCH = 100
QUERIES = 500
TARGET = (
    0.9  # of the plain loop's speed: an effect and a worker thread should not cost more than batches save
)
MICROSECONDS = 1e6

Embeds = Callable[[Sequence[str]], Awaitable[object]]


def english(count: int) -> list[str]:
    """Return texts of the length of a chat turn, 130 characters, out of 5,000 words."""
    chance = random.Random(1)
    pieces = vocabulary()
    words = chance.sample([piece for piece in pieces if piece.isascii() and piece.isalpha()], 5_000)
    return [" ".join(chance.choices(words, k=20)) + "." for _ in range(count)]


def chinese(count: int) -> list[str]:
    """Return texts of 40 characters out of 2,000."""
    chance = random.Random(2)
    return ["".join(chr(0x4E00 + chance.randrange(2_000)) for _ in range(40)) + "。" for _ in range(count)]


async def in_batches(embed: Embeds, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), BATCH):
        await embed(texts[start : start + BATCH])


async def one_by_one(embed: Embeds, texts: Sequence[str]) -> None:
    for text in texts:
        await embed([text])


async def microseconds(work: Callable[[], Awaitable[object]], times: int) -> float:
    """Return the CPU time of one of the *times* texts that *work* embeds."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        await work()
        rounds.append((time.process_time() - start) / times * MICROSECONDS)
    return min(rounds)


def plain(function: Vectors) -> Embeds:
    async def embed(texts: Sequence[str]) -> None:
        for text in texts:
            function([text])

    return embed


async def compared(embedder: Embedder, guard: Embedder, function: Vectors, texts: Sequence[str]) -> str:
    """Return the figures of a line, once the rows have turned out to be those of the plain loop."""
    together = await embedder.embed(texts).or_raise()
    assert np.array_equal(together, np.vstack([function([text]) for text in texts]))
    batches = await microseconds(lambda: in_batches(embedder.embed, texts), len(texts))
    guarded_ = await microseconds(lambda: in_batches(guard.embed, texts), len(texts))
    loop = await microseconds(lambda: plain(function)(texts), len(texts))
    query = await microseconds(lambda: one_by_one(guard.embed, texts[:QUERIES]), QUERIES)
    speeds = "".join(f"{MICROSECONDS / each:>15,.0f}" for each in (batches, guarded_, loop))
    verdict = "ok" if loop / batches >= TARGET else "MISSED"
    return f"{speeds}{query:>12,.0f} us   {verdict} >= {TARGET:g} x the plain loop"


async def main() -> None:
    start = time.perf_counter()
    bundled_rows()
    print(f"reading the bundled rows: {(time.perf_counter() - start) * 1e3:.1f} ms\n")
    print(
        f"{'texts/s':<18}{f'batches of {BATCH}':>15}{'behind guard':>15}{'plain loop':>15}{'one query':>15}"
    )
    settings = Layer.succeed(EmbeddingSettingsTag, EmbeddingSettings())
    for name, layer, function in (("static", static, composite_rows), ("hashed", hashed, hashed_rows)):
        async with ManagedRuntime(layer) as open_, ManagedRuntime((settings | layer) >> guarded) as behind:
            embedder, guard = await open_.service(EmbedderTag), await behind.service(EmbedderTag)
            for language, texts in (("English", english(TEXTS)), ("Chinese", chinese(TEXTS))):
                print(f"{name} {language:<11}{await compared(embedder, guard, function, texts)}")


if __name__ == "__main__":
    asyncio.run(main())
