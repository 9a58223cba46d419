"""The embedder over HTTP, against a real server that answers well, badly, slowly, or not at all."""

import logging
import socket
import ssl
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from random import Random

import numpy as np
import pytest

from chatmemory.effect import EffectFailed, Failure, Layer, ManagedRuntime, Outcome, Success
from chatmemory.effect.config.config_error import ConfigError
from chatmemory.effect.context import Context
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.services.random import RandomTag
from chatmemory.embedding.embedder import Embedder, EmbedderTag, Matrix
from chatmemory.errors import EmbeddingError, EmbeddingProblem
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.openai_compatible import LONGEST_ANSWER_BYTES, openai_compatible
from tests.embeddings_endpoint import data, embeddings, in_base64
from tests.http_server import HttpServer, Misbehaviour, Reply, http_server
from tests.passing_clock import PassingClock

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


async def ask(
    server: HttpServer,
    clock: PassingClock | None = None,
    *,
    texts: Sequence[str] = TEXTS,
    batch_size: int = 64,
    timeout_seconds: float = 20.0,
    max_retries: int = 2,
) -> Outcome[Matrix, EmbeddingError]:
    settings = EmbeddingSettings(
        provider="openai_compatible",
        base_url=server.url,
        api_key=KEY,
        model="small",
        batch_size=batch_size,
        timeout_seconds=timeout_seconds,
        max_retries=max_retries,
    )
    clock = clock or PassingClock()
    clock.timeout_seconds = timeout_seconds
    held = Context.of(ClockTag, clock).add(RandomTag, Random(7))
    async with opened(settings) as embedder:
        return await embedder.embed(texts).provide(held)


async def rows_of(*replies: Reply, texts: Sequence[str] = TEXTS, batch_size: int = 64) -> Matrix:
    async with http_server(*replies) as server:
        return (await ask(server, texts=texts, batch_size=batch_size)).unwrap()


async def failure_of(*replies: Reply, timeout_seconds: float = 20.0, batch_size: int = 64) -> EmbeddingError:
    async with http_server(*replies) as server:
        outcome = await ask(server, timeout_seconds=timeout_seconds, batch_size=batch_size, max_retries=0)
    assert isinstance(outcome, Failure), outcome
    return outcome.failure()


# --- The request ---


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
    np.testing.assert_array_equal(rows, [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])


async def test_no_texts_ask_nobody() -> None:
    async with http_server(GOOD) as server:
        assert (await ask(server, texts=())).unwrap().shape == (0, 0)
        assert server.requests == []


@pytest.mark.parametrize("blank", ["", " \u3000\n", " " * 10_000 + "too far away"])
async def test_a_blank_text_has_a_row_of_zeros_and_is_not_what_is_sent(blank: str) -> None:
    async with http_server(GOOD) as server:
        rows = (await ask(server, texts=("好", blank))).unwrap()
        assert server.requests[0].json["input"] == ["好", "-"]
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)


async def test_a_long_text_is_sent_by_its_beginning_and_a_lone_surrogate_as_a_replacement() -> None:
    async with http_server(GOOD) as server:
        await ask(server, texts=("中" * 1_000_000, "a\ud800b"))
        long, odd = server.requests[0].json["input"]
    assert long == "中" * 6_000
    assert odd == "a\ufffdb"


# --- The ways in which an endpoint answers: first those that are none the worse ---


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        embeddings(*map(in_base64, VECTORS)),
        embeddings(VECTORS[0], in_base64(VECTORS[1])),
        Reply.json({"data": data(*VECTORS)[::-1]}),
        Reply.json({"data": [{"embedding": vector} for vector in VECTORS]}),
    ],
    ids=["floats", "base64", "both", "reversed", "without indexes"],
)
async def test_vectors_are_read_in_any_form_and_order(reply: Reply) -> None:
    np.testing.assert_allclose(await rows_of(reply), ROWS, rtol=1e-6)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (embeddings(VECTORS[0]), "wrong_count"),
        (embeddings(), "wrong_count"),
        (embeddings(*VECTORS, [1.0, 1.0]), "wrong_count"),
        (Reply.json({"error_msg": "Not Found. Please check the configuration."}, status=404), "not_found"),
        (Reply(status=404), "not_found"),
        (Reply.json({"error": "Requested Resource Not Found", "stage": "WAF"}, status=418), "refused"),
        (Reply.json({"error": {"message": "no such model", "code": "model_not_found"}}), "refused"),
        (Reply(b"<html>It works!</html>", headers={"content-type": "text/html"}), "malformed"),
        (Reply(b'{"data": [{"embedding": [NaN, 1]}, {"embedding": [1, 2]}]}'), "not_finite"),
        (Reply(b'{"data": [{"embedding": [1e999, 1]}, {"embedding": [1, 2]}]}'), "not_finite"),
        (embeddings([1.0, None], [1.0, 2.0]), "not_finite"),
        (embeddings(in_base64([float("nan"), 1.0]), [1.0, 2.0]), "not_finite"),
        (Reply(status=500), "unavailable"),
        (embeddings([1.0, 2.0], [1.0, 2.0, 3.0]), "wrong_dimension"),
        (embeddings([], []), "wrong_dimension"),
        (Reply(b'{"data": [{"embedding": [1, 2'), "malformed"),
        (Reply(b'{"data"', misbehaviour="truncate"), "unavailable"),
        (Reply(misbehaviour="hang_up"), "unavailable"),
        (Reply(b""), "malformed"),
        (Reply.json([1, 2]), "malformed"),
        (Reply.json({"choices": []}), "malformed"),
        (Reply.json({"data": {"0": [1.0]}}), "malformed"),
        (Reply.json({"data": VECTORS}), "malformed"),
        (Reply.json({"data": [{"index": 0}, {"index": 1}]}), "malformed"),
        (Reply.json({"data": [{"index": 1, "embedding": each} for each in VECTORS]}), "malformed"),
        (Reply.json({"data": [{"index": "0", "embedding": each} for each in VECTORS]}), "malformed"),
        (embeddings("no base64", [1.0, 2.0]), "malformed"),
        (embeddings("AAAA", "AAAA"), "malformed"),
        (embeddings("AAAAAAAA!AAAAAAAA", in_base64([1.0, 2.0, 3.0])), "malformed"),
        (embeddings("中文", "中文"), "malformed"),
        (embeddings(7, 8), "malformed"),
        (embeddings([[1.0], [2.0]], [[3.0], [4.0]]), "malformed"),
        (embeddings([10**400, 1], [1, 2]), "malformed"),
        (embeddings(["a", "b"], ["c", "d"]), "malformed"),
        (Reply(status=401), "unauthorized"),
        (Reply(status=400), "refused"),
        (Reply(status=413), "refused"),
        (Reply(status=429), "rate_limited"),
        (Reply(status=302, headers={"location": "http://127.0.0.1:1/elsewhere"}), "refused"),
        (Reply(b" " * (LONGEST_ANSWER_BYTES * 64 + 1)), "oversized"),
    ],
)
async def test_an_odd_answer_is_a_typed_failure(reply: Reply, problem: EmbeddingProblem) -> None:
    error = await failure_of(reply)
    assert (error.model, error.problem) == ("small", problem)


@pytest.mark.parametrize("misbehaviour", ["hang", "drip"])
async def test_an_answer_that_does_not_come_to_an_end_is_a_timeout(misbehaviour: Misbehaviour) -> None:
    error = await failure_of(Reply(misbehaviour=misbehaviour), timeout_seconds=0.2)
    assert error == EmbeddingError("small", "timeout", "no answer within 0.2 s")


async def test_nobody_there_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        async with opened(EmbeddingSettings(base_url=url, model="small", max_retries=0)) as embedder:
            outcome = await embedder.embed(TEXTS)
    assert outcome == Failure(EmbeddingError("small", "unavailable", "ConnectError"))


async def test_a_length_that_changes_between_two_answers_is_refused() -> None:
    error = await failure_of(embeddings([1, 0]), embeddings([1, 0, 0]), batch_size=1)
    assert error == EmbeddingError("small", "wrong_dimension", "3 numbers instead of 2")


# --- Trying again ---


async def test_a_passing_failure_is_tried_again_after_growing_pauses() -> None:
    clock = PassingClock()
    async with http_server(Reply(status=503), Reply(misbehaviour="hang_up"), GOOD) as server:
        assert isinstance(await ask(server, clock), Success)
        assert len(server.requests) == 3
    first, second = clock.pauses
    assert 0.4 <= first <= 0.6
    assert 0.8 <= second <= 1.2


@pytest.mark.parametrize("reply", [Reply(status=404), embeddings(), Reply(b"<html>")])
async def test_what_will_not_pass_is_asked_once(reply: Reply) -> None:
    async with http_server(reply, GOOD) as server:
        assert isinstance(await ask(server), Failure)
        assert len(server.requests) == 1


async def test_a_wish_for_a_long_pause_is_handed_on_instead_of_waited_for() -> None:
    clock = PassingClock()
    async with http_server(Reply(status=429, headers={"Retry-After": "3600"}), GOOD) as server:
        outcome = await ask(server, clock)
    assert outcome == Failure(EmbeddingError("small", "rate_limited", "HTTP 429", retry_after_seconds=3600.0))
    assert clock.pauses == []


# --- The configuration ---


@pytest.mark.parametrize(
    ("base_url", "model", "detail"),
    [
        ("http://localhost:11434/v1", "", "memory.embedding.model is empty"),
        ("https://api.deepseek.com/v1", "deepseek-chat", "DeepSeek offers no embeddings"),
        ("https://API.DeepSeek.com", "deepseek-chat", "DeepSeek offers no embeddings"),
        ("https://api.anthropic.com/v1/", "claude", "Anthropic offers no embeddings"),
    ],
)
async def test_settings_that_name_nothing_that_embeds_are_a_warning_and_nobody_is_asked(
    base_url: str, model: str, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = EmbeddingSettings(provider="openai_compatible", base_url=base_url, model=model)
    async with opened(settings) as embedder:
        error = embedder.unavailability()
        assert error == EmbeddingError(model or "openai_compatible", "not_configured", detail)
        assert await embedder.embed(TEXTS) == Failure(error)
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert detail in record.getMessage()


@pytest.mark.parametrize("base_url", ["http://localhost/v1", "https://notdeepseek.com/v1"])
async def test_any_other_provider_may_well_embed(base_url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(EmbeddingSettings(base_url=base_url, model="small")) as embedder:
        assert embedder.unavailability() is None
        assert embedder.model == "small"
    assert caplog.records == []


async def test_settings_that_cannot_be_used_are_named_all_at_once_without_quoting_the_key() -> None:
    with pytest.raises(EffectFailed) as raised:
        async with opened(EmbeddingSettings(base_url="localhost", api_key="a secret", model="small")):
            pytest.fail("it opened")
    assert isinstance(raised.value.error, ConfigError)
    assert [str(problem).partition(":")[0] for problem in raised.value.error.problems] == [
        "memory.embedding.baseUrl",
        "memory.embedding.apiKey",
    ]
    assert "secret" not in str(raised.value)


async def test_trusted_certificates_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EmbeddingSettings(provider="openai_compatible", base_url="https://localhost/v1", model="small")
    async with opened(settings):
        pass
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)
    async with opened(settings):
        pass


async def test_without_httpx_the_layer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(EffectFailed, match=r"embedding.provider.*pip install 'chatmemory-effect\[openai\]'"):
        async with opened(EmbeddingSettings(model="small")):
            pytest.fail("it opened")


async def test_neither_the_key_nor_what_is_embedded_stands_in_an_error_or_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"Incorrect API key: {KEY}, for {TEXTS[1]}"
    error = await failure_of(Reply.json({"error": {"message": said, "code": "invalid_api_key"}}, status=401))
    assert error.detail == "HTTP 401, invalid_api_key"
    async with opened(EmbeddingSettings(api_key=KEY, model="small")) as embedder:
        shown = f"{error!r} {error} {embedder!r} {caplog.text}"
    assert KEY not in f"{shown} {error.cause!r}"
    assert TEXTS[1] not in shown
    assert "invalid_api_key" in caplog.text
