"""Vectors that come later: for every memory but the one that an embedder refuses."""

from collections.abc import AsyncGenerator, Sequence

import numpy as np
import pytest

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


@pytest.fixture
def embedder() -> PickyEmbedder:
    return PickyEmbedder()


@pytest.fixture
async def memory(embedder: PickyEmbedder) -> AsyncGenerator[LongTermMemory]:
    stack = stacks.testing(embedder=Layer.succeed(EmbedderTag, embedder))
    async with ManagedRuntime(stack) as runtime:
        yield await runtime.service(LongTermMemoryService)


async def remember(memory: LongTermMemory, count: int, *poisoned: int) -> None:
    said = [NewMemory(f"memory {n}" + (" poison" if n in poisoned else "")) for n in range(count)]
    await memory.remember(ALICE, said).or_raise()


async def test_a_text_that_is_refused_keeps_out_no_other(
    memory: LongTermMemory, embedder: PickyEmbedder
) -> None:
    await remember(memory, 250, 0, 7, 8, 249)
    embedder.is_on = True
    report = await memory.re_embed(ALICE).or_raise()
    assert (report.embedded, report.remaining, report.next) == (246, 4, None)


async def test_it_goes_on_where_it_stopped(memory: LongTermMemory, embedder: PickyEmbedder) -> None:
    await remember(memory, 25)
    embedder.is_on = True
    first = await memory.re_embed(ALICE, limit=10).or_raise()
    assert (first.embedded, first.remaining) == (10, 15)
    second = await memory.re_embed(ALICE, limit=100, after=first.next).or_raise()
    assert (second.embedded, second.remaining, second.next) == (15, 0, None)


async def test_an_embedder_that_cannot_embed_fails_it(memory: LongTermMemory) -> None:
    await remember(memory, 1)
    off = EmbeddingError("picky", "not_configured")
    assert await memory.re_embed(ALICE) == Failure(GenericMemoryError(off))


async def test_an_embedder_that_refuses_everything_fails_it(
    memory: LongTermMemory, embedder: PickyEmbedder
) -> None:
    await remember(memory, 1)
    embedder.is_on = True
    embedder.disliked = ""
    failure = (await memory.re_embed(ALICE)).failure()
    assert isinstance(failure, GenericMemoryError)
    assert isinstance(failure.reason, EmbeddingError)
    assert failure.reason.problem == "refused"
