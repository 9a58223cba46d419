"""The embedder over HTTP: what it asks a real server, and what it reads in the answer."""

import logging
import ssl
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import numpy as np
import pytest

from chatmemory import (
    EffectFailed,
    Embedder,
    EmbedderTag,
    Failure,
    Layer,
    ManagedRuntime,
    Matrix,
    Outcome,
)
from chatmemory.errors import EmbeddingError, EmbeddingProblem
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.openai_compatible import (
    LONGEST_ANSWER_BYTES,
    openai_compatible,
    read_embeddings,
)
from tests.embeddings_endpoint import MISBEHAVIOURS, data, embeddings, in_base64
from tests.for_each import for_each
from tests.http_server import HttpServer, Reply, http_server
from tests.patience import PATIENCE_SECONDS

KEY = "sk-very-secret-0123456789"
TEXTS = ("我喜欢用 Python 写代码", "I travel to Lisbon in June.")
VECTORS = ([3.0, 4.0], [0.0, -2.0])
ROWS = [[0.6, 0.8], [0.0, -1.0]]
GOOD = embeddings(*VECTORS)


@asynccontextmanager
async def opened(settings: EmbeddingSettings) -> AsyncGenerator[Embedder]:
    given = Layer.succeed(EmbeddingSettingsTag, settings)
    async with ManagedRuntime(given >> openai_compatible) as runtime:
        yield await runtime.service(EmbedderTag)


def settings_for(
    server: HttpServer, *, batch_size: int = 64, timeout_seconds: float = PATIENCE_SECONDS
) -> EmbeddingSettings:
    return EmbeddingSettings(
        provider="openai_compatible",
        base_url=server.url,
        api_key=KEY,
        model="small",
        batch_size=batch_size,
        max_retries=0,
        timeout_seconds=timeout_seconds,
    )


async def ask(
    server: HttpServer, *, texts: Sequence[str] = TEXTS, **settings: Any
) -> Outcome[Matrix, EmbeddingError]:
    async with opened(settings_for(server, **settings)) as embedder:
        return await embedder.embed(texts)


async def failure_of(*replies: Reply, batch_size: int = 64) -> EmbeddingError:
    async with http_server(*replies) as server:
        outcome = await ask(server, batch_size=batch_size)
    assert isinstance(outcome, Failure), outcome
    return outcome.failure()


async def test_the_request_names_the_model_the_texts_and_the_key_and_wants_floats() -> None:
    async with http_server(GOOD) as server:
        rows = (await ask(server)).unwrap()
        (request,) = server.requests
    np.testing.assert_allclose(rows, ROWS, rtol=1e-6)
    assert rows.dtype == np.float32
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json == {"model": "small", "input": list(TEXTS), "encoding_format": "float"}


async def test_texts_are_sent_in_batches_and_come_back_in_order() -> None:
    replies = (embeddings([1, 0], [0, 1]), embeddings([-1, 0], [0, -1]), embeddings([1, 0]))
    async with http_server(*replies) as server:
        rows = (await ask(server, texts=("一", "二", "三", "四", "五"), batch_size=2)).unwrap()
        assert [request.json["input"] for request in server.requests] == [["一", "二"], ["三", "四"], ["五"]]
        assert (await ask(server, texts=())).unwrap().shape == (0, 0)
        assert len(server.requests) == 3, "no texts ask nobody"
    np.testing.assert_array_equal(rows, [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])


@for_each("blank", ["", " \u3000\n", " " * 10_000 + "too far away"])
async def test_a_blank_text_has_a_row_of_zeros_and_is_not_what_is_sent(blank: str) -> None:
    async with http_server(GOOD) as server:
        rows = (await ask(server, texts=("好", blank))).unwrap()
        assert server.requests[0].json["input"] == ["好", "-"]
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)


async def test_a_long_text_is_sent_by_its_beginning_and_a_lone_surrogate_as_a_replacement() -> None:
    async with http_server(GOOD) as server:
        await ask(server, texts=("中" * 1_000_000, "a\ud800b"))
        assert server.requests[0].json["input"] == ["中" * 6_000, "a\ufffdb"]


# --- The answer; odd rows: test_unit_vectors.py


@for_each(("reply", "problem"), MISBEHAVIOURS.values())
async def test_an_endpoint_that_misbehaves_is_a_typed_failure(
    reply: Reply, problem: EmbeddingProblem
) -> None:
    seconds = 0.1 if reply.misbehaviour == "hang" else PATIENCE_SECONDS
    async with http_server(reply) as server:
        outcome = await ask(server, texts=TEXTS[:1], timeout_seconds=seconds)
    assert outcome.failure().problem == problem


@for_each(
    "said",
    [
        data(*VECTORS),
        data(*map(in_base64, VECTORS)),
        data(VECTORS[0], in_base64(VECTORS[1])),
        data(*VECTORS)[::-1],
        [{"embedding": vector} for vector in VECTORS],
    ],
)
def test_vectors_are_read_in_any_form_and_order(said: list[object]) -> None:
    rows = read_embeddings("small", {"data": said}, count=2, dim=None).unwrap()
    np.testing.assert_allclose(rows, ROWS, rtol=1e-6)


ODD: Final[list[tuple[object, EmbeddingProblem]]] = [
    (data(*VECTORS, [1.0, 1.0]), "wrong_count"),
    (data([1.0, None], [1.0, 2.0]), "not_finite"),
    (data(in_base64([float("nan"), 1.0]), [1.0, 2.0]), "not_finite"),
    (data([1.0, 2.0], [1.0, 2.0, 3.0]), "wrong_dimension"),
    ({"0": [1.0]}, "malformed"),
    (list(VECTORS), "malformed"),
    ([{"index": 0}, {"index": 1}], "malformed"),
    ([{"index": 1, "embedding": each} for each in VECTORS], "malformed"),
    ([{"index": "0", "embedding": each} for each in VECTORS], "malformed"),
    (data("no base64", [1.0, 2.0]), "malformed"),
    (data("AAAA", "AAAA"), "malformed"),
    (data("AAAAAAAA!AAAAAAAA", in_base64([1.0, 2.0, 3.0])), "malformed"),
    (data("中文", "中文"), "malformed"),
    (data(7, 8), "malformed"),
]


@for_each(("said", "problem"), ODD)
def test_odd_vectors_are_a_typed_failure(said: object, problem: EmbeddingProblem) -> None:
    error = read_embeddings("small", {"data": said}, count=2, dim=None).failure()
    assert (error.model, error.problem) == ("small", problem)


async def test_a_length_that_changes_between_two_answers_is_refused() -> None:
    error = await failure_of(embeddings([1, 0]), embeddings([1, 0, 0]), batch_size=1)
    assert error == EmbeddingError("small", "wrong_dimension", "3 numbers instead of 2")


async def test_the_longest_answer_is_one_of_so_many_texts() -> None:
    long = Reply(b" " * (2 * LONGEST_ANSWER_BYTES + 1))
    assert (await failure_of(long, batch_size=2)).problem == "oversized"
    assert (await failure_of(long, batch_size=3)).problem == "malformed"


async def test_the_failure_of_an_endpoint_is_told_without_the_key_and_without_what_is_embedded(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    said = {"message": f"Incorrect API key: {KEY}, for {TEXTS[1]}", "code": "invalid_api_key"}
    error = await failure_of(Reply.json({"error": said}, status=429, headers={"Retry-After": "3600"}))
    assert error == EmbeddingError("small", "rate_limited", "HTTP 429, invalid_api_key", 3600.0)
    async with opened(EmbeddingSettings(api_key=KEY, model="small")) as embedder:
        shown = f"{error!r} {error} {embedder!r} {caplog.text}"
    assert KEY not in f"{shown} {error.cause!r}"
    assert "Incorrect API key" in str(error.cause)
    assert TEXTS[1] not in shown
    assert "invalid_api_key" in caplog.text


@for_each(
    ("base_url", "model", "detail"),
    [
        ("http://localhost:11434/v1", "", "memory.embedding.model is empty"),
        ("https://api.deepseek.com/v1", "deepseek-chat", "DeepSeek offers no embeddings"),
        ("https://API.DeepSeek.com", "deepseek-chat", "DeepSeek offers no embeddings"),
        ("https://api.anthropic.com/v1/", "claude", "Anthropic offers no embeddings"),
        ("http://localhost/v1", "small", None),
        ("https://notdeepseek.com/v1", "small", None),
    ],
)
async def test_settings_that_name_nothing_that_embeds_are_a_warning_and_nobody_is_asked(
    base_url: str, model: str, detail: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    settings = EmbeddingSettings(provider="openai_compatible", base_url=base_url, model=model)
    async with opened(settings) as embedder:
        error = embedder.unavailability()
        if error is not None:
            assert await embedder.embed(TEXTS) == Failure(error)
    expected = detail and EmbeddingError(model or "openai_compatible", "not_configured", detail)
    assert error == expected
    told = [record.getMessage() for record in caplog.records]
    assert told == ([f"memories get no vectors: {error}"] if detail else [])


async def test_what_keeps_an_endpoint_from_being_opened_is_told_under_the_settings_of_the_embedder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(EffectFailed, match=r"memory\.embedding\.baseUrl"):
        async with opened(EmbeddingSettings(base_url="localhost", model="small")):
            pytest.fail("it opened")
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(EffectFailed, match=r"embedding.provider.*pip install '\.\[openai\]'"):
        async with opened(EmbeddingSettings(model="small")):
            pytest.fail("it opened")


async def test_trusted_certificates_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EmbeddingSettings(provider="openai_compatible", base_url="https://localhost/v1", model="small")
    async with opened(settings):
        pass
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)
    async with opened(settings):
        pass
