"""The bundled embedder: what its vectors know, what they cost to load, that they stay, and that plain Python makes them too."""

from collections.abc import Sequence
from threading import current_thread, main_thread

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from chatmemory import EmbedderTag, EmbeddingError, Matrix, QueryEmbedderTag
from chatmemory.effect import Effect, Layer, ManagedRuntime, Success
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.composite import bundled_rows, composite_rows, hashed_rows
from chatmemory_layers.embedding.local import INLINE_CHARACTERS, INLINE_TEXTS, LocalEmbedder, Vectors, static
from chatmemory_layers.embedding.none import none
from chatmemory_layers.embedding.plain_rows import plain_static, plain_vector
from chatmemory_layers.embedding.query_embedder import query_embedder_of
from tests.for_each import for_each
from tests.forked import modules_loaded_by
from tests.thorough import rounds


def cosine(one: str, other: str) -> float:
    rows = composite_rows([one, other])
    return float(rows[0] @ rows[1])


@for_each(
    ("text", "near", "far"),
    [
        ("I adopted a puppy", "my little dog", "the invoice is due on Friday"),
        ("我喜欢吃苹果", "苹果很好吃", "明天开会讨论预算"),
        ("猫がすきです", "猫がかわいい", "会議は明日です"),
        ("서울에서 일합니다", "서울에 살아요", "음악을 좋아해요"),
        ("コンピューター", "コンピュータ", "チョコレート"),
        ("Он живёт в Москве", "поездка в Москву", "рецепт пирога"),
        ("我用 Python 写代码", "Python 代码怎么写", "周末去爬山"),
        ("对花生过敏", "哪些坚果不能吃", "会议改到周五"),
        ("對花生過敏", "对花生过敏", "会议改到周五"),
        ("对花生过敏", "allergic to peanuts", "the meeting was moved to Friday"),
    ],
)
def test_what_belongs_together_is_nearer_than_what_does_not(text: str, near: str, far: str) -> None:
    assert cosine(text, near) > cosine(text, far) + 0.05


SHARES = {
    "plain English": 0.3,
    "café in Zürich": 0.3,
    "纯中文": 0.5,
    "한국어": 1.0,
    "ひらがな": 1.0,
    "русский": 1.0,
    "ab中文": 0.4,
    "ひら中文": 0.75,
    "6×7÷2": 0.3,
}


def test_each_half_takes_part_as_far_as_it_knows_the_script() -> None:
    rows = composite_rows(list(SHARES))[:, 256:]
    found = {text: float(row @ row) for text, row in zip(SHARES, rows, strict=True)}
    assert found == pytest.approx(SHARES, abs=1e-5)


def test_texts_in_two_languages_are_compared_by_their_rows_alone() -> None:
    english, chinese = composite_rows(["She is allergic to peanuts", "用户对花生过敏"])
    assert not (english * chinese)[256:].any()
    assert english[:256] @ chinese[:256] > 0.4


def test_a_text_without_letters_has_no_hashed_features_and_an_emoji_none_at_all() -> None:
    assert not hashed_rows(["", " \n", "😀🎉", "\0\ud800", "…"]).any()
    assert not composite_rows(["😀", ""]).any()


def test_what_is_only_written_differently_is_the_same() -> None:
    one = hashed_rows(["Python", "ｶﾀｶﾅ", "Ｐｙｔｈｏｎ ３", "don’t"])
    other = hashed_rows(["PYTHON", "カタカナ", "python 3", "don't"])
    np.testing.assert_array_equal(one, other)


@for_each("vectors", [composite_rows, hashed_rows])
def test_only_the_beginning_of_a_huge_text_is_read(vectors: Vectors) -> None:
    start = "the same words again " * 500
    rows = vectors([start, start + "中文" * 500_000])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_a_word_without_end_is_known_by_its_beginning() -> None:
    key = "c2VjcmV0IGtleSBvZiBhIHZlcnkgbG9uZyBraW5k"
    rows = hashed_rows([key, key + "IG9mIGtleQ", "IG9mIGtleQ"])
    np.testing.assert_array_equal(rows[0], rows[1])
    assert rows[0] @ rows[2] < 0.5


def test_vectors_of_this_name_stay_what_they_are() -> None:
    """Red: stored vectors no longer fit; give the model another number."""
    rows = composite_rows(["I like to write code in Python.", "我喜欢用 Python 写代码"])
    assert (MODEL, rows.shape) == ("chatmemory-static-2", (2, 1024))
    assert rows @ np.cos(np.arange(1024)) == pytest.approx([0.9018661, -0.0357549], abs=1e-5)


def test_numpy_and_glosses_are_loaded_with_the_first_text_that_needs_them_and_not_before() -> None:
    embedding = "from chatmemory_layers.embedding.composite import composite_rows; composite_rows"
    glosses = "chatmemory_layers.embedding.chinese_glosses"
    assert "numpy" not in modules_loaded_by("import chatmemory_layers.embedding.from_settings")
    assert glosses not in modules_loaded_by(f"{embedding}(['English alone'])")
    assert glosses in modules_loaded_by(f"{embedding}(['中文'])")


async def test_two_runtimes_share_one_embedder_and_its_rows() -> None:
    async with ManagedRuntime(static) as one, ManagedRuntime(static) as other:
        assert await one.service(EmbedderTag) is await other.service(EmbedderTag)
    assert bundled_rows() is bundled_rows()
    assert isinstance(bundled_rows().rows.base, np.memmap), "the numbers stay in the file"


@for_each(
    ("is_quick", "texts", "is_inline"),
    [
        (True, ["a few words"], True),
        (True, ["x" * INLINE_CHARACTERS], True),
        (True, ["x" * (INLINE_CHARACTERS + 1)], False),
        (True, ["x"] * (INLINE_TEXTS + 1), False),
        (False, ["a few words"], False),
    ],
)
async def test_only_a_little_is_embedded_on_the_event_loop(
    is_quick: bool, texts: Sequence[str], is_inline: bool
) -> None:
    ran_in: list[bool] = []

    def vectors(texts: Sequence[str]) -> Matrix:
        ran_in.append(current_thread() is main_thread())
        return hashed_rows(texts)

    embedder = LocalEmbedder("m", lambda: vectors, is_quick=is_quick)
    assert isinstance(await embedder.embed(["the first loads"]), Success)
    assert isinstance(await embedder.embed(texts), Success)
    assert ran_in == [False, is_inline]


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


@for_each("layer", [plain_static, static >> query_embedder_of])
@for_each("text", ["retry a webhook", "重试", " "])
def test_plain_python_and_numpy_say_the_same(layer: Layer[QueryEmbedderTag], text: str) -> None:
    with ManagedRuntime(layer) as runtime:
        assert runtime.run_sync(QueryEmbedderTag.get().map(lambda queries: queries.model)) == Success(MODEL)
        vector = runtime.run_sync(QueryEmbedderTag.use(lambda queries: queries.embed_query(text))).unwrap()
    assert vector == (None if text == " " else pytest.approx(composite_rows([text])[0].tolist(), abs=1e-5))


def test_an_embedder_that_cannot_embed_embeds_no_query() -> None:
    with ManagedRuntime(none >> query_embedder_of) as runtime:
        outcome = runtime.run_sync(QueryEmbedderTag.use(lambda queries: queries.embed_query("重试")))
    assert isinstance(outcome.failure(), EmbeddingError)


def test_many_texts_are_embedded_without_an_event_loop() -> None:
    effect: Effect[object, EmbeddingError, EmbedderTag] = EmbedderTag.use(
        lambda embedder: embedder.embed([f"第 {number} 句 of many" for number in range(100)]).map(len)
    )
    with ManagedRuntime(static) as runtime:
        assert runtime.run_sync(effect) == Success(100)
