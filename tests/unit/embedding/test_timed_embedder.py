"""An embedder that hangs costs its time once, and never a memory."""

from collections.abc import Sequence

import anyio
import numpy as np
from attrs import define

from chatmemory import LongTermMemoryService, ManagedRuntime, Namespace, NewMemory
from chatmemory.effect import Effect, Failure, Layer, Outcome, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.embedding.embedder import EmbedderTag, Matrix
from chatmemory.embedding.timed_embedder import TimedEmbedder
from chatmemory.errors import EmbeddingError
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory_layers import stacks
from tests.for_each import for_each

MEI = Namespace("小梅")
SECONDS = 20.0


@define
class Slow:
    """Takes *seconds* of the clock for any number of texts."""

    clock: TestClock
    seconds: float
    asked: int = 0
    cancelled: int = 0
    model: str = "slow"
    similarity_threshold: float = 0.3

    def unavailability(self) -> EmbeddingError | None:
        return None

    def embed(self, texts: Sequence[str]) -> Effect[Matrix, EmbeddingError]:
        async def answer() -> Outcome[Matrix, EmbeddingError]:
            self.asked += 1
            try:
                await self.clock.sleep(self.seconds)
            except anyio.get_cancelled_exc_class():
                self.cancelled += 1
                raise
            return Success(np.ones((len(texts), 2), dtype=np.float32))

        return Effect.from_outcome(answer)


async def embedded_after(embedder: Slow, seconds: float, texts: int) -> Outcome[Matrix, EmbeddingError]:
    """Embed *texts* texts while the clock goes on by *seconds*."""
    outcomes: list[Outcome[Matrix, EmbeddingError]] = []

    async def embed() -> None:
        timed = TimedEmbedder(embedder, SECONDS, batch_size=2)
        outcomes.append(await Layer.succeed(ClockTag, embedder.clock).provide_to(timed.embed(["x"] * texts)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embed)
        await anyio.wait_all_tasks_blocked()
        await embedder.clock.advance(seconds)
    return outcomes[0]


@for_each(("texts", "seconds"), [(0, 19), (1, 19), (2, 19), (3, 39), (6, 59)])
async def test_an_answer_in_time_is_the_answer(texts: int, seconds: float) -> None:
    embedder = Slow(TestClock(), seconds)
    assert len((await embedded_after(embedder, seconds, texts)).unwrap()) == texts


@for_each(("texts", "longest"), [(0, 20), (2, 20), (3, 40), (6, 60)])
async def test_a_later_one_is_a_timeout_and_no_longer_waited_for(texts: int, longest: float) -> None:
    embedder = Slow(TestClock(), longest + 1)
    outcome = await embedded_after(embedder, longest, texts)
    assert outcome == Failure(EmbeddingError("slow", "timeout", f"no answer within {longest:g} s"))
    assert embedder.cancelled == 1


async def test_an_embedder_that_hangs_keeps_no_memory_from_being_stored_and_found() -> None:
    embedder = Slow(TestClock(), 1)  # of a clock that stands still
    settings = Settings(
        memory=MemorySettings(
            store=StoreSettings(backend="in_memory"), embedding=EmbeddingSettings(timeout_seconds=0.1)
        )
    )
    stack = stacks.configured(settings, embedder=Layer.succeed(EmbedderTag, embedder))
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        report = await memory.remember(MEI, [NewMemory("I like tea")]).or_raise()
        assert report.unembedded == 1
        assert "timeout" in str(report.reason)
        recalled = await memory.recall(MEI, "tea").or_raise()
        assert [hit.memory.content for hit in recalled.hits] == ["I like tea"]
        assert (recalled.mode, embedder.asked) == ("lexical", 1)
