"""Vectors that come later: for every memory but the one that an embedder refuses."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import numpy as np

from chatmemory import EmbedderTag, Layer, LongTermMemory, LongTermMemoryService, ManagedRuntime, Namespace
from chatmemory.effect import Effect, Failure
from chatmemory.embedding.embedder import Matrix
from chatmemory.errors import EmbeddingError, GenericMemoryError
from chatmemory.longterm.memories import NewMemory
from chatmemory_layers import stacks

ALICE = Namespace("alice")
REFUSED = EmbeddingError("picky", "refused", "HTTP 413")


class PickyEmbedder:
    """Refuses whatever holds the word *disliked*; it is off until it is switched on."""

    model = "picky"
    similarity_threshold = 0.3
    disliked = "poison"
    is_on = False

    def unavailability(self) -> EmbeddingError | None:
        return None if self.is_on else EmbeddingError(self.model, "not_configured")

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        if any(self.disliked in text for text in texts):
            return Effect.fail(REFUSED)
        return Effect.succeed(np.ones((len(texts), 2), dtype=np.float32))


@asynccontextmanager
async def remembered(embedder: PickyEmbedder, count: int, *poisoned: int) -> AsyncGenerator[LongTermMemory]:
    """Remember *count* memories without vectors, and switch the embedder on."""
    stack = stacks.testing(embedder=Layer.succeed(EmbedderTag, embedder))
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        said = [NewMemory(f"memory {n}" + (" poison" if n in poisoned else "")) for n in range(count)]
        await memory.remember(ALICE, said).or_raise()
        embedder.is_on = True
        yield memory


async def test_a_text_that_is_refused_keeps_out_no_other_and_a_call_goes_on_where_another_stopped() -> None:
    async with remembered(PickyEmbedder(), 250, 0, 7, 8, 249) as memory:
        report = await memory.re_embed(ALICE).or_raise()
        assert (report.embedded, report.remaining, report.next) == (246, 4, None)
    async with remembered(PickyEmbedder(), 25) as memory:
        first = await memory.re_embed(ALICE, limit=10).or_raise()
        assert (first.embedded, first.remaining) == (10, 15)
        second = await memory.re_embed(ALICE, limit=100, after=first.next).or_raise()
        assert (second.embedded, second.remaining, second.next) == (15, 0, None)


async def test_an_embedder_that_cannot_embed_or_refuses_everything_fails_it() -> None:
    embedder = PickyEmbedder()
    async with remembered(embedder, 1) as memory:
        embedder.is_on = False
        off = EmbeddingError("picky", "not_configured")
        assert await memory.re_embed(ALICE) == Failure(GenericMemoryError(off))
        embedder.is_on, embedder.disliked = True, ""
        failure = (await memory.re_embed(ALICE)).failure()
        assert isinstance(failure, GenericMemoryError)
        assert isinstance(failure.reason, EmbeddingError)
        assert failure.reason.problem == "refused"
