"""However an endpoint for embeddings misbehaves, memories are kept and found; once it answers, they get their vectors."""

import asyncio
from typing import Any

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Context, ManagedRuntime
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.errors import EmbeddingProblem
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.memories import NewMemory
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory_layers import stacks
from tests.embeddings_endpoint import MISBEHAVIOURS, embeddings
from tests.for_each import for_each
from tests.http_server import HttpServer, Reply, http_server
from tests.patience import PATIENCE_SECONDS

USER = Namespace("王峰")
HALF_AN_HOUR = 1800.0


def stack(server: HttpServer, clock: TestClock) -> stacks.Stack:
    given: Any = {"base_url": server.url, "model": "small", "timeout_seconds": PATIENCE_SECONDS}
    endpoint = EmbeddingSettings(provider="openai_compatible", max_retries=0, **given)
    settings = Settings(memory=MemorySettings(embedding=endpoint, store=StoreSettings(backend="in_memory")))
    return stacks.configured(settings, clock=clock)


async def found(memory: LongTermMemory) -> tuple[list[str], str, Coverage]:
    recall = await memory.recall(USER, "他写 Python 吗").or_raise()
    return [hit.memory.content for hit in recall.hits], recall.mode, recall.coverage


@for_each(("reply", "problem"), MISBEHAVIOURS.values())
async def test_l18_a_memory_is_kept_and_found_by_its_words_and_gets_its_vector_half_an_hour_later(
    reply: Reply, problem: EmbeddingProblem
) -> None:
    clock = TestClock()
    async with (
        http_server(reply, embeddings([0.6, 0.8])) as server,
        ManagedRuntime(stack(server, clock)) as runtime,
    ):
        memory = await runtime.service(LongTermMemoryService)
        remember = memory.remember(USER, [NewMemory("我喜欢用 Python 写代码")])
        remembering = asyncio.ensure_future(remember.provide(Context.of(ClockTag, clock)).or_raise())
        if reply.misbehaviour == "hang":
            await server.asked.wait()
            await clock.advance(PATIENCE_SECONDS)
        report = await remembering
        assert (len(report.stored), report.unembedded) == (1, 1)
        assert problem.replace("_", " ") in str(report.reason)
        assert await found(memory) == (["我喜欢用 Python 写代码"], "lexical", Coverage(0, 1))
        assert len(server.requests) == 1, "the recall asked nobody"
        await clock.advance(HALF_AN_HOUR)
        assert (await memory.re_embed(USER).or_raise()).embedded == 1
        assert await found(memory) == (["我喜欢用 Python 写代码"], "hybrid", Coverage(1, 1))
