"""What every embedder promises, wherever its vectors come from."""

import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings as hypothesis_settings, strategies as st

from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success
from chatmemory.embedding.embedder import Embedder, EmbedderTag, Matrix
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.local import hashed, static
from chatmemory_layers.embedding.none import none
from chatmemory_layers.embedding.openai_compatible import openai_compatible
from tests.http_server import Reply, Request, http_server
from tests.patience import PATIENCE_SECONDS
from tests.thorough import rounds

ENGLISH = "I like to write code in Python, it is short and easy to read."
CHINESE = "我喜欢用 Python 写代码，因为它简洁易读。"
MIXED = "Caroline said 你好 and 안녕하세요 and こんにちは, Привет, مرحبا"
TEXTS = (ENGLISH, CHINESE, MIXED, "하늘이 파랗다", "カタカナとひらがな", "Where do we meet?")
HOSTILE = {
    "empty": "",
    "blank": " \n\t\u3000",
    "an emoji": "😀",
    "NUL": "a\0b",
    "a lone surrogate": "a\ud800b",
    "controls": "\x01\x1b[31m\u202e\ufeff",
    "combining marks": "e" + "\u0301" * 5_000,
    "1 MB without a space": "x" * 1_000_000,
    "1 MB of Chinese": "记" * 1_000_000,
    "1 MB of words": "word " * 200_000,
    "what NFKC makes longer": "\ufdfa" * 10_000,
}


@asynccontextmanager
async def opened(layer: Layer[EmbedderTag, Any]) -> AsyncGenerator[Embedder]:
    async with ManagedRuntime(layer) as runtime:
        yield await runtime.service(EmbedderTag)


@asynccontextmanager
async def run_openai_compatible() -> AsyncGenerator[Embedder]:
    def answer(request: Request) -> Reply:
        numbers = [[len(text) + 1, zlib.crc32(text.encode()) % 1000, -1] for text in request.json["input"]]
        return Reply.json({"data": [{"index": place, "embedding": row} for place, row in enumerate(numbers)]})

    async with http_server(answer) as server:
        settings = EmbeddingSettings(base_url=server.url, model="small", batch_size=7)
        async with opened(Layer.succeed(EmbeddingSettingsTag, settings) >> openai_compatible) as embedder:
            yield embedder


GUARDED = (Layer.succeed(EmbeddingSettingsTag, EmbeddingSettings()) | hashed) >> guarded

Runs = Callable[[], AbstractAsyncContextManager[Embedder]]


OPENED = {
    "static": partial(opened, static),
    "hashed": partial(opened, hashed),
    "openai_compatible": run_openai_compatible,
    "guarded": partial(opened, GUARDED),
}


@pytest.fixture(params=OPENED.values(), ids=OPENED)
def runs(request: pytest.FixtureRequest) -> Runs:
    """Opened by each test itself: a runtime is left in the task that entered it, which a fixture cannot promise."""
    opens: Runs = request.param
    return opens


async def test_each_text_gets_a_row_of_finite_float32_numbers_of_length_1_in_its_order(runs: Runs) -> None:
    async with runs() as embedder:
        together = await embedder.embed(TEXTS * 30).or_raise()
        backwards = await embedder.embed(TEXTS[::-1]).or_raise()
        alone = [await embedder.embed([text]).or_raise() for text in TEXTS]
        many_at_once = await Effect.all([embedder.embed(TEXTS)] * 8, concurrency=None).or_raise()
        none = await embedder.embed(()).or_raise()
        assert embedder.unavailability() is None
        assert embedder.model.strip() == embedder.model != ""
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(together, np.vstack([*alone] * 30))
    for rows in (backwards[::-1], *many_at_once):
        np.testing.assert_array_equal(rows, together[: len(TEXTS)])
    assert (none.ndim, len(none)) == (2, 0)


async def test_any_text_is_a_row_of_length_1_or_0(runs: Runs) -> None:
    async with runs() as embedder:
        for name, text in HOSTILE.items():
            with anyio.fail_after(PATIENCE_SECONDS):
                rows = await embedder.embed([text, ENGLISH]).or_raise()
            assert np.isfinite(rows).all(), name
            lengths = [round(float(length), 5) for length in np.linalg.norm(rows, axis=1)]
            assert lengths in ([0.0, 1.0], [1.0, 1.0]), name


@given(texts=st.lists(st.text(), max_size=5))
@hypothesis_settings(
    max_examples=rounds(15, thorough=60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_texts_are_embedded_twice_alike(runs: Runs, texts: list[str]) -> None:
    async def twice() -> tuple[Matrix, Matrix]:
        async with runs() as embedder:
            return await embedder.embed(texts).or_raise(), await embedder.embed(texts).or_raise()

    first, second = anyio.run(twice)
    np.testing.assert_array_equal(first, second)
    assert len(first) == len(texts)
    assert all(round(float(length), 5) in {0.0, 1.0} for length in np.linalg.norm(first, axis=1))


async def test_a_cancelled_call_is_cancelled_and_the_next_one_succeeds(runs: Runs) -> None:
    async with runs() as embedder:
        embed = embedder.embed(TEXTS * 100)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await embed
            pytest.fail("it went on after it was cancelled")
        assert scope.cancelled_caught
        assert isinstance(await embed, Success)


async def test_the_embedder_that_is_none_says_so_and_fails() -> None:
    async with ManagedRuntime(none) as runtime:
        embedder = await runtime.service(EmbedderTag)
        error = embedder.unavailability()
        assert error is not None
        assert error.problem == "not_configured"
        assert await embedder.embed(TEXTS) == Failure(error)
