"""The embedder that runs sentence-transformers: a library of the same shape stands in for the real one."""

import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from chatmemory import Embedder, EmbedderTag, EmbeddingError
from chatmemory.effect import Effect, EffectFailed, Failure, Layer, ManagedRuntime
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.sentence_transformers import sentence_transformers

LIBRARY = """
import time

import numpy

made = []

class SentenceTransformer:
    def __init__(self, name):
        made.append(name)
        self.is_busy = False

    def encode(self, sentences, *, batch_size, show_progress_bar):
        assert type(sentences) is list and batch_size == 5 and not show_progress_bar
        if self.is_busy:
            raise RuntimeError("Already borrowed")
        self.is_busy = True
        time.sleep(0.01)  # lets the other threads in
        rows = numpy.array([[3.0 * len(text), 4.0 * len(text)] for text in sentences], dtype="float32")
        self.is_busy = False
        return rows
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    (tmp_path / "sentence_transformers.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    yield
    sys.modules.pop("sentence_transformers", None)


@asynccontextmanager
async def opened(model: str) -> AsyncGenerator[Embedder]:
    settings = EmbeddingSettings(provider="sentence_transformers", model=model, batch_size=5)
    async with ManagedRuntime(
        Layer.succeed(EmbeddingSettingsTag, settings) >> sentence_transformers
    ) as runtime:
        yield await runtime.service(EmbedderTag)


@pytest.mark.usefixtures("library")
async def test_the_model_is_read_with_the_first_text_and_its_rows_have_length_1() -> None:
    async with opened("all-MiniLM-L6-v2") as embedder:
        assert "sentence_transformers" not in sys.modules
        assert (embedder.model, embedder.unavailability()) == ("all-MiniLM-L6-v2", None)
        embed = embedder.embed(["你好", "hello"])
        for rows in await Effect.all([embed] * 8, concurrency=None).or_raise():
            np.testing.assert_allclose(rows, [[0.6, 0.8]] * 2, rtol=1e-6)
        assert (await embedder.embed([]).or_raise()).shape == (0, 0)
        assert sys.modules["sentence_transformers"].made == ["all-MiniLM-L6-v2"]


@pytest.mark.usefixtures("library")
async def test_without_a_model_there_are_no_vectors_and_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with opened("") as embedder:
        error = embedder.unavailability()
        assert error == EmbeddingError(
            "sentence_transformers", "not_configured", "memory.embedding.model is empty"
        )
        assert await embedder.embed(["你好"]) == Failure(error)
    assert "memory.embedding.model is empty" in caplog.text


async def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    with pytest.raises(EffectFailed, match=r"pip install '\.\[local\]'"):
        async with opened("all-MiniLM-L6-v2"):
            pytest.fail("it opened")
