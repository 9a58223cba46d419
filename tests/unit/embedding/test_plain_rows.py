"""The vector of a query in plain Python is the one that numpy would make."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.embedding.query_embedder import QueryEmbedderTag
from chatmemory.errors import EmbeddingError
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.composite import composite_rows
from chatmemory_layers.embedding.none import none
from chatmemory_layers.embedding.plain_rows import plain_static, plain_vector
from chatmemory_layers.embedding.query_embedder import query_embedder_of
from chatmemory_layers.embedding.static import static
from tests.for_each import for_each
from tests.thorough import rounds

ODD_WORDS = "webhook 重试 对花生过敏 資料庫被鎖 don’t naïve ﬁle テスト 한국어 İ 🎉 snake_case"
WORDS = st.sampled_from([*ODD_WORDS.split(), "x" * 200])
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))


@settings(max_examples=rounds(40, thorough=150))
@given(TEXTS)
@example("")
@example("the same word, " * 700)
@example("数据库被锁住了怎么办？" * 900)
@example("\x00\x1c\x7f\x85\u2028\ud800 tab\tend")
@example("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
def test_it_is_numpys(text: str) -> None:
    exact = composite_rows([text])[0]
    plain = plain_vector(text)
    if plain is None:
        assert not exact.any()
    else:
        assert np.allclose(plain, exact, rtol=0, atol=1e-5)
        assert np.linalg.norm(plain) == pytest.approx(1)


def test_it_is_made_without_numpy_and_without_an_event_loop() -> None:
    program = (
        "import sys; from chatmemory_layers.embedding.plain_rows import plain_static; "
        "from chatmemory import ManagedRuntime, QueryEmbedderTag\n"
        "with ManagedRuntime(plain_static) as runtime:\n"
        "    runtime.run_sync(QueryEmbedderTag.use(lambda queries: queries.embed_query('重试 retry'))).unwrap()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"numpy", "asyncio", "anyio", "cattrs", "pathlib"} & set(done.stdout.split()) == set()


@for_each("layer", [plain_static, static >> query_embedder_of])
@for_each("text", ["retry a webhook", "重试", " "])
def test_plain_python_and_numpy_say_the_same_under_the_same_name(
    layer: Layer[QueryEmbedderTag], text: str
) -> None:
    with ManagedRuntime(layer) as runtime:
        assert runtime.run_sync(QueryEmbedderTag.get().map(lambda queries: queries.model)) == Success(MODEL)
        vector = runtime.run_sync(QueryEmbedderTag.use(lambda queries: queries.embed_query(text))).unwrap()
    assert vector == (None if text == " " else pytest.approx(composite_rows([text])[0].tolist(), abs=1e-5))


def test_an_embedder_that_cannot_embed_embeds_no_query() -> None:
    with ManagedRuntime(none >> query_embedder_of) as runtime:
        outcome = runtime.run_sync(QueryEmbedderTag.use(lambda queries: queries.embed_query("重试")))
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.failure(), EmbeddingError)


def test_many_texts_are_embedded_without_an_event_loop() -> None:
    effect: Effect[object, EmbeddingError, EmbedderTag] = EmbedderTag.use(
        lambda embedder: embedder.embed([f"第 {number} 句 of many" for number in range(100)]).map(len)
    )
    with ManagedRuntime(static) as runtime:
        assert runtime.run_sync(effect) == Success(100)
